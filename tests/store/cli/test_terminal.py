"""Tables of the command line."""

from io import StringIO

import pytest

from store.cli.terminal import print_table
from tests.store.conftest import address

NAME = "Frog of the Mountain King [red]"
HEAD = ("SCORE", "NAME", "ADDRESS", "FROM")
ROW = ("0.812", NAME, address(1), "entity 0.21 context 0.10 image 0.33")


class _Screen(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _clear_tester_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def _lines(stream: StringIO) -> list[str]:
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_columns_stay_aligned_with_wide_and_combining_characters() -> None:
    piped = StringIO()
    print_table(("NAME", "X"), [("犬犬", "|"), ("e\u0301e", "|"), ("abcdef", "|")], piped)
    assert _lines(piped) == ["NAME    X", "犬犬    |", "e\u0301e      |", "abcdef  |"]


def test_a_pipe_gets_the_full_text_on_one_line_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    piped = StringIO()
    print_table(HEAD, [(*ROW[:3], "x" * 300)], piped)
    assert _lines(piped)[1] == f"0.812  {NAME}  {address(1)}  {'x' * 300}"
    assert "\x1b" not in piped.getvalue()


def test_a_terminal_wraps_long_text_between_words_but_not_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    screen = _Screen()
    print_table(HEAD, [ROW], screen)
    assert screen.getvalue().startswith("\x1b[1mSCORE")
    lines = _lines(screen)[1:]
    assert len(lines) > 1
    assert all(len(line) <= 90 for line in lines)
    assert address(1) in lines[0]
    words = " ".join(lines).split()
    assert sorted(words) == sorted(" ".join(ROW).split())


def test_a_terminal_too_narrow_for_the_columns_gets_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    screen = _Screen()
    print_table(HEAD, [ROW], screen)
    assert _lines(screen)[1] == "  ".join(ROW)


def test_a_terminal_without_escape_sequences_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    screen = _Screen()
    print_table(HEAD, [ROW], screen)
    assert "\x1b" not in screen.getvalue()
    assert address(1) in screen.getvalue()
