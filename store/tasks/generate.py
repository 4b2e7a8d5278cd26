"""The job "generate": invent a coin in the background; the answer is stored with the job as it arrives.

It survives leaving the page, closing the tab and a restart. An answer costs money: an incomplete one is kept,
and the model is asked again only by a person.
"""

import base64
import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from store.errors import CaptioningFailed
from store.generation import coin_generator, context
from store.generation.coin_generator import GeneratedCoin
from store.jobs import Job, JobContext, JobKind, Jobs
from store.llm.client import until_stopped
from store.outcome import Outcome
from store.settings import settings

if TYPE_CHECKING:
    from store.library import Library

_EVERY = 0.4  # seconds between two looks at the answer
_NAME = 60  # characters of the prompt in the job's name


def start(
    jobs: Jobs, prompt: str, addresses: Sequence[str], *, model: str, budget: int | None, pictures: bool,
    actor: str = "", decision: str | None = None,
) -> Job:  # fmt: skip
    """Let a model invent a coin from a prompt and these records; the job's note has the result."""
    prompt = " ".join(prompt.split())
    return jobs.start(
        KIND.name,
        name=f"Make a coin: {prompt[:_NAME]}",
        actor=actor,
        decision=decision,
        options={
            "prompt": prompt, "addresses": list(addresses), "model": model, "budget": budget,
            "pictures": pictures,
        },
    )  # fmt: skip


def retry(jobs: Jobs, job: Job) -> None:
    """Repeat this job's request, in its place; the caller has a person's consent to the cost."""
    if job.can_resume:
        jobs.resume(job.id)
        return
    start(jobs, **job.options)
    jobs.dismiss(job.id)


def own_jobs(jobs: Jobs, actor: str) -> list[Job]:
    """This person's results that are neither saved nor discarded, newest first."""
    return [
        job
        for job in jobs.all()
        if job.kind == KIND.name and job.actor == actor and not job.note.get("dealt")
    ]


def coin_of(job: Job) -> GeneratedCoin:
    """The coin in the answer. Raises CaptioningFailed if there is none, with the job's own reason."""
    request = job.options
    try:
        return coin_generator.read(
            job.note.get("answer") or "", model=request["model"], prompt=request["prompt"],
            sources=job.note.get("sources", ()),
        )  # fmt: skip
    except CaptioningFailed as error:
        stopped = "it was stopped" if job.state != "done" else ""
        raise CaptioningFailed(job.error or stopped or str(error)) from error


def save(library: "Library", job: Job, *, picture: bytes | None = None, actor: str = "") -> Outcome:
    """Add the coin for review, with this picture or the one that was drawn for it.

    A coin that is refused goes on waiting with its job. Raises CaptioningFailed if no coin came.
    """
    drawn_by = "" if picture else job.note.get("drawn_by", "")
    made = coin_generator.candidate(coin_of(job), picture or picture_of(job), drawn_by=drawn_by)
    report = library.add([made], source="generated", actor=actor)
    if report.done:
        library.jobs.dismiss(job.id, actor=actor)
    return report


def _generate(job_context: "JobContext[Library]") -> None:
    options = job_context.job.options
    if job_context.job.note.get("asked") and _has_come(job_context):
        return
    job_context.progress.what = "asking the model"
    examples = context.build(
        job_context.library,
        options["addresses"],
        budget=options["budget"],
        model=options["model"],
        pictures=options["pictures"],
    )
    sources, answer = [example.record.address for example in examples.examples], ""
    pieces = coin_generator.stream(
        examples,
        options["prompt"],
        model=options["model"],
        api_base=settings().caption_api_base or None,
        timeout=settings().caption_timeout,
    )
    job_context.store_note(answer="", sources=sources, asked=True)
    noted_at = time.monotonic()
    try:
        for piece in until_stopped(pieces, lambda: job_context.is_stopping):
            answer += piece
            if time.monotonic() - noted_at > _EVERY:
                job_context.store_note(answer=answer)
                noted_at = time.monotonic()
    finally:
        job_context.store_note(answer=answer, asked=job_context.is_stopping)
    if not job_context.is_stopping:
        # Or it has failed.
        coin = coin_generator.read(answer, model=options["model"], prompt=options["prompt"], sources=sources)
        _draw(job_context, coin)


def _draw(job_context: "JobContext[Library]", coin: GeneratedCoin) -> None:
    """Store a picture of it with the job if an image model is configured; the coin waits without one too."""
    if not (model := settings().image_model):
        return
    job_context.progress.what = f"asking {model} for a picture"

    def pieces() -> Iterator[str]:
        yield base64.b64encode(coin_generator.draw(coin)).decode()

    try:
        drawn = "".join(until_stopped(pieces(), lambda: job_context.is_stopping))
    except CaptioningFailed as error:
        job_context.store_note(picture_error=str(error))
    else:
        job_context.store_note(picture=drawn, drawn_by=model)


def picture_of(job: Job) -> bytes | None:
    """The picture that came with a result, until it is saved or discarded."""
    return base64.b64decode(job.note["picture"]) if job.note.get("picture") else None


def _has_come(context: "JobContext[Library]") -> bool:
    """Whether the answer was complete when the job was interrupted. Raises CaptioningFailed if not."""
    with contextlib.suppress(CaptioningFailed):
        coin_generator.read(context.job.note.get("answer", ""), model="", prompt="", sources=())
        return True
    context.store_note(asked=False)  # resuming after this is deliberate
    raise CaptioningFailed(
        "it was interrupted while the answer came; what came is kept, and the model was not asked again, "
        "since that costs as much once more"
    )


KIND = JobKind("invent", _generate, queue="invention")
