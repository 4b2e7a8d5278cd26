"""Embed the whole library: what is missing, or everything with another model beside the old one."""

from typing import TYPE_CHECKING

from store.embedding import open_embedder, reembed, resolve
from store.embedding.protocol import Embedder, described
from store.jobs import JobContext, JobKind
from store.progress import Progress

if TYPE_CHECKING:
    from store.library import Library


def switch_model(library: "Library", name: str, *, progress: Progress | None = None) -> bool:
    """Embed everything with another model, then switch at once; False, changing nothing, if cancelled.

    Vectors are stored as they are made, so an interrupted run continues. Raises ModelUnavailable, before
    anything is done, for a model that cannot be loaded or is text-only.
    """
    embedder = library.embedder if name == library.model else open_embedder(resolve(name))
    _check_sight(embedder)
    return library.embed_all(embedder, progress=progress or Progress())


def start_if_outdated(library: "Library") -> None:
    """Start embedding everything again if a new version of the program changed what the model makes."""
    is_under_way = any(job.kind == KIND.name for job in library.jobs.open())
    if not is_under_way and reembed.is_outdated(library.catalog, library.embedder):
        name = f"Embed with the new version of {described(library.model)}"
        library.jobs.start(KIND.name, name=name, options={"model": library.model})


def _switch_in_background(context: "JobContext[Library]") -> None:
    switch_model(context.library, context.job.options["model"], progress=context.progress)


KIND = JobKind("model", _switch_in_background)


def _check_sight(embedder: Embedder) -> None:
    from PIL import Image

    embedder.embed_images([Image.new("RGB", (64, 64))])
