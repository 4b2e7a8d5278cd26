"""What somebody did to the files by hand is found on opening: it wins, and history says so."""

import errno
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from numpy.typing import NDArray

from store.catalog.filters import Filter
from store.errors import NotWritten, ReadOnly
from store.library import Library
from store.maintenance import doctor
from store.reading.reader import Reader
from store.records import Tier
from store.runtime import open_library, open_reader
from store.search.query import Part, Query
from store.writing.reconcile import OUTSIDE
from tests.store.conftest import (
    address,
    approved_with_caption,
    coin,
    furnished,
    normal_picture,
    written,
)
from tests.store.hashed import Hashed
from tests.store.invariants import contents, holds, vectors_of

FIRST, SECOND, THIRD = address(0), address(1), address(2)

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def root(quick_root: Path) -> Path:
    return quick_root


@pytest.fixture
def reopened(library: Library, root: Path, embedder: Hashed) -> Callable[[], Library]:
    """The same library, closed and opened again; the last one is closed at the end."""

    def again() -> Library:
        open_library(root).close()
        return open_library(root, embedder=embedder)

    return again


@pytest.fixture(autouse=True)
def closed_in_the_end(library: Library, root: Path, embedder: Hashed) -> Any:
    yield
    open_library(root, embedder=embedder).close()


def edit(path: Path, **changes: object) -> None:
    sidecar = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in sidecar.items() if value is not None}))


def move(library: Library, known: str, source: Tier, target: Tier) -> None:
    layout = library.layout
    for place in (layout.sidecar, layout.image):
        place(target, known).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(place(source, known), place(target, known))


def test_an_edited_sidecar_wins_and_leaves_an_event(
    library: Library, reopened: Callable[[], Library]
) -> None:
    library.add([coin(0)])
    edit(library.layout.sidecar("pending", FIRST), token_name="By Hand", tags=["moon"], extra=1)
    library = reopened()
    assert library.get(FIRST).name == "By Hand"
    assert library.get(FIRST).sidecar["extra"] == 1
    assert library.addresses(Filter(words="hand")) == [FIRST]
    assert library.tag_counts(Filter()) == {"moon": 1}
    event = library.history(address=FIRST)[0]
    assert (event.verb, event.actor, event.before_tier, event.after_tier) == (
        "change", OUTSIDE, "pending", "pending"
    )  # fmt: skip
    holds(library)
    kept = contents(library)
    assert contents(reopened()) == kept, "noticed once"


def test_a_replaced_picture_wins(library: Library, reopened: Callable[[], Library]) -> None:
    library.add([coin(0)])
    library.layout.image("pending", FIRST).write_bytes(normal_picture(7))
    library = reopened()
    assert library.history(address=FIRST)[0].verb == "change"
    holds(library)


def test_a_touched_file_is_no_change(library: Library, reopened: Callable[[], Library]) -> None:
    library.add([coin(0)])
    library.layout.sidecar("pending", FIRST).touch()
    library = reopened()
    assert [event.verb for event in library.history()] == ["import"]
    assert library.approve([FIRST]).done == [FIRST]


def test_files_put_into_a_tier_are_a_new_record_there(
    library: Library, reopened: Callable[[], Library]
) -> None:
    library.add([coin(0)])
    library.approve([FIRST])
    layout = library.layout
    sidecar = {**library.get(FIRST).sidecar, "token_address": SECOND, "token_name": "Stowaway"}
    layout.sidecar("approved", SECOND).write_text(json.dumps(sidecar))
    layout.image("approved", SECOND).write_bytes(normal_picture(1))
    library = reopened()
    assert (library.get(SECOND).tier, library.get(SECOND).name) == ("approved", "Stowaway")
    assert library.history(address=SECOND)[0].before is None
    holds(library)


def test_files_taken_away_are_a_record_gone(library: Library, reopened: Callable[[], Library]) -> None:
    library.add([coin(0), coin(1)])
    text = library.get(FIRST).sidecar
    library.layout.sidecar("pending", FIRST).unlink()
    library.layout.image("pending", FIRST).unlink()
    library = reopened()
    assert library.addresses(Filter()) == [SECOND]
    event = library.history(address=FIRST)[0]
    assert (event.verb, event.actor, event.after) == ("remove", OUTSIDE, None)
    assert json.loads(library.sidecar_text(event.before.sidecar_hash)) == text, "its words are not lost"
    holds(library)


