"""Who looks like whom in a library, and that it stays true whatever happens to the records."""

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
from tests.store.duplicates.copies import COPIES, drawing, drawn
from tests.store.hashed import Hashed

FIRST, SECOND, THIRD = address(0), address(1), address(2)

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def three(library: Library) -> Library:
    """Three coins that have nothing in common."""
    library.add(drawn(number) for number in range(3))
    library.duplicates.examine()
    return library


def shared(library: Reader, one: str) -> dict[str, list[str]]:
    """What a record shares with each other one."""
    return {
        suspect.other: [finding.kind for finding in suspect.findings]
        for suspect in library.duplicates.of(one)
    }


def kinds(library: Reader) -> dict[str, str]:
    """Every badge there is."""
    everybody = library.addresses(Filter())
    return {one: badge.kind for one, badge in library.duplicates.suspicions(everybody).items()}


def test_coins_that_have_nothing_in_common_have_no_badge(three: Library) -> None:
    assert kinds(three) == {}
    assert all(shared(three, one) == {} for one in (FIRST, SECOND, THIRD))
    assert three.duplicates.unexamined() == 0


def test_the_same_picture_under_another_address_is_told_of_both(three: Library) -> None:
    three.add([drawn(3, drawing(0))])
    three.duplicates.examine()
    assert shared(three, address(3)) == {FIRST: ["exact picture"]}
    assert kinds(three) == {FIRST: "exact picture", address(3): "exact picture"}
    (suspect,) = three.duplicates.of(FIRST)
    assert (suspect.other, suspect.name, suspect.tier, suspect.confidence) == (
        address(3),
        "Coin 3",
        "pending",
        1.0,
    )


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_of_a_rejected_coin_is_recognised(three: Library, name: str) -> None:
    three.reject([FIRST], reason="a scam")
    three.add([drawn(3, COPIES[name](drawing(0)))])
    three.duplicates.examine()
    (suspect,) = three.duplicates.of(address(3))
    assert (suspect.other, suspect.tier) == (FIRST, "trash")
    assert [finding.kind for finding in suspect.findings] == ["near picture"]
    assert 0.6 <= suspect.confidence < 1


def test_a_mirrored_picture_is_told_as_mirrored(three: Library) -> None:
    three.add([drawn(3, ImageOps.mirror(drawing(0)))])
    three.duplicates.examine()
    assert shared(three, address(3)) == {FIRST: ["mirrored"]}
    assert shared(three, FIRST) == {address(3): ["mirrored"]}


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
def test_the_same_or_a_confusable_name_or_ticker(
    three: Library, name: str, ticker: str, expected: list[str]
) -> None:
    three.add([drawn(3, token_name=name, ticker=ticker)])
    three.duplicates.examine()
    assert shared(three, address(3)) == {FIRST: expected}
    assert kinds(three) == {FIRST: expected[0], address(3): expected[0]}


def test_what_agrees_in_two_ways_is_surer_than_each(three: Library) -> None:
    three.add([drawn(3, token_name="Coin 0", ticker="C0")])
    (suspect,) = three.duplicates.of(address(3))
    assert max(finding.confidence for finding in suspect.findings) < suspect.confidence < 1


def test_before_anybody_compared_it_a_coins_own_duplicates_are_found_all_the_same(three: Library) -> None:
    three.add([drawn(3, COPIES["with text"](drawing(0)))])
    assert three.duplicates.unexamined() == 1
    assert shared(three, address(3)) == {FIRST: ["near picture"]}


def test_records_can_be_filtered_and_ordered_by_suspicion(three: Library) -> None:
    three.add([drawn(3, drawing(0)), drawn(4, ticker="C1")])
    three.duplicates.examine()
    order = [record.address for record in three.find(Filter(), sort="suspicious")]
    assert set(order[:2]) == {FIRST, address(3)}
    assert set(order[2:4]) == {SECOND, address(4)}
    assert order[4:] == [THIRD]
    assert three.addresses(Filter(suspicious=False)) == [THIRD]
    assert three.count(Filter(tier="pending", suspicious=True)) == 4


def test_moving_a_record_changes_nothing_and_needs_no_second_look(three: Library) -> None:
    three.add([drawn(3, drawing(0))])
    three.duplicates.examine()
    before = kinds(three)
    three.approve([FIRST, address(3)])
    three.delete([FIRST])
    assert three.duplicates.unexamined() == 0
    assert kinds(three) == before


def test_a_record_taken_away_is_nobodys_duplicate(three: Library, embedder: Hashed) -> None:
    three.add([drawn(3, drawing(0))])
    three.duplicates.examine()
    for path in (three.layout.sidecar("pending", FIRST), three.layout.image("pending", FIRST)):
        path.unlink()
    three.apply_external_edits()
    three.duplicates.examine()
    assert kinds(three) == {}
    assert shared(three, address(3)) == {}


