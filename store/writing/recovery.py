"""What every opening begins with: a model, nothing half done, and the files as somebody left them."""

from store.catalog import Catalog
from store.embedding import Embedder, resolve
from store.files import Disk
from store.layout import Layout
from store.lock import WriterLock
from store.opening import Fault, settle
from store.progress import Progress
from store.settings import settings
from store.writing.journal import Journal


def recover(
    catalog: Catalog,
    layout: Layout,
    disk: Disk,
    embedder: Embedder | None,
    *,
    progress: Progress | None = None,
) -> tuple[Journal, list[Fault]]:
    """The journal with everything finished that can be, and what could not be taken in."""
    if not catalog.meta("model"):
        catalog.set_meta("model", embedder.name if embedder else resolve(settings().embedder))
    journal = Journal(catalog, layout, disk)
    journal.recover()
    return journal, settle(catalog, layout, progress=progress)


def bring_up_to_date(layout: Layout, embedder: Embedder | None, *, progress: Progress | None = None) -> None:
    """Write for a moment, for one who only wants to read: neither a model nor Chroma is opened."""
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        catalog = Catalog(layout.catalog, disk=Disk(), writable=True)
        try:
            recover(catalog, layout, Disk(), embedder, progress=progress)
        finally:
            catalog.close()
    finally:
        lock.release()