@pytest.mark.parametrize(
    ("source", "target"),
    [("pending", "approved"), ("approved", "pending"), ("approved", "trash"), ("trash", "pending")],
)
def test_a_record_moved_by_hand_is_where_it_lies(
    library: Library, reopened: Callable[[], Library], source: Tier, target: Tier
) -> None:
    library.add([coin(0)])
    if source == "approved":
        library.approve([FIRST])
    if source == "trash":
        library.delete([FIRST])
    move(library, FIRST, source, target)
    library = reopened()
    assert library.get(FIRST).tier == target
    holds(library)
    if target == "trash":
        assert library.restore([FIRST]).done
        assert library.get(FIRST).tier == "pending"


@pytest.mark.parametrize("known_in", ["pending", "approved"])
def test_a_record_in_two_tiers_is_settled_by_the_catalog(
    library: Library, reopened: Callable[[], Library], known_in: Tier
) -> None:
    library.add([coin(0)])
    if known_in == "approved":
        library.approve([FIRST])
    other: Tier = "approved" if known_in == "pending" else "pending"
    for place in (library.layout.sidecar, library.layout.image):
        place(other, FIRST).parent.mkdir(exist_ok=True)
        shutil.copy(place(known_in, FIRST), place(other, FIRST))
    library = reopened()
    assert library.get(FIRST).tier == known_in
    assert library.status().faults == (f"{FIRST}: also lies in {other}; the one in {known_in} counts",)


def test_a_record_in_two_tiers_that_the_catalog_does_not_know_is_in_the_later(
    library: Library, root: Path, embedder: Hashed
) -> None:
    library.add([coin(0)])
    layout = library.layout
    library.close()
    layout.catalog.unlink()
    for place in (layout.sidecar, layout.image):
        place("approved", FIRST).parent.mkdir(exist_ok=True)
        shutil.copy(place("pending", FIRST), place("approved", FIRST))
    with open_library(root, embedder=embedder) as library:
        assert library.get(FIRST).tier == "approved"
        assert "also lies in pending" in library.status().faults[0]


def test_a_file_that_is_no_picture_is_told_and_what_else_was_changed_is_taken_in(
    library: Library, root: Path, reopened: Callable[[], Library]
) -> None:
    approved_with_caption(library, 0, 1)
    library.promote([FIRST, SECOND])
    library.close()
    library.layout.image("library", FIRST).write_bytes(b"junk")
    edit(library.layout.sidecar("library", SECOND), caption=written("by hand"))
    library = reopened()
    assert [fault for fault in library.status().faults if FIRST in fault and "cannot be used" in fault]
    assert library.get(SECOND).caption["entity"] == "by hand entity"
    with library.catalog.reading() as db:
        embedded = "SELECT count(*) FROM embeddings e JOIN records r ON r.id = e.record WHERE r.address = ?"
        assert db.execute(embedded, [SECOND]).fetchone()[0] == 4


def test_a_broken_sidecar_is_told_and_the_catalog_keeps_what_it_knew(
    library: Library, reopened: Callable[[], Library]
) -> None:
    library.add([coin(0), coin(1)])
    library.layout.sidecar("pending", FIRST).write_text('{"token_name": "cut sho')
    library = reopened()
    assert library.get(FIRST).name == "Coin 0"
    assert len(library.status().faults) == 1
    assert f"{FIRST}.json: it is not JSON" in library.status().faults[0]
    assert "changed outside" in library.approve([FIRST]).refused[0].reason
    assert library.approve([SECOND]).done == [SECOND]
    library.layout.sidecar("pending", FIRST).write_text(json.dumps(library.get(FIRST).sidecar))
    library = reopened()
    assert not library.status().faults
    assert library.approve([FIRST]).done == [FIRST]
    holds(library)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda path: edit(path, token_name=None), "token_name is missing"),
        (lambda path: edit(path, token_address=SECOND), f"it says token_address {SECOND}"),
        (lambda path: path.write_text("[" * 100_000), "it is not JSON"),
        (lambda path: path.write_text("[]"), "it is not a JSON object"),
        (lambda path: path.write_bytes(b" " * 1_000_001), "it is larger than 1,000,000 bytes"),
        (lambda path: path.write_bytes(b'{"a": "\xff"}'), "it is not JSON"),
        (lambda path: path.unlink(), "its sidecar is missing"),
        (lambda path: path.with_suffix(".jpg").unlink(), "its picture is missing in pending"),
    ],
)
def test_whatever_is_wrong_with_the_files_opens_the_library_and_is_named(
    library: Library, reopened: Callable[[], Library], spoil: Callable[[Path], None], reason: str
) -> None:
    library.add([coin(0), coin(2)])
    spoil(library.layout.sidecar("pending", FIRST))
    library = reopened()
    assert reason in library.status().faults[0]
    assert library.get(FIRST).name == "Coin 0"
    assert library.approve([FIRST, THIRD]).done == [THIRD]
    assert not library.status().stuck


