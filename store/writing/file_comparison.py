"""Compare the files of a large library with its catalog in the background, once after it was opened.

Until that is done, a record may be listed as it was before somebody changed its files. No decision is made on
such a record: the journal compares the files of the records that it changes (`store/writing/journal.py`).
"""

from collections.abc import Callable

from store.catalog.catalog import Catalog
from store.disk.layout import Layout
from store.jobs.background_worker import Worker
from store.jobs.fair_lock import FairLock
from store.progress import Progress
from store.writing.reconcile import Fault, reconcile


class FileComparison:
    """One comparison of all files; `applied` receives what could not be imported."""

    def __init__(
        self,
        catalog: Catalog,
        layout: Layout,
        *,
        applied: Callable[[list[Fault]], None],
        turn: FairLock,
    ) -> None:
        self._catalog = catalog
        self._layout = layout
        self._applied = applied
        self._is_over = False
        self._progress = Progress()
        self.worker = Worker("comparing the files with the catalog", self._work, is_unhurried=True, turn=turn)
        self.worker.wake()

    @property
    def under_way(self) -> tuple[int, int] | None:
        """How much is done, and of how much (0: not known yet); None when all is."""
        return None if self._is_over else (self._progress.done, self._progress.total)

    def _work(self, progress: Progress) -> None:
        self._progress = progress
        faults = reconcile(self._catalog, self._layout, progress=progress)
        if not progress.cancelled:  # else the next opening begins again
            self._is_over = True
            self._applied(faults)
