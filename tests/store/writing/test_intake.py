"""Import: normalised pictures, known coins, spellings of addresses, and dates."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.catalog.filter_syntax import parsed
from store.catalog.filters import Filter
from store.importing.candidate import Candidate
from store.importing.metadata import sidecar_of
from store.library import Library
from store.outcome import Refusal
from store.progress import Progress
from store.records import MAX_SIDECAR_BYTES, ORIGINAL, sidecar_bytes
from store.writing import intake, transitions
from tests.store.conftest import CREATED_AT, address, coin, normal_picture, picture
from tests.store.invariants import holds

FIRST, SECOND, THIRD = address(0), address(1), address(2)


pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations of four and five records instead of the usual limits of 64 and 256."""
    monkeypatch.setattr(transitions, "EMBEDDED", 4)
    monkeypatch.setattr(transitions, "OPERATION", 5)


def test_import_writes_a_sidecar_and_a_normalised_picture_to_pending(library: Library) -> None:
    report = library.add([Candidate("one", {**coin(0).sidecar, "extra": {"kept": [1]}}, picture(0))])
    assert report.done == [FIRST]
    assert json.loads(library.layout.sidecar("pending", FIRST).read_text()) == {
        "token_name": "Coin 0",
        "ticker": "C0",
        "description": "The coin number 0.",
        "token_address": FIRST,
        "created_at": CREATED_AT,
        "tags": ["dog"],
        "tags_categories": ["animals"],
        "extra": {"kept": [1]},
        "original_picture": {"bytes": len(picture(0)), "format": "PNG", "width": 24, "height": 24},
    }
    assert library.layout.image("pending", FIRST).read_bytes() == normal_picture(0)
    holds(library)


def test_importing_again_adds_only_new_coins(library: Library) -> None:
    library.add([coin(0), coin(1)])
    library.approve([FIRST])
    report = library.add([coin(0, token_name="Another"), coin(1), coin(1), coin(2)])
    assert report.done == [THIRD]
    assert report.present == {FIRST: "approved", SECOND: "pending"}
    assert library.get(FIRST).name == "Coin 0"
    assert [event.verb for event in library.history(address=FIRST)] == ["approve", "import"]


def test_import_recognises_coins_in_the_trash(library: Library) -> None:
    library.add([coin(0)])
    library.reject([FIRST])
    assert library.add([coin(0)]).present == {FIRST: "trash"}
    assert library.counts()["trash"] == 1


def test_import_adds_valid_coins_and_reports_invalid_ones(library: Library) -> None:
    report = library.add(
        [
            coin(0),
            Candidate("no address", {"token_name": "x", "token_address": "../../etc/passwd"}, picture(1)),
            Candidate("no picture", coin(1).sidecar, b"this is text"),
            Candidate("no name", {"token_address": address(3)}, picture(1)),
            Candidate("too long", {**coin(4).sidecar, "token_name": "x" * 10_000_000}, picture(1)),
            Refusal("unreadable", "was refused before"),
            coin(2),
        ]
    )
    assert report.done == [FIRST, THIRD]
    assert {refusal.item for refusal in report.refused} == {
        "no address",
        "no picture",
        "no name",
        "too long",
        "unreadable",
    }
    assert all(refusal.reason for refusal in report.refused)
    holds(library)


def test_import_accepts_a_valid_duplicate_after_an_invalid_one(library: Library) -> None:
    good = coin(0)
    report = library.add([Candidate("spoilt", good.sidecar, b"spoilt"), good, good])
    assert report.done == [FIRST]
    assert report.present == {FIRST: "pending"}
    assert [refusal.item for refusal in report.refused] == ["spoilt"]


def test_import_refuses_an_address_that_differs_only_in_case(library: Library) -> None:
    library.add([coin(0)])
    later = library.add([coin(0, token_address=FIRST.replace("x", "X"))])
    at_once = library.add([coin(3), coin(3, token_address=address(3).replace("x", "X"))])
    for report in (later, at_once):
        assert "only in upper and lower case" in report.refused[0].reason
    assert library.counts()["pending"] == 2