def test_a_record_renamed_outside_is_compared_anew(three: Library) -> None:
    three.add([drawn(3, token_name="Coin 0")])
    three.duplicates.examine()
    assert set(kinds(three)) == {FIRST, address(3)}
    sidecar = three.layout.sidecar("pending", address(3))
    sidecar.write_text(sidecar.read_text().replace("Coin 0", "Quite another name"))
    three.apply_external_edits()
    three.duplicates.examine()
    assert kinds(three) == {}


def test_cancelled_it_keeps_what_is_done_and_goes_on_later(library: Library) -> None:
    library.add(drawn(number, drawing(0)) for number in range(20))
    progress = Progress()
    progress.cancel()
    assert library.duplicates.examine(progress=progress) == 0
    assert library.duplicates.unexamined() == 20
    assert library.duplicates.examine() == 20
    assert len(kinds(library)) == 20
    assert library.duplicates.examine() == 0


def test_in_the_background_new_coins_are_compared_by_themselves(
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
    library.add([drawn(0)])
    library.add([drawn(1, drawing(0))])
    assert done.wait(60)
    assert set(kinds(library)) == {FIRST, SECOND}


def test_a_reader_beside_the_writer_sees_the_same(three: Library) -> None:
    three.add([drawn(3, drawing(0))])
    three.duplicates.examine()
    with Reader(three.layout.root, embedder=Hashed()) as reader:
        assert kinds(reader) == kinds(three)
        assert shared(reader, FIRST) == shared(three, FIRST)


def test_another_way_of_comparing_compares_everything_anew(
    three: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    three.add([drawn(3, drawing(0))])
    three.duplicates.examine()
    before = kinds(three)
    monkeypatch.setattr(examiner, "SCHEME", "another")
    assert three.duplicates.examine() == 4
    assert kinds(three) == before


def test_of_a_ticker_that_many_use_each_is_told_of_some(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "MOST", 5)
    library.add(drawn(number, ticker="PEPE") for number in range(8))
    library.duplicates.examine()
    assert set(kinds(library).values()) == {"same ticker"}
    assert len(library.duplicates.of(FIRST)) == 5


# -- catalogs of earlier versions ---------------------------------------------------------------------------


@pytest.fixture
def old(three: Library) -> Path:
    """The root of a library whose catalog is of version 1."""
    three.add([drawn(3, drawing(0))])
    three.approve([FIRST], actor="ann")
    three.close()
    path = three.layout.catalog
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
    return three.layout.root


def test_an_older_catalog_is_brought_up_to_date_and_keeps_what_it_says(old: Path) -> None:
    with open_library(old, embedder=Hashed()) as library:
        assert library.counts() == {"pending": 3, "approved": 1, "library": 0, "trash": 0}
        assert [decision.verb for decision in library.decisions()] == ["approve", "import", "import"]
        assert library.duplicates.examine() == 4
        assert kinds(library) == {FIRST: "exact picture", address(3): "exact picture"}
        library.undo(actor="ann")
        assert library.get(FIRST).tier == "pending"
        with library.catalog.reading() as db:
            assert db.execute("PRAGMA user_version").fetchone()[0] == VERSION


def test_opened_for_reading_an_older_catalog_is_brought_up_to_date_as_well(old: Path) -> None:
    with open_reader(old, embedder=Hashed()) as reader:
        assert shared(reader, FIRST) == {}  # nobody has compared them yet
        assert reader.duplicates.suspicions([FIRST]) == {}


def test_a_migration_cut_short_is_done_again(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = catalog._VERSIONS
    monkeypatch.setattr(catalog, "_VERSIONS", (*catalog._VERSIONS[:1], catalog._VERSIONS[1] + "no SQL;\n"))
    with pytest.raises(sqlite3.OperationalError):
        open_library(old, embedder=Hashed())
    monkeypatch.setattr(catalog, "_VERSIONS", whole)
    with open_library(old, embedder=Hashed()) as library:
        assert library.duplicates.examine() == 4


def test_looking_for_copies_tells_open_pages_seconds_apart_and_once_at_its_end(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examiner, "_BATCH", 1)
    library.add([*(drawn(number) for number in range(39)), drawn(39, drawing(0))])
    seconds = iter(range(1_000))
    library.duplicates._examiner._clock = lambda: float(next(seconds))
    generation, told = library.generation, library.derived
    assert library.duplicates.examine() == 40
    assert library.generation == generation, "the records are as they were"
    assert 1 <= library.derived - told <= 6
    assert kinds(library) == {FIRST: "exact picture", address(39): "exact picture"}
    library.duplicates.examine()
    told = library.derived
    library.duplicates.examine()
    assert library.derived == told, "nothing new was found"
