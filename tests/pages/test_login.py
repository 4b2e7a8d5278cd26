"""A server that other machines reach: who is asked for a login, who is logged in, and the way out."""

from importlib.metadata import requires
from pathlib import Path

import pytest
import streamlit as st
from packaging.requirements import Requirement

from components import access
from store.library import Library
from tests.pages.conftest import opened


def test_what_a_login_needs_is_installed_with_the_rest() -> None:
    pinned = (Path(__file__).parents[2] / "requirements.txt").read_text().lower()
    needed = [one for one in map(Requirement, requires("streamlit") or ()) if one.marker]
    names = [one.name for one in needed if one.marker and one.marker.evaluate({"extra": "auth"})]
    assert names
    assert [name for name in names if f"\n{name.lower()}==" not in pinned] == []


def test_whoever_is_logged_in_is_named_and_can_log_out(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "log-out" not in [button.key for button in opened("search").button]
    monkeypatch.setattr(
        st, "user", {"is_logged_in": True, "email": "ann@example.org", "email_verified": True}
    )
    page = opened("search")
    assert "ann@example.org" in [one.value for one in page.sidebar.text]
    assert "log-out" in [button.key for button in page.sidebar.button]


def test_without_a_login_nothing_is_shown(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "user", {"is_logged_in": False})
    monkeypatch.setattr(access, "listens_farther", lambda: True)
    page = opened("search")
    assert [button.label for button in page.button] == ["Log in"]
    assert not page.exception
