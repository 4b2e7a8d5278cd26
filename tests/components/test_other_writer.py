"""The app's routes while another program writes, and afterwards."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.shell.session import resources
from components.shell.session.tokens import token
from store.disk.layout import Layout
from store.disk.lock import WriterLock
from store.library import Library
from store.runtime import open_library
from store.settings import settings
from tests.components.conftest import Client
from tests.components.grid.decisions import entry
from tests.store.conftest import address, coin, fresh_root
from tests.store.hashed import Hashed


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = fresh_root(tmp_path / "res")
    with open_library(root, embedder=Hashed()) as library:
        library.add([coin(0), coin(1)])
    monkeypatch.setattr(settings(), "root", root)
    monkeypatch.setenv("MEMEDEX_EMBEDDER", "offline")
    yield root
    resources._reader_of_routes(root).close()
    resources._reader_of_routes.cache_clear()


def decision_body() -> dict[str, Any]:
    library = resources.library_of_routes()
    place = {"library": library.id, "who": library.actor_name}
    return {"token": token(library), **place, "entries": [entry("approve", 0)]}


def draft_body() -> dict[str, Any]:
    library = resources.library_of_routes()
    base = {"revision": library.get(address(0)).revision, "caption": {}, "tags": []}
    draft = {"caption": {"entity": "a dog"}, "base": base, "tags": [], "client": "tab", "n": 1}
    return {"token": token(library), "address": address(0), "draft": draft}


def test_routes_can_write_again_after_the_other_writer_ends(root: Path) -> None:
    other = WriterLock(Layout(root).lock)
    other.acquire()
    client = Client()
    try:
        assert not resources.library_of_routes().can_write
        assert client.post("/message/decisions", content=json.dumps(decision_body())).status_code == 403
        assert client.post("/message/editor-keep", content=json.dumps(draft_body())).status_code == 403
    finally:
        other.release()
    assert client.post("/message/decisions", content=json.dumps(decision_body())).status_code == 200
    assert client.post("/message/editor-keep", content=json.dumps(draft_body())).json() == {"kept": 1}
    written = resources.library_of_routes()
    assert isinstance(written, Library)
    with written:
        assert written.get(address(0)).tier == "approved"
        assert [draft.fields["caption"]["entity"] for draft in written.drafts.of(address(0))] == ["a dog"]


def test_routes_use_the_library_that_the_pages_opened(root: Path) -> None:
    with open_library(root, embedder=Hashed()) as first:
        assert resources.library_of_routes() is first
    with open_library(root, embedder=Hashed()) as second:
        assert resources.library_of_routes() is second
