"""Matches of pictures and names, and their groups; every picture is compared once it has a vector."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageOps

from store.catalog.filters import Filter
from store.duplicates import findings
from store.duplicates.duplicates import LikenessFinder, groups
from store.library import Library
from store.progress import Progress
from store.reading.reader import Reader
from tests.store.conftest import address, coin
from tests.store.duplicates.copies import COPIES, MEDALS, badges, coin_with_drawing, drawing, matches_of
from tests.store.hashed import Hashed

FIRST, SECOND, THIRD = address(0), address(1), address(2)


pytestmark = pytest.mark.usefixtures("without_chroma")


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


def test_a_reader_sees_the_same_duplicates_as_the_writer(three_coins: Library) -> None:
    three_coins.add([coin_with_drawing(3, drawing(0))])
    three_coins.duplicates.examine()
    with Reader(three_coins.layout.root, embedder=Hashed()) as reader:
        assert badges(reader) == badges(three_coins)
        assert matches_of(reader, FIRST) == matches_of(three_coins, FIRST)


def test_matches_of_a_common_ticker_are_limited(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "MOST", 5)
    library.add(coin_with_drawing(number, ticker="PEPE") for number in range(8))
    library.duplicates.examine()
    assert set(badges(library).values()) == {"same ticker"}
    assert len(library.duplicates.of(FIRST)) == 5


def test_coins_of_one_series_are_not_copies(library: Library) -> None:
    """The rims of both are the same and their fingerprints near; what they show is not."""
    library.add([coin_with_drawing(0, MEDALS[0]), coin_with_drawing(1, MEDALS[1])])
    library.duplicates.examine()
    assert matches_of(library, FIRST) == {}
    assert badges(library) == {}


def test_a_copy_of_one_coin_of_a_series_is_found(library: Library) -> None:
    library.add([coin_with_drawing(0, MEDALS[0]), coin_with_drawing(1, MEDALS[1])])
    library.add([coin_with_drawing(2, COPIES["with text"](MEDALS[0]))])
    assert set(matches_of(library, THIRD)) == {FIRST}  # before it is examined …
    library.duplicates.examine()
    assert set(matches_of(library, THIRD)) == {FIRST}  # … and after
    assert set(badges(library)) == {FIRST, THIRD}


def test_a_doubtful_match_whose_picture_is_away_is_reported(library: Library) -> None:
    library.add([coin_with_drawing(0, MEDALS[0])])
    library.duplicates.examine()
    library.add([coin_with_drawing(1, MEDALS[1])])
    library.picture(FIRST).rename(library.picture(FIRST).with_name("away"))
    library.duplicates.examine()
    assert set(matches_of(library, SECOND)) == {FIRST}


_TABLES = """
CREATE TABLE records (id INTEGER PRIMARY KEY, address TEXT, tier TEXT, image_hash TEXT);
CREATE TABLE lookalikes (picture TEXT, other TEXT, distance INTEGER);
CREATE TABLE verdicts (id INTEGER PRIMARY KEY, first TEXT, second TEXT, after TEXT);
"""  # only the relevant columns, without foreign keys
_PICTURES = "pqrs"
_ADDRESSES = "abcdefgh"
_pairs = {name: st.sampled_from(list(combinations(name, 2))) for name in (_PICTURES, _ADDRESSES)}


@given(
    shown=st.lists(st.sampled_from(_PICTURES), min_size=8, max_size=8),
    alike=st.dictionaries(_pairs[_PICTURES], st.sampled_from([3, 27, 28])),
    message=st.lists(
        st.tuples(_pairs[_ADDRESSES], st.sampled_from(["different", "different", "same", None])), max_size=8
    ),
)
def test_groups_match_a_comparison_of_all_pairs(
    shown: list[str], alike: dict[tuple[str, str], int], message: list[tuple[tuple[str, str], str | None]]
) -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(_TABLES)
    db.executemany(
        "INSERT INTO records (address, tier, image_hash) VALUES (?, 'library', ?)",
        zip(_ADDRESSES, shown, strict=True),
    )
    for (one, other), distance in alike.items():
        db.executemany(
            "INSERT INTO lookalikes VALUES (?, ?, ?)", [(one, other, distance), (other, one, distance)]
        )
    db.executemany(
        "INSERT INTO verdicts (first, second, after) VALUES (?, ?, ?)",
        [(first, second, after) for (first, second), after in message],
    )
    stands = dict(message)  # the last verdict on a pair
    picture = dict(zip(_ADDRESSES, shown, strict=True))
    group = {address: {address} for address in _ADDRESSES}
    for one, other in combinations(_ADDRESSES, 2):
        of = tuple(sorted((picture[one], picture[other])))
        look_alike = of[0] == of[1] or alike.get((of[0], of[1]), 99) <= 27
        standing = stands.get((one, other))
        if standing == "same" or (standing is None and look_alike):
            joined = group[one] | group[other]
            group.update(dict.fromkeys(joined, joined))
    expected = {frozenset(members) for members in group.values() if len(members) > 1}
    found: dict[int, set[str]] = {}
    for member, number in groups(db).items():
        found.setdefault(number, set()).add(member)
    db.close()
    assert {frozenset(members) for members in found.values()} == expected


def test_two_thousand_records_of_one_picture_are_one_group() -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(_TABLES)
    db.executemany(
        "INSERT INTO records (address, tier, image_hash) VALUES (?, 'library', 'p')",
        [(f"coin {number}",) for number in range(2_000)],
    )
    db.execute(
        "INSERT INTO verdicts (first, second, after) SELECT 'coin 1', address, 'different' FROM records "
        "WHERE address <> 'coin 1'"
    )
    db.execute("INSERT INTO verdicts (first, second, after) VALUES ('coin 2', 'coin 3', 'different')")
    found = groups(db)
    db.close()
    assert len(found) == 1_999
    assert set(found.values()) == {0}


class FakePictureIndex:
    """Pictures of which some have a vector; notes which are compared."""

    embedder = Hashed()

    def __init__(self) -> None:
        self.embedded: set[str] = set()
        self.times_read = 0
        self.compared: list[str] = []

    def read(self) -> "FakePictureIndex":
        self.times_read += 1
        return self

    def vector(self, address: str) -> object | None:
        return "a vector" if address in self.embedded else None

    def near_many(self, addresses: Sequence[str], *, least: float) -> dict[str, dict[str, float]]:
        self.compared += addresses
        return {each: {} for each in addresses}


@pytest.fixture
def index() -> FakePictureIndex:
    return FakePictureIndex()


@pytest.fixture
def finder(library: Library, index: FakePictureIndex) -> LikenessFinder:
    pictures: Any = SimpleNamespace(embedder=FakePictureIndex.embedder, index=lambda: index.read())
    confirmation: Any = SimpleNamespace(similar=lambda address, near: near)
    return LikenessFinder(library.catalog, pictures, confirmation)


def test_a_picture_is_compared_once_its_vector_has_come(
    library: Library, finder: LikenessFinder, index: FakePictureIndex
) -> None:
    library.add([coin(0), coin(1)])
    index.embedded = {address(0)}
    assert finder.compare_new(progress=Progress()) == 1
    assert finder.compare_new(progress=Progress()) == 0
    index.embedded.add(address(1))
    assert finder.compare_new(progress=Progress()) == 1
    library.approve([address(0), address(1)])
    assert finder.compare_new(progress=Progress()) == 0
    assert index.compared == [address(0), address(1)]


def test_a_picture_of_two_coins_is_compared_although_the_first_of_them_went_away(
    library: Library, finder: LikenessFinder, index: FakePictureIndex
) -> None:
    first = coin(0)
    library.add([first, replace(coin(1), picture=first.picture)])
    assert finder.compare_new(progress=Progress()) == 0
    gone, left = sorted((address(0), address(1)))
    library.delete([gone])
    library.trash.empty(expected=1)
    index.embedded = {left}
    assert finder.compare_new(progress=Progress()) == 1
    assert index.compared == [left]


def test_no_vector_is_read_where_no_picture_waits(
    library: Library, finder: LikenessFinder, index: FakePictureIndex
) -> None:
    assert finder.compare_new(progress=Progress()) == 0
    assert not index.times_read
    library.add([coin(0)])
    index.embedded = {address(0)}
    assert finder.compare_new(progress=Progress()) == 1
    before = index.times_read
    library.approve([address(0)])
    assert finder.compare_new(progress=Progress()) == 0
    assert index.times_read == before
