"""The job "download a model": its weights from a hub, in megabytes; paused and continued where it was."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from store.embedding.model_download import fetch, find, offered
from store.fetching.hub import Hub, HubFile
from store.jobs import Job, JobContext, JobKind

if TYPE_CHECKING:
    from store.library import Library

_NAME = "download"


def start(library: "Library", name: str, *, actor: str = "") -> Job:
    """Download this model's weights in the background, or continue the download that was begun."""
    for job in library.jobs.open():
        if job.kind == _NAME and job.options["model"] == name:
            library.jobs.resume(job.id)
            return library.jobs.get(job.id) or job
    known = offered(name)
    title = known.title if known else name
    return library.jobs.start(_NAME, name=f"Download {title}", options={"model": name}, actor=actor)


def is_under_way(library: "Library", name: str) -> bool:
    """Whether this model is being downloaded now."""
    return any(job.kind == _NAME and job.options["model"] == name for job in library.jobs.under_way())


def _download(context: "JobContext[Library]") -> None:
    """Ask which revision is the newest once; each continuation asks for that same one."""
    with Hub() as hub:
        context.progress.what = f"asking {hub.host}"
        stored = context.job.note.get("files")
        files = [HubFile(**file) for file in stored] if stored else find(hub, context.job.options["model"])
        context.store_note(files=[asdict(file) for file in files])
        fetch(hub, files, context.progress)


KIND = JobKind(_NAME, _download, queue="download")
