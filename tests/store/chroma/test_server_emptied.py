"""A Chroma server that comes back empty is filled from the catalog, which alone is the truth."""

from pathlib import Path

import pytest

from store.chroma import base_follower
from store.chroma.collections import COLLECTIONS
from store.cli import main
from store.memory.memory import Memory
from store.runtime import open_library
from tests.store.chroma.chroma_run import ChromaRun, entries, follows
from tests.store.conftest import address, approved_with_caption
from tests.store.hashed import Hashed
from tests.store.memory.bags import Bags
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("closed_connections")]


def test_a_server_that_comes_back_empty_is_filled_without_a_model(
    root: Path, embedder: Hashed, on_server: ChromaRun
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1, 2))
        assert follows(library)
        requests = embedder.requests
        on_server.kill()
        on_server.folder.rename(on_server.folder.with_name("lost"))
        on_server.start()
        library.degrade([address(2)])
        assert follows(library)
        assert library.check_chroma() == []
        assert embedder.requests == requests
    assert entries(on_server)[COLLECTIONS["context"]] == {address(1)}


def test_a_server_that_comes_back_empty_is_noticed_without_a_decision(
    root: Path, embedder: Hashed, on_server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base_follower, "LOOK", 0.1)
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1, 2))
        assert follows(library)
        before = entries(on_server)
        generation, requests = library.generation, embedder.requests
        on_server.kill()
        assert eventually(lambda: on_server.url in library.status().chroma_fault)
        on_server.folder.rename(on_server.folder.with_name("lost"))
        on_server.start()
        assert eventually(lambda: entries(on_server) == before)
        assert eventually(lambda: not library.status().chroma_fault)
        assert before[COLLECTIONS["entity"]] == {address(1), address(2)}
        assert (library.generation, embedder.requests) == (generation, requests)


def test_others_collections_in_place_of_ours_are_noticed_without_a_decision(
    tmp_path: Path, root: Path, embedder: Hashed, on_server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_library(tmp_path / "other", embedder=embedder) as other:
        other.promote(approved_with_caption(other, 8))
        assert follows(other)
    on_server.kill()
    theirs = on_server.folder.rename(on_server.folder.with_name("theirs"))
    on_server.start()
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1))
        assert follows(library)
    ours = on_server.folder.with_name("ours")
    monkeypatch.setattr(base_follower, "LOOK", 0.1)
    with open_library(root, embedder=embedder) as library:
        on_server.kill()
        on_server.folder.rename(ours)
        theirs.rename(on_server.folder)
        on_server.start()
        assert eventually(lambda: "belongs to another library" in library.status().chroma_fault)
        assert "OthersCollection" not in library.status().chroma_fault
        assert entries(on_server)[COLLECTIONS["entity"]] == {address(8)}
        on_server.kill()
        on_server.folder.rename(theirs)
        ours.rename(on_server.folder)
        on_server.start()
        assert eventually(lambda: not library.status().chroma_fault)
        assert entries(on_server)[COLLECTIONS["entity"]] == {address(1)}


def test_a_memory_on_a_server_that_comes_back_empty_is_filled_again(
    tmp_path: Path, on_server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base_follower, "LOOK", 0.1)
    with Memory.open(tmp_path / "res", embedder=Bags()) as memory:
        memory.sessions.add_memory("one", "dawn", "The vault opens at dawn.")
        assert eventually(lambda: memory.wait_for_chroma(5))
        before = entries(on_server)
        on_server.kill()
        on_server.folder.rename(on_server.folder.with_name("lost"))
        on_server.start()
        assert eventually(lambda: entries(on_server) == before)
    assert len(before["session_memory"]) == 1


def test_index_fills_a_server_that_came_back_empty_while_nothing_changed(
    root: Path, embedder: Hashed, on_server: ChromaRun, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1, 2))
        assert follows(library)
    on_server.kill()
    on_server.folder.rename(on_server.folder.with_name("lost"))
    on_server.start()
    assert main(["--root", str(root), "index"]) == 0
    assert "the index agrees with the library" in capsys.readouterr().err
    assert entries(on_server)[COLLECTIONS["entity"]] == {address(1), address(2)}

    on_server.kill()
    assert main(["--root", str(root), "index"]) == 1
    on_server.start()
    with open_library(root, embedder=embedder) as library:
        assert not library.catalog.meta("chroma_rebuild"), "what cannot be asked is not rebuilt"
