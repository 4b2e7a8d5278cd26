"""Formatting of numbers, times and untrusted text."""

import pytest

from components.shell import format


@pytest.mark.parametrize(
    "text",
    ["![x](http://evil.example)", "<b>", ":red[x]", "$x^2$", "`code`", "**bold**", ":material/home:", "a_b_"],
)
def test_every_markdown_character_is_escaped(text: str) -> None:
    escaped = format.plain(text)
    assert escaped.replace("\\", "") == text
    bare = escaped.replace("\\\\", "")
    assert all(bare[at - 1] == "\\" for at, sign in enumerate(bare) if sign in "!<>[]()*_`:$#~")


def test_untrusted_text_stays_on_one_line_and_within_its_limit() -> None:
    assert format.plain("one\n\n# two") == "one \\# two"
    assert len(format.plain("x" * 10_000, limit=50)) == 50


def test_every_writing_system_passes_unchanged() -> None:
    assert format.plain("柴犬 шиба 🐕 شيبا") == "柴犬 шиба 🐕 شيبا"


@pytest.mark.parametrize(
    ("seconds", "message"),
    [(0, "just now"), (59, "just now"), (300, "5 min ago"), (3_600, "1 hour ago"), (90_000, "1 day ago")],
)
def test_past_times_are_formatted_relative_to_now(seconds: int, message: str) -> None:
    assert format.ago(1_000_000 - seconds, now=1_000_000) == message


def test_counts_and_sizes_are_formatted() -> None:
    assert [format.counted(number, "coin") for number in (0, 1, 2_300)] == [
        "0 coins",
        "1 coin",
        "2,300 coins",
    ]
    assert [format.size(number) for number in (12, 1_500, 2_500_000)] == ["12 bytes", "1.5 kB", "2.5 MB"]


def test_a_time_beyond_the_calendar_is_shown_as_a_number() -> None:
    assert format.moment(1_693_440_000) == "2023-08-31"
    assert format.moment(2**53 - 1) == str(2**53 - 1), "the largest that a record may say"


def test_models_have_the_names_of_the_pages() -> None:
    assert format.model("offline") == "Built-in model"
    assert format.model("nearest · offline") == "similar coins"
    assert format.model("nearest · offline · Up · Only") == "similar coin · Up · Only"
    assert format.model("openai/gpt-4o") == "openai/gpt-4o"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        *((0, "0"), (-0.0312, "-0.0312"), (999, "999"), (999.7, "1k")),
        *((1_250_000, "1.25m"), (-7.2e9, "-7.2b"), (1e15, "1,000,000b")),
    ],
)
def test_numbers_are_shortened_to_three_digits(number: float, said: str) -> None:
    assert format.short(number) == said
