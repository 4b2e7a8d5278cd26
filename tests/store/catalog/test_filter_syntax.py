"""The filter line does the same as the controls and accepts any text."""

import time
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.catalog.filter_syntax import corrected, edited, parsed, values, written
from store.catalog.filters import FacetLength, Filter
from store.catalog.words import LANGUAGES
from store.library import Library
from store.reading.statistics import rejection_reasons
from store.records import CAPTION_FACETS
from tests.store.conftest import address, coin

LABELS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Z", "C"], exclude_characters='"'),
    min_size=1,
    max_size=12,
)
DAYS = st.dates(date(1971, 1, 1), date(2200, 1, 1)).map(
    lambda day: int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
)
FILTERS = st.builds(
    Filter,
    words=st.lists(st.from_regex(r"\A\w{1,8}\Z")).map(" ".join),
    tags=st.lists(LABELS, unique=True).map(tuple),
    categories=st.lists(LABELS, unique=True).map(tuple),
    without_tags=st.lists(LABELS, unique=True).map(tuple),
    without_categories=st.lists(LABELS, unique=True).map(tuple),
    since=st.none() | DAYS,
    until=st.none() | DAYS.map(lambda moment: moment - 1),
    suspicious=st.none() | st.booleans(),
    language=st.just("") | st.sampled_from(LANGUAGES),
    lengths=st.lists(
        st.builds(
            FacetLength, st.sampled_from(CAPTION_FACETS), st.integers(1, 900), st.none() | st.integers(0, 900)
        ),
        unique_by=lambda each: each.facet,
    ).map(tuple),
    coin_set=st.just("") | st.from_regex(r"\A[0-9a-f]{10}\Z"),
    names=st.lists(LABELS, unique=True).map(tuple),
    comments=st.lists(LABELS.filter(lambda text: not text.endswith("*")), unique=True).map(tuple),
    ticker=st.just("") | LABELS.filter(lambda ticker: not ticker.startswith("$")),
    address=st.just("") | LABELS,
    rejected_for=st.none() | LABELS.filter(lambda reason: reason.lower() != "none"),
)


@given(FILTERS)
def test_every_filter_can_be_formatted_and_parsed_again(filter: Filter) -> None:
    line = parsed(written(filter))
    assert line.filter == filter
    assert not line.faults


def test_a_length_of_one_facet_is_a_range_that_conditions_narrow() -> None:
    line = parsed("length:visual>99 length:visual<120 length:Visual>90 length:>200")
    assert line.filter == Filter(lengths=(FacetLength("visual", 100, 119),), longer=201)
    for wrong in ("length:colour>9", "length:visual", "length:visual120"):
        assert "no length such as" in parsed(wrong).faults[0]


def test_a_set_is_known_by_its_id_alone() -> None:
    assert parsed("set:3F9A0C12BE").filter == Filter(coin_set="3f9a0c12be")
    assert "set:mine is no selection" in parsed("set:mine").faults[0]


def test_a_line_narrows_the_filter_of_the_controls() -> None:
    line = parsed("moon -tag:nsfw TAG:dog before:2025-01 rocket", base=Filter(tier="pending", tags=("cat",)))
    assert line.filter == Filter(
        tier="pending",
        words="moon rocket",
        tags=("cat", "dog"),
        without_tags=("nsfw",),
        until=int(datetime(2025, 1, 1, tzinfo=UTC).timestamp()) - 1,
    )


@pytest.mark.parametrize("line", ["before:soon", "dup:maybe", "size:big", "-size:big", "tag:"])
def test_invalid_conditions_are_reported_and_ignored(line: str) -> None:
    found = parsed(f"{line} moon")
    assert found.filter == Filter(words="moon")
    assert len(found.faults) == 1


@pytest.mark.parametrize(
    ("line", "fault", "better"),
    [
        ("-tagg:dog moon", "Unknown filter 'tagg'. Did you mean tag:?", "-tag:dog moon"),
        ("Catgory:animals", "Unknown filter 'catgory'. Did you mean category:?", "category:animals"),
        ("tag:", "tag: needs a value", "tag:"),
    ],
)
def test_a_mistyped_filter_name_gets_a_suggestion(line: str, fault: str, better: str) -> None:
    assert parsed(line).faults == [fault]
    assert corrected(line) == better