def test_a_picture_lost_while_we_work_refuses_its_record_and_stops_nothing_else(library: Library) -> None:
    library.add([coin(0), coin(1)])
    library.layout.image("pending", FIRST).unlink()
    outcome = library.approve([FIRST, SECOND])
    assert outcome.done == [SECOND]
    assert "changed outside" in outcome.refused[0].reason
    assert library.delete([SECOND]).done == [SECOND]


def test_a_sidecar_edited_while_we_work_is_not_overwritten(
    library: Library, reopened: Callable[[], Library]
) -> None:
    library.add([coin(0)])
    edit(library.layout.sidecar("pending", FIRST), description="by hand")
    assert not library.edit_tags([FIRST], add=["moon"]).done
    assert reopened().get(FIRST).description == "by hand"


def test_what_was_edited_while_we_work_counts_from_the_first_decision_that_meets_it(library: Library) -> None:
    library.add([coin(0), coin(1), coin(2)])
    edit(library.layout.sidecar("pending", FIRST), description="by hand")
    os.utime(library.layout.sidecar("pending", SECOND), (1, 1))  # the same content
    library.layout.sidecar("pending", THIRD).unlink()
    outcome = library.approve([FIRST, SECOND, THIRD])
    reasons = {refusal.item: refusal.reason for refusal in outcome.refused}
    assert "they count now, look at it again" in reasons[FIRST]
    assert "they count now" in reasons[SECOND]
    assert "cannot be imported: its sidecar is missing" in reasons[THIRD]
    assert library.get(FIRST).description == "by hand"
    assert library.history(address=FIRST)[0].actor == OUTSIDE
    assert sorted(library.approve([FIRST, SECOND]).done) == sorted([FIRST, SECOND])


def test_a_strangers_file_in_the_way_is_set_aside(library: Library) -> None:
    library.add([coin(0)])
    stranger = library.layout.image("approved", FIRST)
    stranger.parent.mkdir()
    stranger.write_text("something else")
    assert library.approve([FIRST]).done == [FIRST]
    assert [path.read_text() for path in library.layout.set_aside.iterdir()] == ["something else"]
    assert library.layout.image("approved", FIRST).read_bytes() == normal_picture(0)


def test_a_library_record_edited_by_hand_is_embedded_anew_where_it_changed(
    library: Library, reopened: Callable[[], Library], embedder: Hashed
) -> None:
    library.promote(approved_with_caption(library, 0, 1))
    with library.catalog.writing() as db:
        db.execute("DELETE FROM chroma_queue")  # as if Chroma had followed
    asked = embedder.asked
    caption = {**written("text 0"), "visual": "repainted by hand", "emotions": "new"}
    edit(library.layout.sidecar("library", FIRST), caption=caption, tags=["moon"])
    library = reopened()
    assert embedder.asked == asked + 2
    assert library.search(Query((Part(text="repainted by hand"),))).hits[0].address == FIRST
    assert contents(library).waiting == {FIRST}
    assert not library.catalog.meta("chroma_rebuild"), "for one record not all of Chroma is made anew"
    holds(library)


def test_a_model_that_is_not_there_keeps_nothing_from_opening(
    library: Library, root: Path, embedder: Hashed
) -> None:
    class Gone(Hashed):
        def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise OSError("the weights are gone")

    library.promote(approved_with_caption(library, 0))
    edit(library.layout.sidecar("library", FIRST), caption=written("by hand"))
    library.close()
    with open_library(root, embedder=Gone()) as library:
        assert library.get(FIRST).caption == written("by hand")
    with open_library(root, embedder=embedder) as library:
        holds(library)


def test_a_library_record_taken_away_is_no_longer_found_by_who_read_before(
    library: Library, root: Path, reopened: Callable[[], Library]
) -> None:
    library.promote(approved_with_caption(library, 0, 1, 2))
    anything = Query((Part(text="anything"),))
    with Reader(root, embedder=Hashed()) as reader:
        assert len(reader.search(anything).hits) == 3
        library.layout.sidecar("library", FIRST).unlink()
        library.layout.image("library", FIRST).unlink()
        library = reopened()
        assert {hit.address for hit in reader.search(anything).hits} == {SECOND, THIRD}
    assert set(vectors_of(library, SECOND, library.embedder)) == {"image", "entity", "context", "visual"}
    holds(library)


