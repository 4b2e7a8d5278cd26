"""A page catches up with its library, but not while it would take something out of somebody's hand."""

from collections.abc import Callable
from typing import Any

import pytest

from components.shell import refresh


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with each time that the page is run anew."""
    made: list[str] = []
    monkeypatch.setattr(refresh.st, "rerun", lambda: made.append("anew"))
    return made


def test_neither_the_run_itself_nor_what_the_browser_asked_before_it_knew_that_run_begins_another(
    runs: list[str],
) -> None:
    catch_up = refresh.catching_up()
    catch_up(True)
    catch_up(True)
    assert runs == []
    catch_up(True)
    assert runs == ["anew"]


def test_a_page_that_is_not_out_of_date_is_left_alone(runs: list[str]) -> None:
    catch_up = refresh.catching_up()
    for _ in range(5):
        catch_up(False)
    assert runs == []


class Library:
    """What a page follows of one."""

    generation = derived = 1


def looked_at(
    follow: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> tuple[Library, Callable[[], None]]:
    """A library that a page follows, and what the browser asks every few seconds."""
    library, looks = Library(), list[Callable[[], None]]()
    monkeypatch.setattr(refresh.st, "fragment", lambda look, **_: lambda: looks.append(look))
    follow(library)
    for _ in range(2):
        looks[0]()
    return library, looks[0]


def test_what_is_found_out_about_the_same_records_runs_only_pages_that_show_it(
    runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    library, look = looked_at(refresh.follow, monkeypatch)
    library.derived = 2
    look()
    assert runs == []
    library, look = looked_at(refresh.follow_badges, monkeypatch)
    library.derived = 2
    look()
    assert runs == ["anew"]


@pytest.mark.parametrize("follow", [refresh.follow, refresh.follow_badges])
def test_a_changed_record_runs_every_page_that_follows(
    follow: Callable[[Any], None], runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    library, look = looked_at(follow, monkeypatch)
    library.generation = 2
    look()
    assert runs == ["anew"]
