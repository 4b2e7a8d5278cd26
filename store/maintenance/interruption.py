"""A long reading of the catalog that ends when its check is told to stop."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from store.catalog.catalog import Catalog
from store.progress import Progress

_LOOK = 0.1  # seconds


@contextmanager
def ended_by(progress: Progress, catalog: Catalog) -> Iterator[None]:
    """Leave the block, without an error, where SQLite reads the catalog when the work is cancelled."""
    reader, is_over = threading.get_ident(), threading.Event()

    def watch() -> None:
        while not is_over.wait(_LOOK):
            if progress.cancelled:
                catalog.interrupt(reader)

    watcher = threading.Thread(target=watch, name="memedex-interruption", daemon=True)
    watcher.start()
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
    finally:
        is_over.set()
        watcher.join()
