"""Which records look alike, and that this stays correct when records change."""

import sqlite3
import threading
from pathlib import Path

import pytest
from PIL import ImageOps

from store.catalog import catalog
from store.catalog.catalog import VERSION
from store.catalog.filters import Filter
from store.duplicates import examiner, findings
from store.library import Library
from store.progress import Progress
from store.reading.reader import Reader
from store.runtime import open_library, open_reader
from tests.store.conftest import address
from tests.store.duplicates.copies import COPIES, coin_with_drawing, drawing
from tests.store.hashed import Hashed

FIRST, SECOND, THIRD = address(0), address(1), address(2)

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def three_coins(library: Library) -> Library:
    """A library of unrelated coins."""
    library.add(coin_with_drawing(number) for number in range(3))
    library.duplicates.examine()
    return library


def matches_of(library: Reader, one: str) -> dict[str, list[str]]:
    """How a record matches others, by the address of the other record."""
    return {
        suspect.other: [finding.kind for finding in suspect.findings]
        for suspect in library.duplicates.of(one)
    }


def badges(library: Reader) -> dict[str, str]:
    """The badge of every suspicious record."""
    everybody = library.addresses(Filter())
    return {one: badge.kind for one, badge in library.duplicates.suspicions(everybody).items()}


def test_unrelated_coins_have_no_badge(three_coins: Library) -> None:
    assert badges(three_coins) == {}
    assert all(matches_of(three_coins, one) == {} for one in (FIRST, SECOND, THIRD))
    assert three_coins.duplicates.unexamined() == 0


def test_the_same_picture_under_another_address_is_reported_for_both_records(three_coins: Library) -> None:
    three_coins.add([coin_with_drawing(3, drawing(0))])
    three_coins.duplicates.examine()
    assert matches_of(three_coins, address(3)) == {FIRST: ["exact picture"]}
    assert badges(three_coins) == {FIRST: "exact picture", address(3): "exact picture"}
    (suspect,) = three_coins.duplicates.of(FIRST)
    assert (suspect.other, suspect.name, suspect.tier, suspect.confidence) == (
        address(3),
        "Coin 3",
        "pending",
        1.0,
    )


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_of_a_rejected_coin_is_recognised(three_coins: Library, name: str) -> None:
    three_coins.reject([FIRST], reason="a scam")
    three_coins.add([coin_with_drawing(3, COPIES[name](drawing(0)))])
    three_coins.duplicates.examine()
    (suspect,) = three_coins.duplicates.of(address(3))
    assert (suspect.other, suspect.tier) == (FIRST, "trash")
    assert [finding.kind for finding in suspect.findings] == ["near picture"]
    assert 0.6 <= suspect.confidence < 1


def test_a_mirrored_picture_is_reported_as_mirrored(three_coins: Library) -> None:
    three_coins.add([coin_with_drawing(3, ImageOps.mirror(drawing(0)))])
    three_coins.duplicates.examine()
    assert matches_of(three_coins, address(3)) == {FIRST: ["mirrored"]}
    assert matches_of(three_coins, FIRST) == {address(3): ["mirrored"]}


@pytest.mark.parametrize(
    ("name", "ticker", "expected"),
    [
        ("coin 0", "X", ["same name"]),
        ("C0in O", "X", ["confusable name"]),
        ("Another", "$c0", ["same ticker"]),
        ("Another", "СO", ["confusable ticker"]),  # the first letter is Cyrillic
        ("Coin 0", "C0", ["same name", "same ticker"]),
    ],
)
def test_the_same_or_a_confusable_name_or_ticker_is_reported(
    three_coins: Library, name: str, ticker: str, expected: list[str]
) -> None:
    three_coins.add([coin_with_drawing(3, token_name=name, ticker=ticker)])
    three_coins.duplicates.examine()
    assert matches_of(three_coins, address(3)) == {FIRST: expected}
    assert badges(three_coins) == {FIRST: expected[0], address(3): expected[0]}


