"""Collections that move to another place are filled there once, however often that is interrupted."""

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from store.backup import restore_files
from store.chroma.collections import COLLECTIONS, Point
from store.chroma.server import ServerCollections
from store.memory.memory import Memory
from store.progress import Progress
from store.runtime import open_library
from store.settings import settings
from tests.store.chroma.chroma_run import ChromaRun, closed_behind, entries, follows
from tests.store.conftest import address, approved_with_caption
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars
from tests.store.memory.bags import Bags
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("closed_connections")]


def killed(server: ChromaRun, patch: pytest.MonkeyPatch, *, name: str, after: int) -> Counter[str]:
    """Kill the server once, when this collection has so many entries; returns how often each one came."""
    brought: Counter[str] = Counter()
    put = ServerCollections.put
    kills = [server.kill]

    def counted(own: ServerCollections, to: str, points: Sequence[Point], *, gone: Sequence[str]) -> None:
        if to == name and len(brought) == after and kills:
            kills.pop()()
        put(own, to, points, gone=gone)
        brought.update(point.id for point in points if to == name)

    patch.setattr(ServerCollections, "put", counted)
    return brought


@contextmanager
def on(server: ChromaRun) -> Iterator[None]:
    """The settings name the server until the block ends."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MEMEDEX_CHROMA_URL", server.url)
            settings.cache_clear()
            yield
    finally:
        settings.cache_clear()


def test_filling_a_server_goes_on_where_it_was_interrupted(
    root: Path, embedder: Hashed, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, *range(1, 7)))
        assert library.wait_for_chroma(60)
    monkeypatch.setattr("store.chroma.follower.BATCH", 1)
    name = COLLECTIONS["entity"]
    brought = killed(server, monkeypatch, name=name, after=4)
    with on(server):
        with closed_behind(open_library(root, embedder=embedder)) as library:
            assert eventually(lambda: library.status().chroma_fault)
            assert library.status().chroma_behind == 2
        server.start()
        with open_library(root, embedder=embedder) as library:
            assert follows(library)
            assert library.check_chroma() == []
    assert brought == dict.fromkeys(entries(server)[name], 1)
    assert len(brought) == 6


def test_a_place_that_is_returned_to_has_what_changed_meanwhile(
    root: Path, embedder: Hashed, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.chroma.comparison._SAMPLE", 0)  # as if the changed one were in no sample
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1, 2))
        assert library.wait_for_chroma(60)
    with on(server), open_library(root, embedder=embedder) as library:
        library.caption(address(2), caption={"entity": "an octopus that juggles"})
        assert follows(library)
    with open_library(root, embedder=embedder) as library:
        assert library.wait_for_chroma(60)
    chroma_agrees_with_the_sidecars(root, embedder)


def test_a_server_forgets_what_was_decided_after_the_moment_that_a_catalog_was_restored_to(
    tmp_path: Path, root: Path, embedder: Hashed, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_PICTURES", str(tmp_path / "pictures"))
    with on(server):
        with open_library(root, embedder=embedder) as library:
            library.promote(approved_with_caption(library, 1, 2))
            assert follows(library)
        shutil.copytree(root, tmp_path / "earlier")
        with open_library(root, embedder=embedder) as library:
            library.caption(address(2), caption={"entity": "an octopus that juggles"})
            library.promote(approved_with_caption(library, 3))
            assert follows(library)
        shutil.rmtree(root)
        shutil.copytree(tmp_path / "earlier", root)
        assert not restore_files(root, progress=Progress()).refused
        with open_library(root, embedder=embedder) as library:
            assert follows(library)
            assert library.check_chroma() == []
    assert entries(server)[COLLECTIONS["entity"]] == {address(1), address(2)}


def test_filling_a_server_with_a_memory_goes_on_where_it_was_interrupted(
    tmp_path: Path, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(tmp_path / "res", embedder=Bags()) as memory:
        for number in range(6):
            memory.sessions.add_memory("one", f"q{number}", f"The vault opens at {number}.")
        assert memory.wait_for_chroma(60)
    monkeypatch.setattr("store.memory.chroma.follower.BATCH", 1)
    brought = killed(server, monkeypatch, name="session_memory", after=4)
    with on(server):
        with closed_behind(Memory.open(tmp_path / "res", embedder=Bags())) as memory:
            assert eventually(lambda: memory.status().chroma_fault)
        server.start()
        with Memory.open(tmp_path / "res", embedder=Bags()) as memory:
            assert eventually(lambda: memory.wait_for_chroma(5))
            assert memory.check_chroma() == []
    assert brought == dict.fromkeys(entries(server)["session_memory"], 1)
    assert len(brought) == 6
