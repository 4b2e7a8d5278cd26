"""A key leads to another page, also when the grid has spoken again before its browser heard of that page."""

from types import SimpleNamespace
from typing import Any

import pytest

from components.grid import grid
from components.shell import session


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with each page that is gone to."""
    gone: list[str] = []
    monkeypatch.setattr(grid.st, "session_state", {})
    monkeypatch.setattr(grid.st, "switch_page", lambda page, query_params: gone.append(page))
    return gone


def speaks(client: str | None) -> None:
    """A run of a page that the grid of this client has asked for."""
    state: dict[str, Any] = {} if client is None else {"log": {"client": client, "entries": []}}
    grid._follow_link(state)


def test_what_the_grid_said_before_it_knew_brings_nobody_back(left: list[str]) -> None:
    grid.lead_to("pages/captions.py")
    speaks("one")
    speaks("one")
    assert left == ["pages/captions.py"] * 2


def test_whoever_comes_back_stays(left: list[str]) -> None:
    grid.lead_to("pages/captions.py")
    speaks("one")
    speaks(None)  # a grid that was just made has said nothing yet
    speaks("two")
    speaks("one")
    assert left == ["pages/captions.py"]


def test_the_browsers_way_back_drops_the_link(left: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The grid may still be the same one, when the other page was left before it was whole."""
    grid.lead_to("pages/captions.py")
    speaks("one")
    monkeypatch.setattr(session, "get_script_run_ctx", lambda: SimpleNamespace(is_history_navigation=True))
    session.drop_old_links()
    speaks("one")
    assert left == ["pages/captions.py"]


def test_a_link_to_the_page_itself_does_not_go_on_for_ever(left: list[str]) -> None:
    grid.lead_to("pages/search.py")
    for _ in range(20):
        speaks("one")
    assert len(left) < 10
