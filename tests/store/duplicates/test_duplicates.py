"""Matches of pictures and names, shown for both records, filtered, ordered and followed."""

import pytest
from PIL import ImageOps

from store.catalog.filters import Filter
from store.duplicates import findings
from store.library import Library
from store.reading.reader import Reader
from tests.store.conftest import address
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