def test_without_its_catalog_a_library_is_made_again_from_its_files(
    library: Library, root: Path, embedder: Hashed
) -> None:
    library.add([coin(0), coin(1)])
    library.promote(approved_with_caption(library, 2))
    kept = {record.address: (record.tier, record.sidecar) for record in library.find(Filter())}
    library.close()
    for path in (root / "memecoins").glob("catalog.sqlite3*"):
        path.unlink()
    with open_library(root, embedder=embedder) as library:
        assert {record.address: (record.tier, record.sidecar) for record in library.find(Filter())} == kept
        assert library.history(address=FIRST)[0].actor == OUTSIDE


def test_stray_files_in_operations_keep_nothing_from_opening(
    library: Library, reopened: Callable[[], Library]
) -> None:
    library.add([coin(0)])
    (library.layout.operations / ".DS_Store").write_text("a Mac was here")
    staged = library.layout.operations / f"{library.catalog.owner}-staged-and-forgotten"
    staged.mkdir()
    (staged / "x.json").write_text("{}")
    library = reopened()
    assert [path.name for path in library.layout.operations.iterdir()] == [".DS_Store"]


def test_a_library_on_a_read_only_disk_can_be_looked_at(
    tmp_path: Path, embedder: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = furnished(tmp_path / "nur zum Lesen é?")
    with open_library(root, embedder=embedder) as library:
        library.add([coin(0)])
    files = sorted(root.rglob("*"))
    with monkeypatch.context() as read_only:
        read_only.setattr(os, "access", lambda *_: False)
        read_only.setattr(FileLock, "acquire", _refused)
        with open_reader(root, embedder=embedder) as reader:
            assert [record.name for record in reader.find(Filter())] == ["Coin 0"]
        with pytest.raises(ReadOnly, match="mend the permission"):
            open_library(root, embedder=embedder)
    assert sorted(root.rglob("*")) == files, "SQLite put nothing beside it"


def _refused(*_: object, **__: object) -> None:
    raise OSError(errno.EROFS, "Read-only file system")


def test_a_library_that_was_moved_away_takes_nothing_more_until_it_is_back(library: Library) -> None:
    """Else SQLite would go on writing to the moved or removed file, and what was answered would be lost."""
    library.add([coin(0)])
    home = library.layout.memecoins
    home.rename(home.with_name("elsewhere"))
    assert not library.catalog.is_in_place
    assert library.approve([address(0)]).done == []
    with pytest.raises(OSError, match="removed or replaced"):
        library.catalog.set_meta("kept", "1")
    home.with_name("elsewhere").rename(home)
    assert library.approve([address(0)]).done == [address(0)]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "is full; make room"),
        (sqlite3.OperationalError("database or disk is full"), "is full; make room"),
        (sqlite3.OperationalError("unable to open database file"), "put it back or mend the permission"),
        (PermissionError(errno.EACCES, "Permission denied", "a.json"), "Permission denied: a.json"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_the_disk_refuses_on_opening_is_said_in_words(
    error: Exception, words: str, tmp_path: Path, embedder: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("store.disk.sqlite.sqlite3.connect", refuse)
    with pytest.raises(NotWritten, match=words):
        open_library(tmp_path, embedder=embedder)
    with pytest.raises(NotWritten, match=words):
        open_reader(tmp_path, embedder=embedder)


def test_a_file_in_place_of_a_folder_makes_no_record_vanish(
    library: Library, reopened: Callable[[], Library]
) -> None:
    library.add([coin(0), coin(1), coin(2)])
    library.approve([THIRD])
    folder, away = library.layout.sidecar_folder("pending"), library.layout.root / "away"
    library.close()
    folder.rename(away)
    folder.write_text("not a folder")

    library = reopened()

    assert library.counts()["pending"] == 2
    assert [event.verb for event in library.history(limit=-1)].count("remove") == 0
    assert any("no folder" in finding.what for finding in doctor.check(library))
    assert any("pending is no folder" in fault for fault in library.status().faults)
    left = doctor.repair(library)
    assert not folder.exists()
    assert [path.read_text() for path in library.layout.set_aside.iterdir()] == ["not a folder"]
    assert any("2 pending records" in finding.what for finding in left), "they still wait for their folder"

    away.rename(folder)
    library.close()
    library = reopened()
    assert library.approve([FIRST]).done == [FIRST]
    assert doctor.check(library) == []


def test_a_folder_that_is_gone_takes_its_records_along_only_when_a_repair_says_so(
    library: Library, reopened: Callable[[], Library]
) -> None:
    library.add([coin(0), coin(1)])
    library.approve([SECOND])
    library.close()
    shutil.rmtree(library.layout.sidecar_folder("pending"))
    library = reopened()
    assert library.counts()["pending"] == 1
    assert library.approve([FIRST]).refused, "nothing is decided about what is not there"
    doctor.repair(library)
    assert library.counts()["pending"] == 0
    assert library.history(address=FIRST)[0].verb == "remove"
