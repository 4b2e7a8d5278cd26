"""The small line does what the controls do, whatever is typed into it."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.catalog.filter_syntax import corrected, edited, parsed, values, written
from store.catalog.filters import Filter
from store.library import Library
from store.runtime import open_library
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed

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
)


@given(FILTERS)
def test_every_filter_can_be_written_as_a_line_and_read_again(filter: Filter) -> None:
    line = parsed(written(filter))
    assert line.filter == filter
    assert not line.faults


@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from(["tag:", "-", '"', " ", "before:", "2025-13", "x"])).map("".join)
)
def test_nothing_typed_is_an_error(text: str) -> None:
    line = parsed(text, base=Filter(tier="pending"))
    assert line.filter.tier == "pending"


@pytest.mark.usefixtures("without_chroma")
@given(text=st.text(max_size=40))
def test_nothing_typed_breaks_a_list(shared: Library, text: str) -> None:
    assert shared.count(parsed(text).filter) >= 0


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = open_library(tmp_path_factory.mktemp("line"), embedder=Hashed())
    yield library
    library.close()


def test_a_line_narrows_what_the_controls_ask() -> None:
    line = parsed("moon -tag:nsfw TAG:dog before:2025-01 rocket", base=Filter(tier="pending", tags=("cat",)))
    assert line.filter == Filter(
        tier="pending",
        words="moon rocket",
        tags=("cat", "dog"),
        without_tags=("nsfw",),
        until=int(datetime(2025, 1, 1, tzinfo=UTC).timestamp()) - 1,
    )


@pytest.mark.parametrize("line", ["before:soon", "dup:maybe", "size:big", "-size:big", "tag:"])
def test_what_is_not_understood_is_said_and_left_out(line: str) -> None:
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
def test_a_slip_in_a_filter_is_named_with_what_was_meant(line: str, fault: str, better: str) -> None:
    assert parsed(line).faults == [fault]
    assert corrected(line) == better


def test_a_tier_is_no_slip_of_another_word() -> None:
    assert corrected("tagg:dog tier:approved") == "tag:dog tier:approved"
    assert corrected("teir:approved", names_tier=True) == "tier:approved"
    assert parsed("teir:trash").faults == ["Unknown filter 'teir'. Did you mean tier:?"]
    (fault,) = parsed("tier:trash", base=Filter(tier="pending")).faults
    assert "Did you mean" not in fault


@pytest.mark.usefixtures("without_chroma")
def test_a_record_with_an_excluded_tag_does_not_pass(library: Library) -> None:
    library.add([coin(0, tags=["dog", "nsfw"]), coin(1), coin(2, tags=[])])
    assert library.addresses(parsed("tag:dog -tag:nsfw").filter) == [address(1)]
    assert library.addresses(parsed("-category:animals").filter) == [address(2)]


def test_a_control_writes_its_part_of_the_line_and_leaves_the_rest() -> None:
    line = 'tag:dog moon -tag:nsfw tag:"two words" 0x:12'
    assert values(line, "tag") == ["dog", "two words"]
    assert values(line, "-tag") == ["nsfw"]
    assert edited(line, "tag", ["cat", "a b"]) == 'moon -tag:nsfw 0x:12 tag:cat tag:"a b"'
    assert edited(line, "tag", []) == "moon -tag:nsfw 0x:12"
    assert edited("", "dup", ["yes"]) == "dup:yes"


def test_me_is_who_asks_and_today_begins_at_midnight() -> None:
    asked = parsed("by:me decided:today source:demo", actor="ann").filter
    assert (asked.decided_by, asked.source) == ("ann", "demo")
    assert asked.decided_since is not None
    assert 0 <= time.time() - asked.decided_since < 2 * 86_400
    assert parsed(written(asked)).filter == asked
    assert parsed("decided:soon").faults == ["decided:soon is neither today nor a date such as 2025-01-31"]
