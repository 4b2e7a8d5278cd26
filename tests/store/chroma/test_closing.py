"""A library or memory that is closed leaves Chroma equal to SQLite, or its caller is told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from store.chroma import base_follower
from store.chroma.collections import COLLECTIONS
from store.library import Library
from store.memory.memory import Memory
from store.runtime import open_library
from tests.store.chroma.chroma_run import ChromaRun, closed_behind, entries
from tests.store.conftest import address, approved_with_caption
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("closed_connections")]

_VERBS: dict[str, Callable[[Library], object]] = {
    "promote": lambda library: library.promote([address(7), address(8)]),
    "degrade": lambda library: library.degrade([address(number) for number in range(1, 5)]),
    "delete": lambda library: library.delete([address(1), address(7)]),
    "caption": lambda library: library.caption(address(2), caption={"entity": "a new one", "visual": None}),
    "tags": lambda library: library.edit_tags([address(3)], add=["moon"]),
    "undo": lambda library: library.undo(),
}


def six_in_the_library(root: Path, embedder: Hashed) -> None:
    with open_library(root, embedder=embedder) as library:
        eight = approved_with_caption(library, *range(1, 9))
        library.promote(eight[:6])


@pytest.mark.parametrize("verb", _VERBS)
def test_a_closed_library_leaves_all_five_collections_equal(root: Path, embedder: Hashed, verb: str) -> None:
    six_in_the_library(root, embedder)
    with open_library(root, embedder=embedder) as library:
        _VERBS[verb](library)
    chroma_agrees_with_the_sidecars(root, embedder)
    with open_library(root, embedder=embedder) as library:
        assert not library._follower.worker.has_begun, "it was left clean"


def test_a_closed_library_leaves_a_server_equal(root: Path, embedder: Hashed, on_server: ChromaRun) -> None:
    six_in_the_library(root, embedder)
    with open_library(root, embedder=embedder) as library:
        library.degrade([address(1)])
    assert entries(on_server)[COLLECTIONS["entity"]] == {address(number) for number in range(2, 7)}


def test_a_closed_memory_leaves_chroma_equal(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "res", embedder=Bags()) as memory:
        ids = [memory.memories.store_memory(f"text {number}")["memory_id"] for number in range(60)]
    assert stored(tmp_path / "res", "memories").keys() == set(ids)
    with Memory.open_beside(tmp_path / "res", embedder=Bags()) as memory:
        memory.memories.passages.remove(ids[:2])
    assert stored(tmp_path / "res", "memories").keys() == set(ids[2:]), "an agent's as well"


def test_a_failure_before_the_end_is_tried_once_more(
    root: Path, embedder: Hashed, server: ChromaRun, on_server: ChromaRun
) -> None:
    with open_library(root, embedder=embedder) as library:
        server.kill()
        library.promote(approved_with_caption(library, 1))
        assert not library.wait_for_chroma(60)
        server.start()
    assert entries(server)[COLLECTIONS["entity"]] == {address(1)}


def test_who_closes_is_told_why_chroma_is_behind_and_the_next_opening_catches_up(
    root: Path, embedder: Hashed, server: ChromaRun, on_server: ChromaRun
) -> None:
    with closed_behind(open_library(root, embedder=embedder), says="refuses or does not answer.*") as library:
        library.promote(approved_with_caption(library, 1))
        server.kill()
        library.degrade([address(1)])
    server.start()
    open_library(root, embedder=embedder).close()
    assert entries(server)[COLLECTIONS["entity"]] == set()


def test_a_wait_without_patience_leaves_the_rest_to_the_next_opening(
    root: Path, embedder: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base_follower, "PATIENCE", 0.0)
    library = open_library(root, embedder=embedder)
    with library._follower._using:  # as if Chroma were busy
        library.promote(approved_with_caption(library, 1))
        lag = library._follower.follow(longest=0)
    assert lag == "Chroma is 1 records behind; nothing is lost, it catches up at the next opening"
    monkeypatch.undo()
    library.close()
    chroma_agrees_with_the_sidecars(root, embedder)
