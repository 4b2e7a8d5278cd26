"""Work of the models in the background: download one, embed with another, read pictures, arrange the map."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from store.catalog.catalog import next_derived
from store.embedding import embedding_cache, open_embedder, resolve
from store.embedding.model_download import fetch, find, offered
from store.embedding.protocol import Embedder, described
from store.fetching.hub import Hub, HubFile
from store.jobs import Item, ItemDeferred, ItemDone, ItemRefused, Job, JobContext, JobKind, Result
from store.maps import maps
from store.maps.layout import Space, interpolate, space_of, tsne_map, updated_map
from store.maps.neighbourhoods import neighbourhoods, sample
from store.pictures.picture_texts import TextReading, store_reading
from store.progress import Progress

if TYPE_CHECKING:
    from store.library import Library

_NAME = "download"
_BATCH = 8  # pictures of one transaction, some seconds' work
_STARTED = time.time()


def download(library: "Library", name: str, *, actor: str = "") -> Job:
    """Download this model's weights in the background, or continue the download that was begun."""
    for job in library.jobs.open():
        if job.kind == _NAME and job.options["model"] == name:
            library.jobs.resume(job.id)
            return library.jobs.get(job.id) or job
    known = offered(name)
    title = known.title if known else name
    return library.jobs.start(_NAME, name=f"Download {title}", options={"model": name}, actor=actor)


def _download(context: "JobContext[Library]") -> None:
    """Ask which revision is the newest once; each continuation asks for that same one."""
    with Hub() as hub:
        context.progress.what = f"asking {hub.host}"
        stored = context.job.note.get("files")
        files = [HubFile(**file) for file in stored] if stored else find(hub, context.job.options["model"])
        context.store_note(files=[asdict(file) for file in files])
        fetch(hub, files, context.progress)


DOWNLOAD = JobKind(_NAME, _download, queue="download")


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
    is_under_way = any(job.kind == SWITCH.name for job in library.jobs.open())
    if not is_under_way and embedding_cache.is_outdated(library.catalog, library.embedder):
        name = f"Embed with the new version of {described(library.model)}"
        library.jobs.start(SWITCH.name, name=name, options={"model": library.model})


def _switch_in_background(context: "JobContext[Library]") -> None:
    switch_model(context.library, context.job.options["model"], progress=context.progress)


SWITCH = JobKind("model", _switch_in_background)


def _check_sight(embedder: Embedder) -> None:
    from PIL import Image

    embedder.embed_images([Image.new("RGB", (64, 64))])


def _read(context: "JobContext[Library]") -> None:
    """Items: hashes of pictures, each with the address of one record."""
    texts = context.library.picture_texts

    def do(items: Sequence[Item]) -> list[Result]:
        return [
            ItemDeferred(item)
            if context.is_stopping
            else _result(item, texts.read_one(item.key, item.payload))
            for item in items
        ]

    context.each(do, batch=_BATCH)
    with context.library.catalog.writing() as db:
        next_derived(db)  # once: each time, open pages are run again


def _result(item: Item, reading: TextReading) -> Result:
    return (
        ItemRefused(item, reading.fault)
        if reading.fault
        else ItemDone(item, partial(store_reading, reading=reading))
    )


READ_PICTURES = JobKind("read text", _read, queue="pictures", is_quiet=True)


def read_new_pictures(library: "Library") -> Job | None:
    """Read new pictures in the background; None if there are none, or a person stopped that."""
    waiting = library.picture_texts.unread()
    if not waiting:
        return None
    if any(job.kind == READ_PICTURES.name for job in library.jobs.open()):
        return None
    jobs = [job for job in library.jobs.all() if job.kind == READ_PICTURES.name]
    if jobs and jobs[0].state == "cancelled" and jobs[0].made_at >= _STARTED:
        return None
    refused = {item.key for job in jobs for item in library.jobs.items(job.id, state="refused", limit=1_000)}
    new = [(image_hash, address) for image_hash, address in waiting.items() if image_hash not in refused]
    if not new:
        return None
    what = "1 picture" if len(new) == 1 else f"{len(new):,} pictures"
    return library.jobs.start(READ_PICTURES.name, new, name=f"Read {what}")


def _arrange(context: "JobContext[Library]") -> None:
    """Add new records to a stored map and name its places; compute another map only on request."""
    library, options = context.library, context.job.options
    space = space_of(options["space"])
    fingerprint, snapshot = library.embedder.fingerprint, library.snapshot()
    with library.catalog.reading() as db:
        known = maps.stored_tsne(db, space, fingerprint=fingerprint)
    if known is None or options.get("from_scratch"):
        made = tsne_map(snapshot, space, progress=context.progress)
    else:
        made = updated_map(known, snapshot, interpolate(known, snapshot))
    if made is not None:
        maps.store_map(
            library.catalog,
            f"tsne {space}",
            made.points,
            fingerprint=fingerprint,
            addresses=made.addresses,
            at=made.at,
        )
        context.progress.what = "naming places"
        rows = sample(made)
        records = library.records(made.addresses[row] for row in rows)
        found = neighbourhoods(made, rows, {record.address: record for record in records})
        maps.store_neighbourhoods(library.catalog, space, found, fingerprint=fingerprint, at=made.at)


ARRANGE_MAP = JobKind("map", _arrange, queue="maps")


def last_map_job(library: "Library", space: str) -> Job | None:
    """The newest job for the map of this space."""
    made = (job for job in library.jobs.all() if job.kind == "map" and job.options.get("space") == space)
    return next(made, None)


def arrange_map(library: "Library", space: Space, *, from_scratch: bool = True) -> Job | None:
    """Arrange the map of this space in the background; None if that had begun, and goes on."""
    last = last_map_job(library, space)
    if last is not None and last.can_resume:
        library.jobs.resume(last.id)
    if last is not None and (last.can_resume or last.is_under_way):
        return None
    name = f"Compute the map of {'the library' if space == 'fused' else space}"
    return library.jobs.start("map", name=name, options={"space": space, "from_scratch": from_scratch})
