"""Manual changes to the files are found on opening, applied, and recorded in the history."""

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.disk.files import content_hash
from store.disk.images import decode
from store.library import Library
from store.maintenance import doctor
from store.pictures.shared_pictures import shared_pictures
from store.records import Tier
from store.runtime import LibraryRuntime, open_library
from store.search.query import Part, Query
from store.settings import settings
from store.writing import differences, reconcile
from store.writing.reconcile import OUTSIDE
from tests.store.conftest import address, approved_with_caption, coin, normal_picture, written
from tests.store.hashed import Hashed
from tests.store.invariants import contents, holds
from tests.store.writing.conftest import edit
from tests.waiting import eventually

FIRST, SECOND, THIRD = address(0), address(1), address(2)


pytestmark = pytest.mark.usefixtures("without_chroma", "close_library_at_end")


def move(library: Library, known: str, source: Tier, target: Tier) -> None:
    layout = library.layout
    for place in (layout.sidecar, layout.image):
        place(target, known).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(place(source, known), place(target, known))


def test_an_edited_sidecar_is_applied_and_recorded(library: Library, reopen: Callable[[], Library]) -> None:
    library.add([coin(0)])
    edit(library.layout.sidecar("pending", FIRST), token_name="By Hand", tags=["moon"], extra=1)
    library = reopen()
    assert library.get(FIRST).name == "By Hand"
    assert library.get(FIRST).sidecar["extra"] == 1
    assert library.addresses(Filter(words="hand")) == [FIRST]
    assert library.tag_counts(Filter()) == {"moon": 1}
    event = library.history(address=FIRST)[0]
    assert (event.verb, event.actor, event.before_tier, event.after_tier) == (
        "change",
        OUTSIDE,
        "pending",
        "pending",
    )
    holds(library)
    kept = contents(library)
    assert contents(reopen()) == kept, "noticed once"


def test_a_replaced_picture_is_applied_and_recorded(library: Library, reopen: Callable[[], Library]) -> None:
    library.add([coin(0)])
    library.layout.image("pending", FIRST).write_bytes(normal_picture(7))
    library = reopen()
    assert library.history(address=FIRST)[0].verb == "change"
    holds(library)


def test_a_touched_file_is_not_a_change(library: Library, reopen: Callable[[], Library]) -> None:
    library.add([coin(0)])
    library.layout.sidecar("pending", FIRST).touch()
    library = reopen()
    assert [event.verb for event in library.history()] == ["import"]
    assert library.approve([FIRST]).done == [FIRST]


def test_files_added_to_a_tier_become_a_record_there(library: Library, reopen: Callable[[], Library]) -> None:
    library.add([coin(0)])
    library.approve([FIRST])
    layout = library.layout
    sidecar = {**library.get(FIRST).sidecar, "token_address": SECOND, "token_name": "Stowaway"}
    layout.sidecar("approved", SECOND).write_text(json.dumps(sidecar))
    layout.image("approved", SECOND).write_bytes(normal_picture(1))
    library = reopen()
    assert (library.get(SECOND).tier, library.get(SECOND).name) == ("approved", "Stowaway")
    assert library.history(address=SECOND)[0].before is None
    holds(library)


def test_removed_files_remove_their_record(library: Library, reopen: Callable[[], Library]) -> None:
    library.add([coin(0), coin(1)])
    text = library.get(FIRST).sidecar
    library.layout.sidecar("pending", FIRST).unlink()
    library.layout.image("pending", FIRST).unlink()
    library = reopen()
    assert library.addresses(Filter()) == [SECOND]
    event = library.history(address=FIRST)[0]
    assert (event.verb, event.actor, event.after) == ("remove", OUTSIDE, None)
    assert json.loads(library.sidecar_text(event.before.sidecar_hash)) == text, "its words are not lost"
    holds(library)


@pytest.mark.parametrize(
    ("source", "target"),
    [("pending", "approved"), ("approved", "pending"), ("approved", "trash"), ("trash", "pending")],
)
def test_a_record_moved_by_hand_changes_its_tier(
    library: Library, reopen: Callable[[], Library], source: Tier, target: Tier
) -> None:
    library.add([coin(0)])
    if source == "approved":
        library.approve([FIRST])
    if source == "trash":
        library.delete([FIRST])
    move(library, FIRST, source, target)
    library = reopen()
    assert library.get(FIRST).tier == target
    holds(library)
    if target == "trash":
        assert library.restore([FIRST]).done
        assert library.get(FIRST).tier == "pending"


