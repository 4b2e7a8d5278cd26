"""Logging in and out on a server that other machines can reach."""

import time
from collections.abc import Iterator, Mapping
from importlib.metadata import requires
from pathlib import Path

import pytest
import streamlit as st
from packaging.requirements import Requirement
from streamlit.testing.v1 import AppTest

from components.shell.page import forms
from components.shell.session import login, logins, tokens
from store.errors import LoginEnded, NotPermitted
from store.library import Library
from store.sessions import LoginSessions
from store.settings import settings
from tests.pages.conftest import opened, press, rerun, send, sendable, words


def test_login_dependencies_are_in_the_requirements() -> None:
    pinned = (Path(__file__).parents[2] / "requirements.txt").read_text().lower()
    needed = [one for one in map(Requirement, requires("streamlit") or ()) if one.marker]
    names = [one.name for one in needed if one.marker and one.marker.evaluate({"extra": "auth"})]
    assert names
    assert [name for name in names if f"\n{name.lower()}==" not in pinned] == []


def test_a_logged_in_person_is_named_and_can_log_out(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "log-out" not in [button.key for button in opened("search").button]
    log_in(monkeypatch, {"is_logged_in": True, "email": "ann@example.org", "email_verified": True})
    page = opened("search")
    assert "ann@example.org" in [one.value for one in page.sidebar.text]
    assert "log-out" in [button.key for button in page.sidebar.button]


def test_without_a_login_nothing_is_shown(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    log_in(monkeypatch, {"is_logged_in": False})
    monkeypatch.setattr(login, "listens_farther", lambda: True)
    page = opened("search")
    assert [button.label for button in page.button] == ["Log in"]
    assert not page.exception


def log_in(monkeypatch: pytest.MonkeyPatch, claims: Mapping[str, object]) -> None:
    monkeypatch.setattr(login, "claims", lambda: dict(claims))


@pytest.fixture
def ann(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """Ann is logged in on a server that other machines can reach."""
    now = time.time()
    ann = {"is_logged_in": True, "email": "ann@example.org", "sub": "ann", "iat": now, "exp": now + 3600}
    log_in(monkeypatch, ann)
    monkeypatch.setattr(login, "listens_farther", lambda: True)
    logins._seen.clear()
    yield ann
    logins._ended.clear()


def test_an_expired_login_shows_a_message_and_nothing_else(library: Library, ann: dict[str, object]) -> None:
    assert [one.value for one in opened("review").title] == ["Review"]
    ann["exp"] = time.time() - 1
    page = opened("review")
    assert [one.value for one in page.title] == ["Memedex"]
    assert "Your login has ended" in words(page)
    assert [button.label for button in page.button] == ["Log in"]


def page_whose_login_ends() -> None:
    from components.shell.server import error_page
    from store.errors import LoginEnded

    error_page.show_error(LoginEnded("the login of Ann has ended"))


def test_a_login_that_ends_in_the_middle_of_a_run_is_asked_for(ann: dict[str, object]) -> None:
    ann["exp"] = time.time() - 1
    page = AppTest.from_function(page_whose_login_ends, default_timeout=60).run()
    assert "Your login has ended" in words(page)
    assert [button.label for button in page.button] == ["Log in"]


def test_a_person_on_neither_list_sees_only_a_message(
    library: Library, ann: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "eve@example.org")
    monkeypatch.setattr(settings(), "curators", "bob@example.org")
    page = opened("review")
    assert [one.value for one in page.title] == ["Memedex"]
    assert "You have no access to this library." in words(page)
    assert [button.label for button in page.button] == ["Log out"]


def test_logging_out_ends_every_tab_of_the_login(
    library: Library, ann: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "logout", lambda: None)
    page = opened("review")
    page.button(key="log-out").click()
    rerun(page)
    assert "Your login has ended" in words(page)
    assert "Your login has ended" in words(opened("review")), "as in another tab"
    ann["iat"] = time.time() + 1
    assert logins.is_current(ann), "a new login of hers is valid"
    token = tokens.signed(library, actor="ann@example.org", session="test session id", claims=ann)
    with pytest.raises(LoginEnded):
        tokens.bearer(library, token, claims=ann)


def sessions_of(library: Library) -> LoginSessions:
    return LoginSessions(library.layout.root)


def test_a_login_is_listed_and_an_administrator_ends_it(
    library: Library, ann: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = dict(ann, email="bob@example.org", sub="bob")
    log_in(monkeypatch, bob)
    assert "Sessions" not in [one.value for one in opened("settings", section="System status").header]
    log_in(monkeypatch, ann)
    monkeypatch.setattr(settings(), "administrators", "ann@example.org")
    page = opened("settings", section="System status")
    assert "Sessions" in [one.value for one in page.header]
    (session,) = [one for one in sessions_of(library).all() if one.person == "bob@example.org"]
    assert "bob@example.org · logged in just now" in words(page)
    send(page, f"end-session-{session.id}")
    assert "bob@example.org" not in words(page)
    assert [one.ended_by for one in sessions_of(library).all() if one.ended] == ["ann@example.org"]
    log_in(monkeypatch, bob)
    assert "Your login has ended" in words(opened("review"))


def test_a_person_who_is_no_administrator_any_more_ends_nothing(
    library: Library, ann: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "administrators", "ann@example.org")
    page = opened("settings", section="System status")
    (session,) = sessions_of(library).all()
    monkeypatch.setattr(settings(), "administrators", "")
    with pytest.raises(NotPermitted):
        send(page, f"end-session-{session.id}")
    assert sessions_of(library).ended() == frozenset()


def fields(page: AppTest) -> set[str]:
    return {one.key for one in page.text_input if one.key}


def test_a_remote_browser_cannot_name_server_paths(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened("settings")
    assert "import-path" in sendable()
    assert "import-captions-path-0" in fields(opened("settings"))
    monkeypatch.setattr(login, "is_local", lambda: False)
    forms._forms.clear()
    opened("settings")
    assert "import-path" not in sendable()
    assert "import-captions-path-0" not in fields(opened("settings"))

    (tmp_path / "allowed").mkdir()
    monkeypatch.setattr(settings(), "import_folders", str(tmp_path / "allowed"))
    with pytest.raises(NotPermitted, match="MEMEDEX_IMPORT_FOLDERS"):
        press(opened("settings"), "Import path", path=str(library.layout.memecoins))
    assert library.jobs.all() == []
    page = opened("settings")
    page.text_input(key="import-captions-path-0").set_value("/etc/passwd")
    assert any("MEMEDEX_IMPORT_FOLDERS" in error.value for error in rerun(page).error)