def test_two_matches_give_a_higher_confidence_than_either_alone(three_coins: Library) -> None:
    three_coins.add([coin_with_drawing(3, token_name="Coin 0", ticker="C0")])
    (suspect,) = three_coins.duplicates.of(address(3))
    assert max(finding.confidence for finding in suspect.findings) < suspect.confidence < 1


def test_duplicates_of_a_coin_are_found_before_it_is_examined(three_coins: Library) -> None:
    three_coins.add([coin_with_drawing(3, COPIES["with text"](drawing(0)))])
    assert three_coins.duplicates.unexamined() == 1
    assert matches_of(three_coins, address(3)) == {FIRST: ["near picture"]}


def test_records_can_be_filtered_and_ordered_by_suspicion(three_coins: Library) -> None:
    three_coins.add([coin_with_drawing(3, drawing(0)), coin_with_drawing(4, ticker="C1")])
    three_coins.duplicates.examine()
    order = [record.address for record in three_coins.find(Filter(), sort="suspicious")]
    assert set(order[:2]) == {FIRST, address(3)}
    assert set(order[2:4]) == {SECOND, address(4)}
    assert order[4:] == [THIRD]
    assert three_coins.addresses(Filter(suspicious=False)) == [THIRD]
    assert three_coins.count(Filter(tier="pending", suspicious=True)) == 4


def test_moving_a_record_keeps_its_duplicates_without_a_new_comparison(three_coins: Library) -> None:
    three_coins.add([coin_with_drawing(3, drawing(0))])
    three_coins.duplicates.examine()
    before = badges(three_coins)
    three_coins.approve([FIRST, address(3)])
    three_coins.delete([FIRST])
    assert three_coins.duplicates.unexamined() == 0
    assert badges(three_coins) == before


def test_a_removed_record_is_no_longer_a_duplicate(three_coins: Library, embedder: Hashed) -> None:
    three_coins.add([coin_with_drawing(3, drawing(0))])
    three_coins.duplicates.examine()
    for path in (three_coins.layout.sidecar("pending", FIRST), three_coins.layout.image("pending", FIRST)):
        path.unlink()
    three_coins.apply_external_edits()
    three_coins.duplicates.examine()
    assert badges(three_coins) == {}
    assert matches_of(three_coins, address(3)) == {}


def test_a_record_renamed_outside_the_program_is_compared_again(three_coins: Library) -> None:
    three_coins.add([coin_with_drawing(3, token_name="Coin 0")])
    three_coins.duplicates.examine()
    assert set(badges(three_coins)) == {FIRST, address(3)}
    sidecar = three_coins.layout.sidecar("pending", address(3))
    sidecar.write_text(sidecar.read_text().replace("Coin 0", "Quite another name"))
    three_coins.apply_external_edits()
    three_coins.duplicates.examine()
    assert badges(three_coins) == {}


def test_a_cancelled_examination_continues_later(library: Library) -> None:
    library.add(coin_with_drawing(number, drawing(0)) for number in range(20))
    progress = Progress()
    progress.cancel()
    assert library.duplicates.examine(progress=progress) == 0
    assert library.duplicates.unexamined() == 20
    assert library.duplicates.examine() == 20
    assert len(badges(library)) == 20
    assert library.duplicates.examine() == 0


