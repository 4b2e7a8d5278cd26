"""Logging in by the shared password, without a browser."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.requests import HTTPConnection

from components.shell.session import login, logins, tokens
from store.library import Library
from store.permissions import Actor
from store.sessions import Tries
from store.settings import settings
from tests.components.claims import assert_accepted, assert_refused
from tests.components.conftest import Client

PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(login, "tries", Tries())
    logins._seen.clear()
    logins.invalidate()
    yield
    logins._ended.clear()
    tokens._seen.clear()
    logins.invalidate()


@pytest.fixture
def client(client: Client) -> Client:
    logins.sessions().set_password(PASSWORD)
    logins.invalidate()
    return client


def log_in(
    client: Client, *, password: object = PASSWORD, name: object = "Ann", **more: Any
) -> httpx.Response:
    more.setdefault("headers", {"Origin": "http://memedex"})
    return client.post("/login", content=json.dumps({"name": name, "password": password}), **more)


def claims_of(answer: httpx.Response) -> dict[str, Any]:
    sent = "; ".join(f"{name}={value}" for name, value in answer.cookies.items())
    return logins.of_request(HTTPConnection({"type": "http", "headers": [(b"cookie", sent.encode())]}))


def test_the_right_password_gives_a_login_that_routes_accept(client: Client, library: Library) -> None:
    answer = log_in(client)
    assert answer.status_code == 204
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie
    claims = claims_of(answer)
    assert claims["is_logged_in"]
    assert logins.person(claims) == "Ann (shared password)"
    token = tokens.signed(library, actor=logins.person(claims), claims=claims)
    assert_accepted(client, library, token, actor=logins.person(claims), cookies=dict(answer.cookies))
    (session,) = logins.sessions().all()
    assert (session.person, session.provider) == ("Ann (shared password)", "password")


def test_a_password_asks_for_a_login_even_on_this_machine(client: Client, library: Library) -> None:
    assert login.is_required()
    assert_refused(client, library, tokens.signed(library, actor="ann@x.org"), status={401})
    logins.sessions().set_password("")
    logins.invalidate()
    assert not login.is_required()
    assert log_in(client).status_code == 404


def test_behind_a_proxy_with_https_the_cookie_is_for_https_only(client: Client) -> None:
    answer = log_in(client, headers={"Origin": "https://memedex"})
    assert "Secure" in answer.headers["Set-Cookie"]


def test_a_wrong_password_or_name_gives_none(client: Client) -> None:
    assert log_in(client, password=PASSWORD.upper()).status_code == 401
    for name in ("", "  ", "x" * 61, "a\x00b", "\u202eevil", None, 7, 7 * "\n"):
        assert log_in(client, name=name).status_code == 400
    for sent in ("", "[]", "7", '{"name": "Ann"}', "{", "[" * 100_000):
        assert client.post("/login", content=sent).status_code == 400
    assert logins.sessions().all() == []


@pytest.mark.slow
def test_after_wrong_passwords_the_right_one_waits_for_its_turn_and_gets_in(client: Client) -> None:
    for _ in range(5):
        answer = log_in(client, password="wrong password")
        assert answer.status_code == 401
        assert "Set-Cookie" not in answer.headers
    assert log_in(client).status_code == 204
    assert log_in(client, password="wrong password").status_code == 401, "at once: those before are forgotten"


def test_a_try_that_would_have_to_wait_too_long_is_told_when_to_come_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tries, "turn", lambda *_, **__: 41.5)
    late = log_in(client)
    assert (late.status_code, late.headers["Retry-After"]) == (429, "42")


def test_a_browser_from_which_somebody_logged_in_does_not_wait_for_others_at_its_address(
    client: Client,
) -> None:
    sent = {"memedex_device": log_in(client).cookies["memedex_device"]}
    for _ in range(30):
        login.tries.turn("127.0.0.1")
    assert log_in(client).status_code == 429
    assert log_in(client, cookies=sent).status_code == 204
    for forged in ("", "x", sent["memedex_device"][:-1], "\u00e4"):
        headers = {"Origin": "http://memedex", "Cookie": f"memedex_device={forged}".encode("latin-1")}
        assert log_in(client, headers=headers).status_code == 429


def test_a_session_ended_elsewhere_is_refused_by_every_route(client: Client, library: Library) -> None:
    answer = log_in(client)
    claims, sent = claims_of(answer), dict(answer.cookies)
    token = tokens.signed(library, actor=logins.person(claims), session="here", claims=claims)
    tokens.bearer(library, token, claims=claims)
    (session,) = logins.sessions().all()
    logins.sessions().end(session.id)  # as another process does
    logins._known = logins._known.__class__(settings().root, time.monotonic() - 2)
    assert_refused(client, library, token, status={401}, cookies=sent)
    assert not login.is_permitted(claims)
    logins._ended.clear()  # as after a restart
    assert not login.is_permitted(claims)
    again = log_in(client)
    assert login.is_permitted(claims_of(again))


def test_a_logout_outlasts_a_restart(client: Client, library: Library) -> None:
    claims = claims_of(log_in(client))
    logins.end(claims, session="here")
    logins._ended.clear()
    assert not login.is_permitted(claims)


@pytest.mark.slow
def test_a_name_cannot_be_taken_for_somebody_on_the_lists(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "administrators", "boss@x.org, groups=admins")
    monkeypatch.setattr(settings(), "curators", "boss@x.org, groups=admins")
    for name in ("boss@x.org", "groups=admins", settings().user or "root"):
        claims = claims_of(log_in(client, name=name))
        actor = logins.actor(logins.person(claims), claims)
        assert not actor.can_write
        assert not actor.can_administer


def test_claims_of_a_login_give_roles(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "provider=password")
    claims = claims_of(log_in(client))
    token = tokens.signed(library, actor=logins.person(claims), claims=claims)
    sent = json.dumps({"token": token, "address": "x", "draft": {}})
    answer = client.post("/message/editor-keep", content=sent, cookies={})
    assert answer.status_code == 401
    assert not logins.actor(logins.person(claims), claims).can_write
    assert login.is_permitted(claims), "viewers may look"
    assert Actor("x", claims={"groups": ["a", "b"]}).can_write


def test_the_secret_of_cookies_is_kept_once_there_is_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    monkeypatch.setattr(login.config, "set_option", lambda name, value, _: given.append(value))
    logins.invalidate()
    login.keep_secret()
    assert given == []
    logins.sessions().set_password(PASSWORD)
    logins.invalidate()
    login.keep_secret()
    login.keep_secret()
    assert len(given) == 2
    assert given[0] == given[1] == logins.sessions().cookie_secret()
