"""A page catches up with its library, but not while it would take something out of somebody's hand."""

import pytest

from components import live, state


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with each time that the page is run anew."""
    made: list[str] = []
    monkeypatch.setattr(live.st, "rerun", lambda: made.append("anew"))
    monkeypatch.setattr(state, "has_dialog", lambda: False)
    return made


def test_neither_the_run_itself_nor_what_the_browser_asked_before_it_knew_that_run_begins_another(
    runs: list[str],
) -> None:
    catch_up = live.catching_up()
    catch_up(True)
    catch_up(True)
    assert runs == []
    catch_up(True)
    assert runs == ["anew"]


def test_a_page_that_is_not_out_of_date_is_left_alone(runs: list[str]) -> None:
    catch_up = live.catching_up()
    for _ in range(5):
        catch_up(False)
    assert runs == []


def test_nothing_is_drawn_anew_under_an_open_dialog(runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "has_dialog", lambda: True)
    catch_up = live.catching_up()
    for _ in range(5):
        catch_up(True)
    assert runs == []