def test_new_coins_are_compared_automatically_in_the_background(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()
    examine = examiner.Examiner.examine

    def told(self: examiner.Examiner, *, progress: Progress | None = None) -> int:
        found = examine(self, progress=progress)
        if not library.duplicates.unexamined() and library.count(Filter()) == 2:
            done.set()
        return found

    monkeypatch.setattr(examiner.Examiner, "examine", told)
    library.watch_for_duplicates()
    library.add([coin_with_drawing(0)])
    library.add([coin_with_drawing(1, drawing(0))])
    assert done.wait(60)
    assert set(badges(library)) == {FIRST, SECOND}


def test_a_reader_sees_the_same_duplicates_as_the_writer(three_coins: Library) -> None:
    three_coins.add([coin_with_drawing(3, drawing(0))])
    three_coins.duplicates.examine()
    with Reader(three_coins.layout.root, embedder=Hashed()) as reader:
        assert badges(reader) == badges(three_coins)
        assert matches_of(reader, FIRST) == matches_of(three_coins, FIRST)


def test_a_new_comparison_scheme_compares_every_record_again(
    three_coins: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_coins.add([coin_with_drawing(3, drawing(0))])
    three_coins.duplicates.examine()
    before = badges(three_coins)
    monkeypatch.setattr(examiner, "SCHEME", "another")
    assert three_coins.duplicates.examine() == 4
    assert badges(three_coins) == before


def test_matches_of_a_common_ticker_are_limited(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "MOST", 5)
    library.add(coin_with_drawing(number, ticker="PEPE") for number in range(8))
    library.duplicates.examine()
    assert set(badges(library).values()) == {"same ticker"}
    assert len(library.duplicates.of(FIRST)) == 5


# -- catalogs of earlier versions ---------------------------------------------------------------------------


@pytest.fixture
def old_root(three_coins: Library) -> Path:
    """The root of a library with a catalog of version 1."""
    three_coins.add([coin_with_drawing(3, drawing(0))])
    three_coins.approve([FIRST], actor="ann")
    three_coins.close()
    path = three_coins.layout.catalog
    made = path.with_name("new.sqlite3")
    path.rename(made)
    with sqlite3.connect(path) as db:
        db.executescript((Path(__file__).parent.parent / "catalog" / "catalog-v1.sql").read_text())
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        db.execute("ATTACH ? AS new", [str(made)])
        for table in tables:
            if not table.startswith("words"):
                db.execute(f"INSERT INTO {table} SELECT * FROM new.{table}")
        db.execute(
            "INSERT INTO words (rowid, name, ticker, description, caption) "
            "SELECT rowid, name, ticker, description, caption FROM new.words"
        )
        db.execute("DELETE FROM meta WHERE key = 'duplicates'")
    db.close()
    made.unlink()
    return three_coins.layout.root


def test_an_older_catalog_is_migrated_and_keeps_its_content(old_root: Path) -> None:
    with open_library(old_root, embedder=Hashed()) as library:
        assert library.counts() == {"pending": 3, "approved": 1, "library": 0, "trash": 0}
        assert [decision.verb for decision in library.decisions()] == ["approve", "import", "import"]
        assert library.duplicates.examine() == 4
        assert badges(library) == {FIRST: "exact picture", address(3): "exact picture"}
        library.undo(actor="ann")
        assert library.get(FIRST).tier == "pending"
        with library.catalog.reading() as db:
            assert db.execute("PRAGMA user_version").fetchone()[0] == VERSION


def test_an_older_catalog_is_also_migrated_when_opened_for_reading(old_root: Path) -> None:
    with open_reader(old_root, embedder=Hashed()) as reader:
        assert matches_of(reader, FIRST) == {}  # nobody has compared them yet
        assert reader.duplicates.suspicions([FIRST]) == {}


def test_an_interrupted_migration_is_repeated(old_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = catalog._VERSIONS
    monkeypatch.setattr(catalog, "_VERSIONS", (*catalog._VERSIONS[:1], catalog._VERSIONS[1] + "no SQL;\n"))
    with pytest.raises(sqlite3.OperationalError):
        open_library(old_root, embedder=Hashed())
    monkeypatch.setattr(catalog, "_VERSIONS", whole)
    with open_library(old_root, embedder=Hashed()) as library:
        assert library.duplicates.examine() == 4


def test_an_examination_notifies_open_pages_at_intervals_and_at_its_end(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examiner, "_BATCH", 1)
    library.add([*(coin_with_drawing(number) for number in range(39)), coin_with_drawing(39, drawing(0))])
    seconds = iter(range(1_000))
    library.duplicates._examiner._clock = lambda: float(next(seconds))
    generation, told = library.generation, library.derived
    assert library.duplicates.examine() == 40
    assert library.generation == generation, "the records are as they were"
    assert 1 <= library.derived - told <= 6
    assert badges(library) == {FIRST: "exact picture", address(39): "exact picture"}
    library.duplicates.examine()
    told = library.derived
    library.duplicates.examine()
    assert library.derived == told, "nothing new was found"
