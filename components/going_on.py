"""The server's life: what an earlier run left unfinished goes on before anybody opens a page."""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

from store import writers
from store.catalog import is_made
from store.errors import MemedexError
from store.layout import Layout
from store.library import Library
from store.reading import Reader
from store.settings import settings


@contextlib.asynccontextmanager
async def from_the_start(_: object) -> AsyncIterator[None]:
    """The server's life: it begins with what waits, without keeping anybody waiting for that.

    It ends with everything left as it should be: a server that is told to end never reaches `atexit`.
    """
    begins = threading.Thread(target=_go_on, args=(settings().root,), name="memedex-go-on", daemon=True)
    begins.start()
    yield
    await asyncio.to_thread(begins.join)  # what it opens is to be closed as well
    await asyncio.to_thread(writers.close_all)


def _go_on(root: Path) -> None:
    with contextlib.suppress(MemedexError, OSError, sqlite3.Error):  # the first page says what is in the way
        if not settings().read_only and _is_left(root):
            Library.open(root).jobs.go_on()  # the pages will have this very one


def _is_left(root: Path) -> bool:
    """Whether there is such work; a library without any is left closed until somebody comes."""
    layout = Layout(root.resolve())
    if not is_made(layout.catalog):
        return False
    reader = Reader(layout.root)
    try:
        states = {job.state for job in reader.jobs.open() if not job.is_passing}
    finally:
        reader.close()
    return not states.isdisjoint({"waiting", "running", "interrupted"})
