"""Stop a person's own jobs, so that undo also reverses what they would still decide."""

from collections.abc import Iterable

from store.catalog.history import PastDecision
from store.jobs import Job, Jobs

_DECIDING = ("move", "tags")  # kinds of work that a person takes back like any decision
_PATIENCE = 60.0  # seconds that what is in hand may take


def stop_own(jobs: Jobs, decisions: Iterable[PastDecision], *, actor: str, last: str | None) -> Job | None:
    """Stop the job whose decision undo would reverse, or that has not decided anything yet.

    `decisions` are the latest ones, `last` is the id of this person's last. Returns None if no such job is
    running.
    """
    mine = [job for job in jobs.under_way() if job.actor == actor and not job.is_passing]
    made = next((found.created_at for found in decisions if found.id == last), 0.0)
    for job in sorted(mine, key=lambda job: job.id, reverse=True):
        if job.kind in _DECIDING and (job.decision == last or (job.done == 0 and job.made_at > made)):
            jobs.cancel(job.id)
            jobs.wait(job.id, timeout=_PATIENCE)
            return jobs.get(job.id)
    return None
