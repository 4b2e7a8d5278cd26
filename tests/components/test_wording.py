"""Numbers, times and strangers' words on the page."""

import pytest

from components import wording


@pytest.mark.parametrize(
    "text",
    ["![x](http://evil.example)", "<b>", ":red[x]", "$x^2$", "`code`", "**bold**", ":material/home:", "a_b_"],
)
def test_every_sign_that_markdown_knows_is_escaped(text: str) -> None:
    escaped = wording.plain(text)
    assert escaped.replace("\\", "") == text
    bare = escaped.replace("\\\\", "")
    assert all(bare[at - 1] == "\\" for at, sign in enumerate(bare) if sign in "!<>[]()*_`:$#~")


def test_a_strangers_text_stays_on_one_line_and_within_its_limit() -> None:
    assert wording.plain("one\n\n# two") == "one \\# two"
    assert len(wording.plain("x" * 10_000, limit=50)) == 50


def test_every_script_passes_unchanged() -> None:
    assert wording.plain("柴犬 шиба 🐕 شيبا") == "柴犬 шиба 🐕 شيبا"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "just now"), (59, "just now"), (300, "5 min ago"), (3_600, "1 hour ago"), (90_000, "1 day ago")],
)
def test_times_are_told_as_people_do(seconds: int, said: str) -> None:
    assert wording.ago(1_000_000 - seconds, now=1_000_000) == said


def test_counts_and_sizes() -> None:
    assert [wording.counted(number, "coin") for number in (0, 1, 2_300)] == [
        "0 coins",
        "1 coin",
        "2,300 coins",
    ]
    assert [wording.size(number) for number in (12, 1_500, 2_500_000)] == ["12 bytes", "1.5 kB", "2.5 MB"]