def test_import_writes_evm_addresses_in_lower_case(library: Library) -> None:
    assert library.add([coin(1, token_address=SECOND.upper().replace("0X", "0x"))]).done == [SECOND]


def test_import_dates_an_undated_coin_with_the_import_time(library: Library) -> None:
    sidecar = {key: value for key, value in coin(0).sidecar.items() if key != "created_at"}
    report = library.add([Candidate("undated", sidecar, picture(0))])
    assert library.get(FIRST).created_at > CREATED_AT
    assert library.get(FIRST).sidecar["created_at_is_import_time"] is True
    assert report.undated == 1


def test_a_coin_whose_date_cannot_be_read_counts_among_those_with_the_import_time(library: Library) -> None:
    sidecar = {**coin(0).sidecar, "created_at": "05/01/2024"}
    report = library.add([Candidate("american", sidecar_of(sidecar), picture(0))])
    assert library.get(FIRST).sidecar["created_at_is_import_time"] is True
    assert report.undated == 1
    assert report.notes == [
        "american: created_at “05/01/2024” is no date that can be read; it is kept as created_at_given",
        "1 without a date that can be read: they have the time of import",
    ]


class CancelledAfterFive(Progress):
    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "done" and self.done >= 5:
            self.cancel()


def test_a_cancelled_import_keeps_the_coins_added_so_far(library: Library, small_batches: None) -> None:
    progress = CancelledAfterFive()
    assert len(library.add(map(coin, range(10)), progress=progress).done) == progress.done == 8
    assert len(library.addresses(Filter(tier="pending"))) == 8


def test_the_size_of_a_picture_as_it_came_filters_and_orders_coins(library: Library) -> None:
    library.add([Candidate("small", coin(0).sidecar, picture(0)), coin(1)])
    assert [one.address for one in library.find(parsed("width:<64 height:<64 bytes:<1k").filter)] == [FIRST]
    assert library.find(parsed("width:>=64").filter) == []
    assert list(library.number_orders()) == ["bytes", "height", "width"]
    assert ORIGINAL not in library.get(SECOND).sidecar  # a picture as the library stores it tells nothing
    again = {**library.get(FIRST).sidecar, "token_address": THIRD}
    library.add([Candidate("moved", again, normal_picture(0))])  # as an export of another library has it
    assert library.get(THIRD).sidecar[ORIGINAL] == library.get(FIRST).sidecar[ORIGINAL]


def test_a_sidecar_without_room_keeps_its_own_fields_and_no_size(library: Library) -> None:
    full = {**coin(0).sidecar, "extra": ""}
    room = MAX_SIDECAR_BYTES - len(sidecar_bytes({**full, "tags_categories": ["animals"]}))
    library.add([Candidate("full", {**full, "extra": "x" * (room - 8)}, picture(0))])
    assert ORIGINAL not in library.get(FIRST).sidecar


def test_pictures_of_coins_that_exist_are_not_converted_again(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(map(coin, range(3)))
    converted: list[bytes | Path] = []
    convert = intake.with_original
    monkeypatch.setattr(
        intake, "with_original", lambda picture: converted.append(picture) or convert(picture)
    )
    report = library.add(map(coin, range(4)))
    assert (len(report.present), len(report.done)) == (3, 1)
    assert converted == [coin(3).picture]


def test_an_import_that_fails_while_it_is_read_keeps_earlier_batches(
    library: Library, small_batches: None
) -> None:
    def coins() -> Iterator[Candidate]:
        yield from map(coin, range(60))
        raise RuntimeError("the folder is gone")

    with pytest.raises(RuntimeError, match="gone"):
        library.add(coins())
    assert library.counts()["pending"] == 60


@pytest.mark.parametrize(
    "spelling", ["\ud800x", "a\0b", "x" * 100_000, 7], ids=["unpaired surrogate", "zero", "long", "number"]
)
def test_an_impossible_address_is_refused_alone(library: Library, spelling: object) -> None:
    report = library.add([coin(1), coin(2, token_address=spelling), coin(3)])
    assert report.done == [address(1), address(3)]
    assert len(report.refused) == 1
