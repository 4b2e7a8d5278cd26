"""Chroma follows the catalog: updates, rebuilds after damage, and no calls to the model."""

import errno
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.chroma.collections import COLLECTIONS, Collections, made_with, own_files
from store.chroma.probe import probe
from store.chroma.process import ChromaProcess
from store.disk.aside import PREFIX
from store.disk.files import Disk
from store.disk.layout import Layout
from store.library import Library
from store.runtime import open_library
from store.search.query import Part, Query
from tests.store.conftest import address, approved_with_caption
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars, holds
from tests.store.world import abandon

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("eager_index", "comparison_in_own_process")]


@pytest.mark.usefixtures("chroma_in_own_process")
def test_a_dead_chroma_process_is_replaced_without_data_loss(
    root: Path, embedder: Hashed, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(root, embedder) as library:
        addresses = approved_with_caption(library, 1, 2, 3)
        library.promote(addresses[:1])
        assert library.wait_for_chroma(60)
        chroma = library._follower._chroma
        assert chroma is not None
        chroma._process.kill()
        chroma._process.wait(60)
        library.promote(addresses[1:])
        assert library.wait_for_chroma(60)
        assert "is rebuilt" not in caplog.text, "what it left was whole"
    chroma_agrees_with_the_sidecars(root, embedder)


@pytest.fixture
def promoted(root: Path, embedder: Hashed) -> list[str]:
    """Three records in the library and in Chroma; the library is closed."""
    with opened(root, embedder) as library:
        addresses = approved_with_caption(library, 1, 2, 3)
        library.promote(addresses)
        assert library.wait_for_chroma(60)
    chroma_agrees_with_the_sidecars(root, embedder)
    return addresses


def open_collections(folder: Path) -> Collections:
    return Collections(folder, dict.fromkeys(COLLECTIONS.values(), made_with("hashed")))


@contextmanager
def opened(root: Path, embedder: Hashed) -> Iterator[Library]:
    with open_library(root, embedder=embedder) as library:
        assert isinstance(library, Library)
        yield library


def test_promoted_records_are_in_all_five_collections_with_six_fields(
    root: Path, embedder: Hashed, promoted: list[str]
) -> None:
    collections = open_collections(Layout(root).chroma)
    assert {facet: len(collections.ids(name)) for facet, name in COLLECTIONS.items()} == {
        "image": 3, "entity": 3, "context": 3, "visual": 3, "emotions": 0
    }  # fmt: skip
    assert collections.metadata(COLLECTIONS["entity"], [address(1)])[address(1)] == {
        "name": "Coin 1",
        "ticker": "C1",
        "uuid": address(1),
        "tags": "dog",
        "tags_categories": "animals",
        "created_at": 1_700_000_001,
    }
    collections.close()


@pytest.mark.usefixtures("chroma_in_own_process")
def test_every_verb_reaches_chroma(root: Path, embedder: Hashed, promoted: list[str]) -> None:
    with opened(root, embedder) as library:
        library.degrade([address(1)])
        library.delete([address(2)])
        library.caption(address(3), caption={"visual": "", "emotions": "calm"}, tags=["moon", "cat"])
        assert library.wait_for_chroma(60)
    chroma_agrees_with_the_sidecars(root, embedder)
    with opened(root, embedder) as library:
        library.undo(3)
        assert library.wait_for_chroma(60)
        assert library.counts()["library"] == 3
    chroma_agrees_with_the_sidecars(root, embedder)


def test_promoting_a_record_removed_from_the_library_needs_no_model(
    root: Path, embedder: Hashed, promoted: list[str]
) -> None:
    asked = embedder.asked
    with opened(root, embedder) as library:
        assert library.degrade(promoted).done == promoted
        assert library.promote(promoted).done == promoted
        assert library.wait_for_chroma(60)
    assert embedder.asked == asked


def test_a_caption_edit_embeds_only_the_changed_facets(
    root: Path, embedder: Hashed, promoted: list[str]
) -> None:
    asked = embedder.asked
    with opened(root, embedder) as library:
        library.caption(address(1), caption={"entity": "something new"})
        assert embedder.asked == asked + 1
        library.edit_tags([address(1)], add=["moon"])
        assert embedder.asked == asked + 1


def test_chroma_is_not_opened_to_list_or_search(root: Path, embedder: Hashed, promoted: list[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in own_files(Layout(root).chroma)}
    with opened(root, embedder) as library:
        assert library.find(Filter(tier="library"))
        assert library.search(Query((Part(text="anything"),))).hits
        assert library._follower._chroma is None
        assert not library._follower.worker.has_begun, "closed cleanly: nothing to look after"
    assert {path: path.stat().st_mtime_ns for path in own_files(Layout(root).chroma)} == before


def remove_database(chroma: Path) -> None:
    (chroma / "chroma.sqlite3").unlink()


def remove_everything(chroma: Path) -> None:
    for path in own_files(chroma):
        path.unlink()


def corrupt_database(chroma: Path) -> None:
    (chroma / "chroma.sqlite3").write_bytes(b"this is no database " * 1000)


def empty_database(chroma: Path) -> None:
    (chroma / "chroma.sqlite3").write_bytes(b"")


def corrupt_index(chroma: Path) -> None:
    spoilt = [path for path in own_files(chroma) if path.suffix in (".bin", ".pickle")]
    assert spoilt
    for number, path in enumerate(spoilt):
        content = bytes((number + 7 * place) % 251 for place in range(max(64, path.stat().st_size)))
        path.write_bytes(content)


def truncate_index(chroma: Path) -> None:
    for path in own_files(chroma):
        if path.suffix == ".bin":
            path.write_bytes(path.read_bytes()[:16])


def restore_an_older_chroma(chroma: Path) -> None:
    """Restore an intact older state that differs from the catalog, as from a backup of this folder only."""
    collections = open_collections(chroma)
    collections.collection(COLLECTIONS["entity"]).delete(ids=[address(2)])
    collections.close()


BREAKAGES = [
    remove_database,
    remove_everything,
    corrupt_database,
    empty_database,
    corrupt_index,
    truncate_index,
    restore_an_older_chroma,
]


@pytest.mark.parametrize("damage", BREAKAGES, ids=lambda damage: damage.__name__)
def test_a_broken_chroma_is_rebuilt_without_a_model_and_search_keeps_working(
    root: Path, embedder: Hashed, promoted: list[str], damage: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    damage(Layout(root).chroma)
    asked = embedder.asked
    with opened(root, embedder) as library:
        assert len(library.find(Filter(tier="library"))) == 3
        hits = library.search(Query((Part(like=address(2)),))).hits
        assert {hit.address for hit in hits} == {address(1), address(3)}
        assert library.wait_for_chroma(60)
        assert embedder.asked == asked
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


def test_a_moved_library_opens_without_starting_chroma(
    root: Path, embedder: Hashed, promoted: list[str], tmp_path: Path
) -> None:
    with opened(root.rename(tmp_path / "elsewhere"), embedder) as library:
        assert not library._follower.worker.has_begun


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
    assert probe(root) == []


def test_the_probe_describes_each_fault(root: Path, embedder: Hashed, promoted: list[str]) -> None:
    collections = open_collections(Layout(root).chroma)
    collections.collection(COLLECTIONS["entity"]).delete(ids=[address(1)])
    collections.collection(COLLECTIONS["context"]).upsert(
        ids=[address(2)], embeddings=[[1.0] + [0.0] * 63], metadatas=[{"name": "Someone else"}]
    )
    collections.collection(COLLECTIONS["image"]).upsert(ids=["nobody"], embeddings=[[1.0] + [0.0] * 63])
    collections.close()
    faults = "\n".join(probe(root))
    assert f"entity_caption_embeddings lacks 1 records, such as {address(1)}" in faults
    assert "context_caption_embeddings has another vector for 1 of 3 sampled records" in faults
    assert "meme_image_embeddings holds 1 records too many, such as nobody" in faults


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
