"""Ways to break a Chroma, and a library to break it in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.settings import settings
from tests.store.chroma.breakages import opened
from tests.store.chroma.chroma_run import ChromaRun
from tests.store.conftest import approved_with_caption
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars


@pytest.fixture
def promoted(root: Path, embedder: Hashed) -> list[str]:
    """Three records in the library and in Chroma; the library is closed."""
    with opened(root, embedder) as library:
        addresses = approved_with_caption(library, 1, 2, 3)
        library.promote(addresses)
        assert library.wait_for_chroma(60)
    chroma_agrees_with_the_sidecars(root, embedder)
    return addresses


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChromaRun]:
    running = ChromaRun(tmp_path / "server")
    running.start()
    yield running
    running.kill()


@pytest.fixture
def on_server(server: ChromaRun, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChromaRun]:
    """The settings name the server."""
    monkeypatch.setenv("MEMEDEX_CHROMA_URL", server.url)
    settings.cache_clear()
    yield server
    monkeypatch.delenv("MEMEDEX_CHROMA_URL")
    settings.cache_clear()