def test_a_valid_tier_condition_gets_no_suggestion() -> None:
    assert corrected("tagg:dog tier:approved") == "tag:dog tier:approved"
    assert corrected("teir:approved", names_tier=True) == "tier:approved"


def test_an_unknown_tag_becomes_the_nearest_known_one() -> None:
    tags = ["dog", "frog", "Pixel art"]
    for line, better in {
        "tag:dgo": "tag:dog",
        "-tag:frgo rain": "-tag:frog rain",
        'tagg:"pixl art"': 'tag:"Pixel art"',
        "tag:DOG tag:fro*": "tag:DOG tag:fro*",
        "tag:spaceship": "tag:spaceship",
    }.items():
        assert corrected(line, tags=tags) == better
    assert parsed("teir:trash").faults == ["Unknown filter 'teir'. Did you mean tier:?"]
    (fault,) = parsed("tier:trash", base=Filter(tier="pending")).faults
    assert "Did you mean" not in fault


@pytest.mark.usefixtures("without_chroma")
def test_rejected_coins_are_found_by_their_last_reason(library: Library) -> None:
    library.add([coin(number) for number in range(5)])
    library.reject([address(0)], reason="scam")
    library.reject([address(1)], reason="copycat")
    library.restore([address(1)])
    library.reject([address(1)], reason="Not a meme")
    library.reject([address(2)])
    library.reject([address(3)], reason="scam")
    library.restore([address(3)])
    library.reject([address(4)], reason="scam")
    library.undo()

    def found(line: str) -> list[str]:
        return library.addresses(parsed(line, base=Filter(tier="trash")).filter)

    assert found("reason:scam") == [address(0)]
    assert found('reason:"not a meme"') == [address(1)]
    assert found("reason:copycat") == []
    assert found("reason:none") == [address(2)]
    assert set(found("-reason:scam")) == {address(1), address(2)}
    assert set(library.addresses(parsed("reason:none OR reason:scam").filter)) == {address(0), address(2)}
    library.redo()
    assert set(found("reason:scam")) == {address(0), address(4)}, "a redone rejection keeps its reason"
    assert rejection_reasons(library, Filter()) == {"scam": 2, "": 1, "Not a meme": 1}
    assert rejection_reasons(library, Filter(tier="pending")) == {}, "a coin there is not rejected"
    assert parsed("reason:").faults == ["reason: needs a value"]


def test_a_control_changes_only_its_part_of_the_line() -> None:
    line = 'tag:dog moon -tag:nsfw tag:"two words" 0x:12'
    assert values(line, "tag") == ["dog", "two words"]
    assert values(line, "-tag") == ["nsfw"]
    assert edited(line, "tag", ["cat", "a b"]) == 'moon -tag:nsfw 0x:12 tag:cat tag:"a b"'
    assert edited(line, "tag", []) == "moon -tag:nsfw 0x:12"
    assert edited("", "dup", ["yes"]) == "dup:yes"


def test_me_means_the_current_user_and_today_starts_at_midnight() -> None:
    criteria = parsed("by:me decided:today source:demo", actor="ann").filter
    assert (criteria.decided_by, criteria.source) == ("ann", "demo")
    assert criteria.decided_since is not None
    assert 0 <= time.time() - criteria.decided_since < 2 * 86_400
    assert parsed(written(criteria)).filter == criteria
    assert parsed("decided:soon").faults == ["decided:soon is neither today nor a date such as 2025-01-31"]


def test_an_unknown_filter_is_answered_with_every_one_that_may_stand_there() -> None:
    assert parsed("zzzz:bar").faults[0].endswith("decided, set, family, comment and tier.")
    assert (
        parsed("zzzz:bar", base=Filter(tier="pending"))
        .faults[0]
        .endswith("by, decided, set, family and comment.")
    )


def test_a_name_a_ticker_and_an_address_find_their_coin(library: Library) -> None:
    library.add(
        [coin(1, token_name="Frog King", ticker="FRG"), coin(2, token_name="King Dog", ticker="FRGX")]
    )
    asked = {
        "name:frog": [address(1)], "name:king ticker:frg": [address(1)], "ticker:$frg": [address(1)],
        "ticker:frg*": [address(1), address(2)],
        f"address:{address(2)}": [address(2)], "-name:frog": [address(2)],
        "name:fro": [address(1)], "ticker:[f]*": [],
    }  # fmt: skip
    for line, found in asked.items():
        assert sorted(library.addresses(parsed(line).filter)) == sorted(found), line