@pytest.mark.parametrize("known_in", ["pending", "approved"])
def test_the_catalog_decides_the_tier_of_a_record_found_in_two(
    library: Library, reopen: Callable[[], Library], known_in: Tier
) -> None:
    library.add([coin(0)])
    if known_in == "approved":
        library.approve([FIRST])
    other: Tier = "approved" if known_in == "pending" else "pending"
    for place in (library.layout.sidecar, library.layout.image):
        place(other, FIRST).parent.mkdir(exist_ok=True)
        shutil.copy(place(known_in, FIRST), place(other, FIRST))
    library = reopen()
    assert library.get(FIRST).tier == known_in
    assert library.status().faults == (f"{FIRST}: also lies in {other}; the one in {known_in} counts",)


def test_an_unknown_record_in_two_tiers_gets_the_later_tier(
    library: Library, root: Path, embedder: Hashed
) -> None:
    library.add([coin(0)])
    layout = library.layout
    library.close()
    layout.catalog.unlink()
    shutil.rmtree(layout.snapshots)
    for place in (layout.sidecar, layout.image):
        place("approved", FIRST).parent.mkdir(exist_ok=True)
        shutil.copy(place("pending", FIRST), place("approved", FIRST))
    with open_library(root, embedder=embedder) as library:
        assert library.get(FIRST).tier == "approved"
        assert "also lies in pending" in library.status().faults[0]


def test_an_invalid_picture_is_reported_and_other_changes_are_applied(
    library: Library, root: Path, reopen: Callable[[], Library]
) -> None:
    approved_with_caption(library, 0, 1)
    library.promote([FIRST, SECOND])
    library.close()
    library.layout.image("library", FIRST).write_bytes(b"junk")
    edit(library.layout.sidecar("library", SECOND), caption=written("by hand"))
    library = reopen()
    assert [fault for fault in library.status().faults if FIRST in fault and "cannot be used" in fault]
    assert library.get(SECOND).caption["entity"] == "by hand entity"
    with library.catalog.reading() as db:
        embedded = "SELECT count(*) FROM embeddings e JOIN records r ON r.id = e.record WHERE r.address = ?"
        assert db.execute(embedded, [SECOND]).fetchone()[0] == 4


def test_a_broken_sidecar_is_reported_and_the_catalog_keeps_its_values(
    library: Library, reopen: Callable[[], Library]
) -> None:
    library.add([coin(0), coin(1)])
    library.layout.sidecar("pending", FIRST).write_text('{"token_name": "cut sho')
    library = reopen()
    assert library.get(FIRST).name == "Coin 0"
    assert len(library.status().faults) == 1
    assert f"{FIRST}.json: it is not JSON" in library.status().faults[0]
    assert "changed outside" in library.approve([FIRST]).refused[0].reason
    assert library.approve([SECOND]).done == [SECOND]
    library.layout.sidecar("pending", FIRST).write_text(json.dumps(library.get(FIRST).sidecar))
    library = reopen()
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
def test_a_library_with_invalid_files_opens_and_reports_them(
    library: Library, reopen: Callable[[], Library], spoil: Callable[[Path], None], reason: str
) -> None:
    library.add([coin(0), coin(2)])
    spoil(library.layout.sidecar("pending", FIRST))
    library = reopen()
    assert reason in library.status().faults[0]
    assert library.get(FIRST).name == "Coin 0"
    assert library.approve([FIRST, THIRD]).done == [THIRD]
    assert not library.status().stuck


def test_only_the_facets_edited_by_hand_are_embedded_again(
    library: Library, reopen: Callable[[], Library], embedder: Hashed
) -> None:
    library.promote(approved_with_caption(library, 0, 1))
    with library.catalog.writing() as db:
        db.execute("DELETE FROM chroma_queue")  # as if Chroma were up to date
    requests = embedder.requests
    caption = {**written("text 0"), "visual": "repainted by hand", "emotions": "new"}
    edit(library.layout.sidecar("library", FIRST), caption=caption, tags=["moon"])
    library = reopen()
    assert embedder.requests == requests + 2
    assert library.search(Query((Part(text="repainted by hand"),))).hits[0].address == FIRST
    assert contents(library).waiting == {FIRST}
    assert not library.catalog.meta("chroma_rebuild"), "for one record not all of Chroma is rebuilt"
    holds(library)


