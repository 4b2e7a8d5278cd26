"""A new coin made in the background: what the model says is kept with the job as it comes, and waits there.

Whoever asked may leave the page, close the tab, or lose the program. An answer costs money: one that broke
off is kept as far as it came, and the model is asked again only by a person.
"""

import contextlib
import time
from collections.abc import Iterator, Sequence
from queue import Empty, Queue
from threading import Event, Thread

from store import context, generation
from store.errors import CaptioningFailed
from store.jobs import Job, Jobs, Kind, Shift
from store.settings import settings

_EVERY = 0.4  # seconds between two looks at the answer
_LOOK = 0.2  # seconds until it is looked whether somebody stopped it
_NAME = 60  # characters of the prompt in the job's name


def start(
    jobs: Jobs, prompt: str, addresses: Sequence[str], *, model: str, budget: int | None, pictures: bool
) -> Job:
    """Have a model make a coin from a prompt and these records; its note says what came of it."""
    prompt = " ".join(prompt.split())
    return jobs.start(
        KIND.name,
        name=f"Make a coin: {prompt[:_NAME]}",
        options={
            "prompt": prompt, "addresses": list(addresses), "model": model, "budget": budget,
            "pictures": pictures,
        },
    )  # fmt: skip


def again(jobs: Jobs, job: Job) -> None:
    """Ask once more what this job asked, in its place; whoever calls has a person's word that it may cost."""
    if job.can_resume:
        jobs.resume(job.id)
        return
    asked = job.options
    start(
        jobs, asked["prompt"], asked["addresses"], model=asked["model"], budget=asked["budget"],
        pictures=asked["pictures"],
    )  # fmt: skip
    jobs.dealt_with(job.id)


def mine(jobs: Jobs, who: str) -> list[Job]:
    """What this person had made and neither saved nor thrown away, newest first."""
    return [
        job for job in jobs.all() if job.kind == KIND.name and job.who == who and not job.note.get("dealt")
    ]


def _invent(shift: Shift) -> None:
    asked = shift.job.options
    if shift.job.note.get("asked") and _has_come(shift):
        return
    shift.progress.what = "asking the model"
    given = context.build(
        shift.library, asked["addresses"], budget=asked["budget"], model=asked["model"],
        pictures=asked["pictures"],
    )  # fmt: skip
    sources, answer = [example.record.address for example in given.examples], ""
    pieces = generation.stream(
        given, asked["prompt"], model=asked["model"], api_base=settings().caption_api_base or None,
        timeout=settings().caption_timeout,
    )  # fmt: skip
    shift.keep(answer="", sources=sources, asked=True)
    kept = time.monotonic()
    try:
        for piece in _until_stopped(pieces, shift):
            answer += piece
            if time.monotonic() - kept > _EVERY:
                shift.keep(answer=answer)
                kept = time.monotonic()
    finally:
        shift.keep(answer=answer, asked=shift.is_stopping)


def _until_stopped(pieces: Iterator[str], shift: Shift) -> Iterator[str]:
    """The pieces as they come, until the end or until the job is stopped, also while the model is silent."""
    came: Queue[str | Exception | None] = Queue()
    left = Event()

    def read() -> None:
        try:
            for piece in pieces:
                came.put(piece)
                if left.is_set():
                    return
            came.put(None)
        except Exception as error:  # noqa: BLE001  it is raised where the pieces are wanted
            came.put(error)

    Thread(target=read, name="memedex-invention", daemon=True).start()
    try:
        while True:
            try:
                piece = came.get(timeout=0 if shift.is_stopping else _LOOK)
            except Empty:
                if shift.is_stopping:
                    return
                continue
            if isinstance(piece, Exception):
                raise piece
            if piece is None:
                return
            yield piece
    finally:
        left.set()


def _has_come(shift: Shift) -> bool:
    """Whether the answer was whole when it was interrupted; CaptioningFailed, and nothing asked, if not."""
    with contextlib.suppress(CaptioningFailed):
        generation.read(shift.job.note.get("answer", ""), model="", prompt="", sources=())
        return True
    shift.keep(asked=False)  # whoever has it go on after this means it
    raise CaptioningFailed(
        "it was interrupted while the answer came; what came is kept, and the model was not asked again, "
        "since that costs as much once more"
    )


KIND = Kind("invent", _invent, queue="invention")
