"""A broken, lost or foreign Chroma is rebuilt without a model, and nothing else is lost.

A library or memory that is closed leaves Chroma equal to SQLite, or its caller is told.
"""

import errno
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.chroma import follower as chroma_follower
from store.chroma.catalog_source import faults as differences
from store.chroma.collections import COLLECTIONS
from store.chroma.process import ChromaProcess
from store.disk.aside import PREFIX
from store.disk.files import Disk
from store.disk.layout import Layout
from store.library import Library
from store.memory.memory import Memory
from store.runtime import open_library
from store.search.query import Part, Query
from tests.store.chroma.breakages import BREAKAGES, corrupt_database, opened
from tests.store.chroma.chroma_run import ChromaRun, closed_behind, entries
from tests.store.conftest import address, approved_with_caption
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars, holds
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored
from tests.store.world import abandon

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("closed_connections", "comparison_in_own_process", "eager_index"),
]


@pytest.mark.parametrize("damage", BREAKAGES, ids=lambda damage: damage.__name__)
def test_a_broken_chroma_is_rebuilt_without_a_model_and_search_keeps_working(
    root: Path,
    embedder: Hashed,
    promoted: list[str],
    damage: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    damage(Layout(root).chroma)
    requests = embedder.requests
    with opened(root, embedder) as library:
        assert len(library.find(Filter(tier="library"))) == 3
        hits = library.search(Query((Part(like=address(2)),))).hits
        assert {hit.address for hit in hits} == {address(1), address(3)}
        assert library.wait_for_chroma(60)
        assert embedder.requests == requests
        assert "Chroma" in caplog.text
        assert "rebuilt" in caplog.text
        assert library.check_chroma() == []
        holds(library)
    chroma_agrees_with_the_sidecars(root, embedder)
    with opened(root, embedder) as library:
        assert not library._follower.worker.has_begun, "mended once and for all"


def test_a_chroma_broken_while_in_use_is_rebuilt_at_the_next_change(
    root: Path, embedder: Hashed, promoted: list[str]
) -> None:
    with opened(root, embedder) as library:
        corrupt_database(Layout(root).chroma)
        library.degrade([address(1)])
        assert library.wait_for_chroma(60)
    chroma_agrees_with_the_sidecars(root, embedder)


def test_a_rebuild_leaves_pictures_sidecars_and_foreign_files_unchanged(
    root: Path, embedder: Hashed, promoted: list[str]
) -> None:
    stranger = Layout(root).chroma / "my own notes" / "idea.txt"
    stranger.parent.mkdir()
    stranger.write_text("keep me")
    with opened(root, embedder) as library:
        library.rebuild_chroma()
        assert library.wait_for_chroma(60)
        holds(library)
    assert stranger.read_text() == "keep me"
    chroma_agrees_with_the_sidecars(root, embedder)


def test_chroma_is_checked_after_the_writing_process_died(
    root: Path, embedder: Hashed, promoted: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    library = open_library(root, embedder=embedder)
    library.degrade([address(1)])
    assert library.wait_for_chroma(60)
    abandon(library)
    caplog.set_level(logging.WARNING)
    with opened(root, embedder) as library:
        assert library.wait_for_chroma(60)
        assert "rebuilt" not in caplog.text, "it was whole"
    with opened(root, embedder) as library:
        assert not library._follower.worker.has_begun
    chroma_agrees_with_the_sidecars(root, embedder)


def test_a_library_keeps_working_when_chroma_cannot_be_written(
    root: Path, embedder: Hashed, promoted: list[str]
) -> None:
    def refuse(step: str, path: Path) -> None:
        if refusing and path.parent.name.startswith(PREFIX):
            raise OSError(errno.EACCES, "Permission denied", str(path))

    refusing = True
    corrupt_database(
        Layout(root).chroma
    )  # nobody can tell any more whose it was, and it cannot be moved aside
    with open_library(root, embedder=embedder, disk=Disk(before=refuse)) as library:
        assert library.degrade([address(1)]).done
        assert not library.wait_for_chroma(60)
        assert library.status().chroma_behind
        assert library.status().chroma_fault
        assert library.promote([address(1)]).done
        holds(library)
        refusing = False
        library.rebuild_chroma()
        assert library.wait_for_chroma(60)
        assert not library.status().chroma_fault
    chroma_agrees_with_the_sidecars(root, embedder)


def test_checking_chroma_while_writing_finds_no_faults(
    root: Path, embedder: Hashed, promoted: list[str]
) -> None:
    with opened(root, embedder) as library:
        library.degrade([address(1)])
        assert library.wait_for_chroma(60)
        assert library.check_chroma() == []
        library.promote([address(1)])
        assert library.wait_for_chroma(60)
    assert differences(root) == []


def test_a_rebuild_requested_during_a_rebuild_runs_afterwards(
    root: Path, embedder: Hashed, promoted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(root, embedder) as library:
        follower = library._follower
        monkeypatch.setattr(follower.worker, "retry", lambda: None)
        drain = follower._drain

        def drain_and_request_rebuild(chroma: ChromaProcess) -> None:
            drain(chroma)
            library.rebuild_chroma()

        library.rebuild_chroma()
        with monkeypatch.context() as patch:
            patch.setattr(follower, "_drain", drain_and_request_rebuild)
            follower._follow()
        assert library.catalog.meta("chroma_rebuild"), "as after a change of the model at that moment"
        follower._follow()
        assert not library.catalog.meta("chroma_rebuild")
    chroma_agrees_with_the_sidecars(root, embedder)


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
    with Memory.open(tmp_path / "res", embedder=Bags(), may_keep=False) as memory:
        memory.memories.entries.remove(ids[:2])
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
    monkeypatch.setattr(chroma_follower, "PATIENCE", 0.0)
    library = open_library(root, embedder=embedder)
    with library._follower._using:  # as if Chroma were busy
        library.promote(approved_with_caption(library, 1))
        lag = library._follower.follow(longest=0)
    assert lag == "Chroma is 1 records behind; nothing is lost, it catches up at the next opening"
    monkeypatch.undo()
    library.close()
    chroma_agrees_with_the_sidecars(root, embedder)
