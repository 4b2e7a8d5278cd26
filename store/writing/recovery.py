"""What happens at every opening, such as after a crash between two files.

What was decided is finished, what was only staged is removed, and edits made outside are applied.
"""

import contextlib

from store.catalog import history
from store.catalog.catalog import Catalog
from store.disk.aside import Aside, finish_moves
from store.disk.files import Disk
from store.disk.layout import Layout
from store.disk.lock import WriterLock
from store.embedding import resolve
from store.embedding.protocol import Embedder
from store.errors import LibraryStuck
from store.progress import Progress
from store.settings import settings
from store.writing import salvage
from store.writing.journal import Journal
from store.writing.reconcile import Fault, reconcile


def recover(
    catalog: Catalog,
    layout: Layout,
    journal: Journal,
    embedder: Embedder | None,
    *,
    disk: Disk,
    progress: Progress | None = None,
    compares_files: bool = True,
) -> list[Fault]:
    """Finish everything in the journal that can be finished; returns what could not be applied.

    Edits made outside are applied as well, unless `compares_files` is False.
    """

    def note(aside: Aside) -> None:
        with catalog.writing() as db:
            history.record_aside(db, aside, root=layout.root)

    if not catalog.meta("model"):
        catalog.set_meta("model", embedder.name if embedder else resolve(settings().embedder))
    with catalog.lock:
        with contextlib.suppress(LibraryStuck):  # it opens all the same, and says so
            journal.finish_all()
        journal.remove_undecided()  # what stays is tried again by the next opening
    finish_moves(layout.memecoins, note=note, disk=disk)
    return reconcile(catalog, layout, progress=progress) if compares_files else []


def bring_up_to_date(layout: Layout, embedder: Embedder | None, *, progress: Progress | None = None) -> None:
    """Write briefly on behalf of a reader; opens neither a model nor Chroma."""
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        salvage.recover_lost(layout)
        disk = Disk()
        catalog = Catalog(layout.catalog, disk=disk, writable=True)
        try:
            journal = Journal(catalog, layout, disk)
            recover(catalog, layout, journal, embedder, disk=disk, progress=progress)
        finally:
            catalog.close()
    finally:
        lock.release()
