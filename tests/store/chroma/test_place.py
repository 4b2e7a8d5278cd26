"""Chroma's folder and a server as places: what others left is moved aside unchanged, and a move fills once.

A Chroma folder of another program is reported, and recorded in the history. Collections that move to another
place are filled there once, however often that is interrupted.
"""

import contextlib
import itertools
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from store.backup.restore import restore_files
from store.catalog.history import MOVE_ASIDE, PROGRAM
from store.chroma.collections import COLLECTIONS, Point
from store.chroma.contents import DATABASE, own_names
from store.chroma.server import ServerCollections
from store.disk.aside import moved_aside
from store.disk.files import Disk
from store.disk.layout import Layout
from store.library import Library
from store.maintenance import doctor
from store.memory.memory import Memory
from store.progress import Progress
from store.runtime import open_library, open_reader
from store.settings import settings
from tests.length import STRIDE
from tests.store.chroma.breakages import opened
from tests.store.chroma.chroma_run import ChromaRun, closed_behind, entries, follows
from tests.store.conftest import address, approved_with_caption
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars, holds
from tests.store.memory.bags import Bags
from tests.store.other_systems import client_of, everything_in, three_tier_library, vector
from tests.store.world import FaultInjector, PowerCut, abandon
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("closed_connections")]


def files_in(folder: Path) -> dict[str, bytes]:
    """Chroma's own files, by their path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for name in own_names(folder)
        for path in [folder / name, *(folder / name).rglob("*")]
        if path.is_file()
    }


def wait_for_chroma_to_settle(library: Library) -> None:
    library._follower.wake()
    assert library.wait_for_chroma(120)


def test_opening_a_three_tier_library_moves_its_chroma_aside_unchanged(root: Path, embedder: Hashed) -> None:
    store = three_tier_library(root, [1, 2])
    held, files = everything_in(store), files_in(store)
    with opened(root, embedder) as library:
        wait_for_chroma_to_settle(library)
        (aside,) = moved_aside(store)
        assert library.counts()["library"] == 2
        assert "meme_image_embeddings 2 (768 dimensions)" in aside.what
        (event,) = [event for event in library.history() if event.verb == MOVE_ASIDE]
        assert (event.actor, event.address) == (PROGRAM, aside.place.relative_to(root).as_posix())
        assert event.reason == aside.what
        assert any(aside.place.name in one for one in library.status().moved_aside)
        (finding,) = doctor.check(library)
        assert aside.place.name in finding.what
        assert finding.remedy == (
            f"`adopt {library.layout.memecoins}` takes over its tags and 6 vectors; Memedex never removes it"
        )
        assert not finding.is_fault
        assert library.check_chroma() == []
        holds(library)
    assert files_in(aside.place) == files
    assert everything_in(aside.place) == held
    chroma_agrees_with_the_sidecars(root, embedder)
    with opened(root, embedder) as library:
        assert library._follower._asked is None, "once and for all"
        assert len(moved_aside(store)) == 1


def test_doctor_reports_a_foreign_chroma_and_leaves_it_unchanged(root: Path) -> None:
    store = three_tier_library(root, [1])
    open_reader(root, embedder=Hashed()).close()
    before = files_in(store)
    found = [one.what for one in doctor.check_unopened(root)]
    assert any("a Chroma that Memedex did not make here" in what for what in found)
    assert files_in(store) == before
    assert moved_aside(store) == []


@pytest.mark.usefixtures("without_chroma")
def test_a_power_cut_while_moving_a_chroma_aside_loses_nothing(quick_root: Path, embedder: Hashed) -> None:
    store = three_tier_library(quick_root, [1, 2])
    files, original = files_in(store), quick_root.with_name("original")
    shutil.copytree(quick_root, original)
    injector = FaultInjector()
    for at in itertools.count(1, STRIDE):
        shutil.rmtree(quick_root)
        shutil.copytree(original, quick_root)
        library = open_library(quick_root, embedder=embedder, disk=Disk(before=injector))
        injector.cut_power(at)
        with contextlib.suppress(PowerCut):
            library._follower._place.clear_the_way()
        was_cut = injector.has_failed
        injector.stop_failing()
        abandon(library)
        with opened(quick_root, embedder) as library:
            library._follower._place.clear_the_way()
            (aside,) = moved_aside(store)
            assert files_in(aside.place) == files
            assert files_in(store) == {}
            assert [event.verb for event in library.history(limit=-1)].count(MOVE_ASIDE) == 1
        if not was_cut:
            break
    assert at > 10


def test_foreign_collections_in_our_chroma_stay_unchanged(root: Path, embedder: Hashed) -> None:
    with opened(root, embedder) as library:
        library.promote(approved_with_caption(library, 1, 2))
        assert library.wait_for_chroma(60)
    store = Layout(root).chroma
    client = client_of(store)
    theirs = client.create_collection("notes", metadata={"hnsw:space": "cosine"})
    theirs.add(ids=["a"], embeddings=[vector("a", dimensions=8)], documents=["keep me"])
    client.close()
    held = everything_in(store)["notes"]
    with opened(root, embedder) as library:
        library.rebuild_chroma()
        assert library.wait_for_chroma(60)
        library.degrade([address(1)])
        assert library.wait_for_chroma(60)
        assert library.check_chroma() == []
    assert everything_in(store)["notes"] == held
    assert moved_aside(store) == []
    chroma_agrees_with_the_sidecars(root, embedder)


def test_a_chroma_whose_catalog_is_missing_is_moved_aside(root: Path, embedder: Hashed) -> None:
    with opened(root, embedder) as library:
        library.promote(approved_with_caption(library, 1))
        assert library.wait_for_chroma(60)
    layout = Layout(root)
    layout.catalog.unlink()
    files = files_in(layout.chroma)
    with opened(root, embedder) as library:
        wait_for_chroma_to_settle(library)
    assert files_in(moved_aside(layout.chroma)[0].place) == files


def test_a_damaged_database_of_unknown_origin_is_treated_as_foreign(root: Path, embedder: Hashed) -> None:
    store = Layout(root).chroma
    store.mkdir(parents=True)
    (store / DATABASE).write_bytes(b"\x00rubbish" * 100)
    with opened(root, embedder) as library:
        library.promote(approved_with_caption(library, 1))
        wait_for_chroma_to_settle(library)
    (aside,) = moved_aside(store)
    assert (aside.place / DATABASE).read_bytes() == b"\x00rubbish" * 100
    assert "cannot be read" in aside.what
    assert json.loads((aside.place / "about.json").read_bytes())["names"] == [DATABASE]


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
    monkeypatch.setattr("store.chroma.catalog_source.BATCH", 1)
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
            memory.session_memory.add_memory("one", f"q{number}", f"The vault opens at {number}.")
        assert memory.wait_for_chroma(60)
    monkeypatch.setattr("store.memory.chroma_source.BATCH", 1)
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
