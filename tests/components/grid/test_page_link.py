"""A key opens another page, even if the grid asks for a rerun before the browser has switched."""

from types import SimpleNamespace
from typing import Any

import pytest

from components.grid import grid
from components.shell.session import session


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with each page switch."""
    gone: list[str] = []
    monkeypatch.setattr(grid.st, "session_state", {})
    monkeypatch.setattr(grid.st, "switch_page", lambda page, query_params: gone.append(page))
    return gone


def rerun_by(client: str | None) -> None:
    """Run the page, as requested by the grid of this client."""
    state: dict[str, Any] = {} if client is None else {"asked": {"client": client, "entries": []}}
    grid._follow_link(state)


def test_reruns_by_the_old_grid_still_lead_to_the_new_page(left: list[str]) -> None:
    grid.lead_to("pages/captions.py", {})
    rerun_by("one")
    rerun_by("one")
    assert left == ["pages/captions.py"] * 2


def test_returning_to_the_page_does_not_follow_the_link_again(left: list[str]) -> None:
    grid.lead_to("pages/captions.py", {})
    rerun_by("one")
    rerun_by(None)  # a grid that was just made has said nothing yet
    rerun_by("two")
    rerun_by("one")
    assert left == ["pages/captions.py"]


def test_going_back_in_the_browser_drops_the_link(left: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The grid may still be the same if the other page was left before it finished loading."""
    grid.lead_to("pages/captions.py", {})
    rerun_by("one")
    monkeypatch.setattr(session, "get_script_run_ctx", lambda: SimpleNamespace(is_history_navigation=True))
    session.drop_old_links()
    rerun_by("one")
    assert left == ["pages/captions.py"]


def test_a_link_to_the_page_itself_does_not_loop_forever(left: list[str]) -> None:
    grid.lead_to("pages/search.py", {})
    for _ in range(20):
        rerun_by("one")
    assert len(left) < 10
