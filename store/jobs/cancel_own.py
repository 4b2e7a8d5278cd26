"""Stop a person's own jobs, so that undo also reverses what they would still decide."""

from store.catalog.history import PastDecision
from store.jobs import Job, Jobs

_DECIDING = ("move", "tags", "keep")  # kinds of work that a person undoes like any decision
_TIMEOUT = 60.0  # seconds that what is in hand may take


def deciding(jobs: Jobs, *, actor: str) -> list[Job]:
    """This person's jobs that still decide something, newest first."""
    return sorted(
        (job for job in jobs.under_way() if job.actor == actor and job.kind in _DECIDING),
        key=lambda job: -job.id,
    )


def stop(jobs: Jobs, job: Job) -> None:
    """End a job, and wait until what it has in hand is done."""
    jobs.cancel(job.id)
    jobs.wait(job.id, timeout=_TIMEOUT)


def stop_own(jobs: Jobs, *, actor: str, last: PastDecision | None) -> Job | None:
    """Stop the job whose decision undo (of `last`) would reverse, or that decided nothing; None without."""
    for job in deciding(jobs, actor=actor):
        is_last = last is not None and job.decision == last.id
        has_decided_nothing = job.done == 0 and job.made_at > (last.created_at if last else 0.0)
        if is_last or has_decided_nothing:
            stop(jobs, job)
            return jobs.get(job.id)
    return None
