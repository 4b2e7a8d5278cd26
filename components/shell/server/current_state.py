"""What pages show that changes by itself: jobs, model, index, counts; as plain values for their script.

Jobs in words are plain text; escape them for Markdown.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from components.shell import format
from components.shell.session import resources, session
from store import Job, Library, Outcome, Refusal, Status
from store.captioning import is_loaded
from store.tasks import QUIET, generate, models

State = dict[str, Any]

_STARTED = time.time() - time.monotonic()


def now() -> float:
    """UNIX seconds that go on at the same pace when the clock is set back or forward."""
    return _STARTED + time.monotonic()


def read(library: Library, before: Mapping[str, Any] | None = None) -> State:
    """All of it; `at` is when reading began. Counts are taken from `before` if nothing changed since.

    `answers` are what language models have written so far, by person: only that person may see them.
    """
    at = now()
    status = resources.status(library)
    jobs = library.jobs.open()
    under_way = library.jobs.under_way()
    is_same = before is not None and before["generation"] == status.generation
    return {
        "at": at,
        "generation": status.generation,
        "derived": library.derived,
        "pending": before["pending"] if before and is_same else library.counts()["pending"],
        "ready": is_model_settled(status),
        "prices": is_loaded(),
        "jobs": session.jobs_text(library, under_way),
        "open": open_text(jobs),
        "badges": badges(status),
        "bars": [bar(job) for job in under_way],
        "answers": answers(under_way),
    }


def for_person(state: State, person: str) -> State:
    """The state without what language models write for others."""
    return {**state, "answers": state["answers"].get(person, {})}


def open_text(jobs: Sequence[Job]) -> str:
    """Identifies the set of unfinished jobs and their states."""
    return " ".join(f"{job.id}:{job.state}:{int(job.is_stopping)}" for job in jobs)


def is_model_settled(status: Status) -> bool:
    """Whether the model is ready, or will not be."""
    return status.model_status == "ready" or status.model_status.startswith("unavailable")


def badges(status: Status) -> list[dict[str, str]]:
    """What is wrong with model, search index and disk; `help` is shown under the pointer."""
    model = format.cut(format.model(status.model), limit=40)
    is_unavailable = status.model_status.startswith("unavailable")
    faults = (
        (f"{model} unavailable", "neurology", status.model_status if is_unavailable else ""),
        ("Indexing failed", "sync_problem", status.chroma_fault),
        ("stuck", "error", status.stuck),
    )
    return [
        {"label": label, "icon": icon, "color": "red", "help": format.cut(why, limit=300)}
        for label, icon, why in faults
        if why
    ]


def bar(job: Job) -> dict[str, Any]:
    """One job that is under way."""
    return {
        "id": job.id,
        "name": format.cut(job.name, limit=80),
        "line": job_line(job),
        "figures": job_figures(job),
        "fraction": round(job.fraction or 0.0, 4),
        "stopping": job.is_stopping,
        "pausable": not job.is_ephemeral,
        "quiet": job.kind in QUIET,
    }


def answers(jobs: Sequence[Job]) -> dict[str, dict[str, str]]:
    """What language models have written so far, for coins and for questions: by person, then by job."""
    found: dict[str, dict[str, str]] = {}
    for job in jobs:
        if job.kind == generate.KIND.name or job.answer:
            found.setdefault(job.actor, {})[str(job.id)] = str(job.note.get("answer") or job.answer)
    return found


def job_line(job: Job) -> str:
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


def job_figures(job: Job) -> str:
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


def job_refusals(job: Job) -> list[Refusal]:
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
