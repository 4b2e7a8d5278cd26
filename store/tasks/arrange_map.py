"""The job "map": compute a t-SNE map and its neighbourhoods, and store them."""

from typing import TYPE_CHECKING

from store.jobs import JobContext, JobKind
from store.maps import stored_maps
from store.maps.chart import updated_map
from store.maps.interpolate import interpolate
from store.maps.neighbourhoods import neighbourhoods, sample
from store.maps.spaces import space_of
from store.maps.tsne import tsne_map

if TYPE_CHECKING:
    from store.library import Library


def _arrange(context: "JobContext[Library]") -> None:
    """Add new records to a stored map and name its places; compute another map only on request."""
    library, options = context.library, context.job.options
    space = space_of(options["space"])
    fingerprint, snapshot = library.embedder.fingerprint, library.snapshot()
    with library.catalog.reading() as db:
        known = stored_maps.stored_tsne(db, space, fingerprint=fingerprint)
    if known is None or options.get("from_scratch"):
        made = tsne_map(snapshot, space, progress=context.progress)
    else:
        made = updated_map(known, snapshot, interpolate(known, snapshot))
    if made is not None:
        stored_maps.store(
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
        stored_maps.store_neighbourhoods(library.catalog, space, found, fingerprint=fingerprint, at=made.at)


KIND = JobKind("map", _arrange, queue="maps")
