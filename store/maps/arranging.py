"""The long work "map": a t-SNE, made and kept."""

from store.jobs import Kind, Shift
from store.maps import kept
from store.maps.between import between
from store.maps.chart import carried
from store.maps.spaces import space_of
from store.maps.tsne import neighbourly


def _arrange(shift: Shift) -> None:
    """Where there is one already and nobody asks for it anew, only what came since is added and kept."""
    library, space = shift.library, space_of(shift.job.options["space"])
    fingerprint, snapshot = library.embedder.fingerprint, library.snapshot()
    with library.catalog.reading() as db:
        known = kept.arranged(db, space, fingerprint=fingerprint)
    if known is None or shift.job.options.get("anew"):
        made = neighbourly(snapshot, space, progress=shift.progress)
    else:
        made = carried(known, snapshot, between(known, snapshot))
    if made is not None:
        kept.keep(
            library.catalog, f"tsne {space}", made.points, fingerprint=fingerprint,
            addresses=made.addresses, at=made.at,
        )  # fmt: skip


KIND = Kind("map", _arrange, queue="maps")