def test_a_file_in_place_of_a_tier_folder_removes_no_records(
    library: Library, reopen: Callable[[], Library]
) -> None:
    library.add([coin(0), coin(1), coin(2)])
    library.approve([THIRD])
    folder, away = library.layout.sidecar_folder("pending"), library.layout.root / "away"
    library.close()
    folder.rename(away)
    folder.write_text("not a folder")

    library = reopen()

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
    library = reopen()
    assert library.approve([FIRST]).done == [FIRST]
    assert doctor.check(library) == []


def test_records_of_a_missing_folder_are_removed_only_by_a_repair(
    library: Library, reopen: Callable[[], Library]
) -> None:
    library.add([coin(0), coin(1)])
    library.approve([SECOND])
    library.close()
    shutil.rmtree(library.layout.sidecar_folder("pending"))
    library = reopen()
    assert library.counts()["pending"] == 1
    assert library.approve([FIRST]).refused, "nothing is decided about what is not there"
    doctor.repair(library)
    assert library.counts()["pending"] == 0
    assert library.history(address=FIRST)[0].verb == "remove"


@pytest.mark.parametrize("is_silent", [True, False], ids=["looks untouched", "with a new time"])
def test_a_damaged_picture_that_still_decodes_is_no_edit(is_silent: bool, library: Library) -> None:
    library.add([coin(0)])
    path = library.layout.image("pending", FIRST)
    written, stat, before = path.read_bytes(), path.stat(), library.get(FIRST)
    damaged = written[:-40] + bytes([written[-40] ^ 1]) + written[-39:]
    path.write_bytes(damaged)
    if is_silent:
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert decode(path)
    for found in (doctor.check(library), doctor.repair(library), doctor.repair(library)):
        [finding] = [one for one in found if one.address == FIRST]
        assert "its picture in pending" in finding.what
        assert "backup" in finding.remedy
    assert library.get(FIRST).image_hash == before.image_hash
    assert [event.verb for event in library.history(address=FIRST)] == ["import"]
    assert path.read_bytes() == damaged, "which a person may want to see"
    path.write_bytes(written)
    assert not [one for one in doctor.repair(library) if one.address == FIRST]


