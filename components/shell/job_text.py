"""Jobs in words: what a bar says, and what a card says. Plain text; escape it for Markdown."""

from components.shell import format
from store.jobs import Job
from store.outcome import Outcome, Refusal
from store.tasks import models


def line(job: Job) -> str:
    """The state of a job in one line."""
    if job.is_stuck:
        return f"{job.name} · waiting: {format.cut(job.error, limit=160)}"
    if job.state == "waiting":
        return f"{job.name} · waiting for its turn"
    parts = [job.name]
    if job.total and not _counts_items(job):
        parts.append(f"{job.fraction:.0%}")
    elif job.total:
        parts.append(f"{job.done + job.refused:,} of {job.total:,}")
    if job.refused:
        parts.append(f"{job.refused:,} refused")
    if job.rate and job.total > 1 and _counts_items(job):
        parts.append(pace(job.rate))
    if (left := job.seconds_left) is not None and job.left:
        parts.append(f"{format.duration(left)} left")
    if job.what:
        parts.append(format.cut(job.what, limit=80))
    return " · ".join(parts)


def figures(job: Job) -> str:
    """What was done, in which time, at which rate, and what a language model has cost."""
    parts = []
    if job.total and not _counts_items(job):
        parts.append(f"{job.fraction:.0%} done")
    elif job.total:
        parts.append(f"{job.done:,} of {job.total:,} done")
    elif job.done or job.refused:
        parts.append(f"{job.done:,} done" if job.done else "nothing done")
    if job.refused:
        parts.append(f"{job.refused:,} refused")
    if job.worked >= 0.1:
        parts.append(format.duration(job.worked))
    if job.state == "running":
        if job.rate and job.total > 1 and _counts_items(job):
            parts.append(pace(job.rate))
        if (left := job.seconds_left) is not None and job.left:
            parts.append(f"about {format.duration(left)} left")
        if job.what:
            parts.append(format.cut(job.what, limit=160))
    return " · ".join([*parts, *_cost(job)])


def _counts_items(job: Job) -> bool:
    """Whether its numbers are of coins or files, and not of steps."""
    return not job.is_ephemeral and job.kind != models.ARRANGE_MAP.name


def pace(rate: float) -> str:
    """Items a second, or a minute if that is more readable."""
    return f"{rate:,.1f} a second" if rate >= 0.5 else f"{rate * 60:,.1f} a minute"


def refusals(job: Job) -> list[Refusal]:
    """What was refused in work that keeps no items, as long as the program runs."""
    return list(job.result.refused) if isinstance(job.result, Outcome) else []


def _cost(job: Job) -> list[str]:
    if job.kind != "draft":
        return []
    models = ", ".join(
        dict.fromkeys(f"{model} · {prompt} v{n}" for model, prompt, n in job.options["variants"])
    )
    tokens = int(job.note.get("prompt_tokens", 0)) + int(job.note.get("completion_tokens", 0))
    cost = job.note.get("cost")
    cost_text = "" if not tokens else "cost unknown" if cost is None else format.dollars(cost)
    budget = f"of {format.dollars(job.options['budget'])}" if "budget" in job.options else ""
    spent = " ".join(part for part in (cost_text, budget) if part)
    return [part for part in (spent, f"{tokens:,} tokens" if tokens else "", models) if part]
