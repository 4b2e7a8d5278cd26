"""The server's shutdown leaves everything as it should be."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from components.shell.lifespan import lifespan
from store.disk.lock import WriterLock
from store.library import Library
from store.settings import settings


def test_a_stopping_server_closes_the_library(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal ends it, so exit handlers of the interpreter would not run."""

    async def live() -> None:
        async with lifespan(None):
            assert not WriterLock(library.layout.lock).is_free()

    monkeypatch.setenv("MEMEDEX_ROOT", str(library.layout.root))
    settings.cache_clear()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(live())).result()
    assert WriterLock(library.layout.lock).is_free()
    assert not library.catalog.path.with_name("catalog.sqlite3-wal").exists(), "the log is written back"