def test_a_damaged_picture_is_put_back_from_the_shared_ones(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add([coin(0)])
    path = library.layout.image("pending", FIRST)
    written = path.read_bytes()
    monkeypatch.setenv("MEMEDEX_PICTURES", str(tmp_path / "pictures"))
    settings.cache_clear()
    shared_pictures(library.layout).write(content_hash(written), written)
    damaged = written[:-40] + bytes([written[-40] ^ 1]) + written[-39:]
    path.write_bytes(damaged)
    found = doctor.repair(library)
    settings.cache_clear()
    assert not [one for one in found if one.address == FIRST]
    assert path.read_bytes() == written
    [kept] = library.layout.set_aside.iterdir()
    assert kept.read_bytes() == damaged


def test_a_sidecar_that_decayed_unseen_is_written_again_from_the_catalog(library: Library) -> None:
    library.add([coin(0)])
    path = library.layout.sidecar("pending", FIRST)
    written, stat = path.read_bytes(), path.stat()
    path.write_bytes(written.replace(b"Coin 0", b"Coin 8"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert not [one for one in doctor.repair(library) if one.address == FIRST]
    assert path.read_bytes() == written
    assert [event.verb for event in library.history(address=FIRST)] == ["import"]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Every library is a large one, and its files are compared once this is set."""
    is_open, compare = threading.Event(), reconcile.reconcile

    def after_the_gate(*given: object, **named: object) -> object:
        is_open.wait()
        return compare(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(differences, "LARGE", 0)
    monkeypatch.setattr(reconcile, "reconcile", after_the_gate)
    yield is_open
    is_open.set()


@pytest.fixture
def opened(library: Library, root: Path, embedder: Hashed) -> Callable[[], Library]:
    """A function that opens the library as a dashboard does."""
    return partial(open_library, root, embedder=embedder, files_later=True)


def compared(library: Library) -> Library:
    assert eventually(lambda: library.status().comparing is None)
    return library


def test_it_is_open_before_its_files_are_compared_and_says_so(
    library: Library, opened: Callable[[], Library], gate: threading.Event
) -> None:
    library.add([coin(0), coin(1), coin(2)])
    library.close()
    layout = library.layout
    edit(layout.sidecar("pending", FIRST), token_name="By Hand")
    layout.sidecar("pending", SECOND).unlink()
    layout.image("pending", SECOND).unlink()
    layout.sidecar("pending", THIRD).write_text("[]")

    library = opened()
    assert library.status().comparing is not None
    assert library.get(FIRST).name == "Coin 0"
    gate.set()

    assert compared(library).get(FIRST).name == "By Hand"
    assert sorted(library.addresses(Filter())) == [FIRST, THIRD]
    assert {event.address: event.verb for event in library.history(limit=2)} == {
        FIRST: "change",
        SECOND: "remove",
    }
    assert "not a JSON object" in library.status().faults[0]


def test_nothing_is_decided_about_a_coin_whose_changes_were_not_found_yet(
    library: Library, opened: Callable[[], Library], gate: threading.Event
) -> None:
    library.add([coin(0), coin(1)])
    library.close()
    sidecar = library.layout.sidecar("pending", FIRST)
    edit(sidecar, token_name="By Hand")
    written_by_hand = sidecar.read_text()

    library = opened()
    outcome = library.approve([FIRST, SECOND])
    assert outcome.done == [SECOND]
    assert "changed outside" in outcome.refused[0].reason
    assert sidecar.read_text() == written_by_hand
    assert (library.get(FIRST).name, library.get(FIRST).tier) == ("By Hand", "pending"), "found at once"
    assert library.approve([FIRST]).done == [FIRST]
    gate.set()
    holds(compared(library))


def test_an_edited_caption_of_the_library_is_embedded_once_it_is_found(
    library: Library, opened: Callable[[], Library], gate: threading.Event
) -> None:
    library.promote(approved_with_caption(library, 0, 1))
    library.close()
    edit(library.layout.sidecar("library", FIRST), caption=written("by hand"))
    gate.set()
    library = compared(opened())
    assert library.get(FIRST).caption["entity"] == "by hand entity"
    assert eventually(lambda: "entity" in library.embedded_facets(FIRST))


def test_a_picture_replaced_outside_is_not_embedded_under_the_old_ones_name(
    library: Library, opened: Callable[[], Library], gate: threading.Event, embedder: Hashed
) -> None:
    approved_with_caption(library, 0, 1)
    library.close()
    library.layout.image("approved", FIRST).write_bytes(normal_picture(7))
    library = opened()
    requests = embedder.requests
    assert library.promote([FIRST]).refused
    assert embedder.requests == requests, "nothing of it was computed"
    assert library.promote([SECOND]).done == [SECOND]


def test_closed_in_the_middle_it_is_compared_by_the_next_opening(
    library: Library, opened: Callable[[], Library], gate: threading.Event
) -> None:
    library.add([coin(0)])
    library.close()
    edit(library.layout.sidecar("pending", FIRST), token_name="By Hand")
    library = opened()
    assert isinstance(library, LibraryRuntime)
    assert library._comparison
    library._comparison.worker._progress.cancel()
    gate.set()
    library.close()
    assert compared(opened()).get(FIRST).name == "By Hand"


def test_a_small_library_is_compared_while_it_opens(library: Library, opened: Callable[[], Library]) -> None:
    library.add([coin(0)])
    library.close()
    edit(library.layout.sidecar("pending", FIRST), token_name="By Hand")
    library = opened()
    assert library.status().comparing is None
    assert library.get(FIRST).name == "By Hand"


def test_a_decision_looks_at_the_files_of_its_own_coins_alone(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add([coin(0), coin(1)])
    for one in (FIRST, SECOND):
        edit(library.layout.sidecar("pending", one), token_name="By Hand")

    def all_of_them(*_: object, **__: object) -> object:
        raise AssertionError("compared all files")

    monkeypatch.setattr(reconcile, "find_suspects", all_of_them)
    assert library.approve([FIRST]).refused
    assert [library.get(one).name for one in (FIRST, SECOND)] == ["By Hand", "Coin 1"]
