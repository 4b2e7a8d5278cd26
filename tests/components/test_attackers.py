"""Rejected: no token, another person's, an old one, another library's, one after logout or removal."""

import json
import secrets
import time
from collections.abc import Iterator

import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from components.shell.server import pictures
from components.shell.session import login as shell_login
from components.shell.session import logins, tokens
from store.captions.drafts import Drafts
from store.errors import LoginEnded, ReadOnly
from store.library import Library
from store.permissions import Actor
from store.settings import settings
from tests.components.claims import assert_accepted, assert_refused, body, claims, cookies
from tests.components.conftest import Client
from tests.store.conftest import address


@pytest.fixture(autouse=True)
def _clear_ended_logins() -> Iterator[None]:
    yield
    logins._ended.clear()
    tokens._seen.clear()


@pytest.fixture
def shared_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other machines reach the server."""
    monkeypatch.setattr(shell_login, "listens_farther", lambda: True)


def test_no_route_answers_without_a_token(client: Client, library: Library) -> None:
    assert_refused(client, library, None, status={403})
    for forged in ("", 7, [], "x", "x.y", "0" * 64, ".", "\ud800.\ud800"):
        assert client.post("/message/decisions", content=body(library, forged)).status_code == 403
    assert library.get(address(0)).tier == "pending"


@pytest.mark.usefixtures("shared_server")
class TestWhenALoginIsRequired:
    def test_a_logged_in_person_can_decide(self, client: Client, library: Library) -> None:
        login = claims()
        token = tokens.signed(library, actor="ann@x.org", claims=login)
        assert_accepted(client, library, token, cookies=cookies(login))

    def test_a_login_split_over_several_cookies_is_accepted(self, client: Client, library: Library) -> None:
        login = claims(picture=secrets.token_hex(9_000))
        token = tokens.signed(library, actor="ann@x.org", claims=login)
        assert len(cookies(login)) > 1
        assert_accepted(client, library, token, cookies=cookies(login))

    def test_a_token_without_its_login_is_refused(self, client: Client, library: Library) -> None:
        assert_refused(
            client, library, tokens.signed(library, actor="ann@x.org", claims=claims()), status={401}
        )
        assert_refused(client, library, tokens.signed(library, actor="ann@x.org"), status={401})

    def test_a_forged_login_is_refused(self, client: Client, library: Library) -> None:
        login = claims()
        token = tokens.signed(library, actor="ann@x.org", claims=login)
        forged = create_signed_value("another secret", USER_COOKIE_NAME, json.dumps(login)).decode()
        for value in (forged, "", "x", "chunks-3"):
            sent = {USER_COOKIE_NAME: value}
            answer = client.post("/message/decisions", content=body(library, token), cookies=sent)
            assert answer.status_code == 401
        assert library.get(address(0)).tier == "pending"

    def test_a_login_sent_by_another_site_is_refused(self, client: Client, library: Library) -> None:
        login = claims()
        token = tokens.signed(library, actor="ann@x.org", claims=login)
        elsewhere = {"origin": "http://evil.example"}
        assert_refused(client, library, token, status={401}, cookies=cookies(login), headers=elsewhere)

    def test_another_persons_token_is_refused(self, client: Client, library: Library) -> None:
        token = tokens.signed(library, actor="ann@x.org", claims=claims())
        assert_refused(client, library, token, status={403}, cookies=cookies(claims("eve@x.org")))

    def test_an_expired_login_is_refused(
        self, client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        login = claims()
        token = tokens.signed(library, actor="ann@x.org", claims=login)
        now = time.time()
        monkeypatch.setattr(tokens.time, "time", lambda: now + 3601)
        assert_refused(client, library, token, status={401}, cookies=cookies(login))
        renewed = tokens.signed(library, actor="ann@x.org", claims=login)
        assert_refused(client, library, renewed, status={401}, cookies=cookies(login))

    def test_a_login_with_an_invalid_expiry_has_ended(self) -> None:
        for exp in ("soon", [], {}, float("nan"), 0, -1, False):
            assert not logins.is_current(claims(exp=exp)), exp
        assert logins.is_current(claims(exp=None))

    def test_logging_out_ends_every_tab_of_the_login(self, client: Client, library: Library) -> None:
        login = claims()
        here = tokens.signed(library, actor="ann@x.org", session="here", claims=login)
        there = tokens.signed(library, actor="ann@x.org", session="there", claims=login)
        logins.end(login, session="here")
        for token in (here, there):
            assert_refused(client, library, token, status={401}, cookies=cookies(login))
        again = claims(nonce="another login")
        token = tokens.signed(library, actor="ann@x.org", session="new", claims=again)
        assert_accepted(client, library, token, cookies=cookies(again))

    def test_a_curator_who_became_a_viewer_can_only_read(
        self, client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        login = claims()
        token = tokens.signed(library, actor="ann@x.org", claims=login)
        monkeypatch.setattr(settings(), "viewers", "ann@x.org")
        answer = client.post("/message/decisions", content=body(library, token), cookies=cookies(login))
        assert answer.status_code == 403
        for verb in ("keep", "commit", "discard", "refuse"):
            sent = body(library, token)
            answer = client.post(f"/message/editor-{verb}", content=sent, cookies=cookies(login))
            assert (answer.status_code, answer.text) == (403, "this library can only be looked at here")
        assert library.get(address(0)).tier == "pending"

    def test_a_person_removed_from_the_lists_cannot_even_read(
        self, client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        login = claims()
        token = tokens.signed(library, actor="ann@x.org", claims=login)
        link = pictures.address(library, library.get(address(0)).image_hash)
        assert client.get(link, cookies=cookies(login)).status_code == 200
        monkeypatch.setattr(settings(), "viewers", "eve@x.org")
        monkeypatch.setattr(settings(), "curators", "bob@x.org")
        assert_refused(client, library, token, status={401}, cookies=cookies(login))
        assert client.get(link, cookies=cookies(login)).status_code == 401

    def test_a_picture_requires_a_login(self, client: Client, library: Library) -> None:
        login = claims()
        link = pictures.address(library, library.get(address(0)).image_hash)
        assert client.get(link).status_code == 401
        assert client.get(link, cookies=cookies(login)).status_code == 200
        logins.end(login, session="")
        assert client.get(link, cookies=cookies(login)).status_code == 401
        assert "no-store" in client.get(link).headers["cache-control"]


def test_a_logout_also_ends_the_login_on_a_local_server(client: Client, library: Library) -> None:
    login = claims()
    token = tokens.signed(library, actor="ann@x.org", session="here", claims=login)
    logins.end(login, session="here")
    assert_refused(client, library, token, status={401}, cookies=cookies(login))


def test_a_page_cannot_read_or_write_after_its_login_ended(library: Library) -> None:
    login = [True]
    page = library.for_actor(Actor("ann@x.org", is_logged_in=lambda: login[0]))
    drafts = page.drafts
    login[0] = False
    for ask in (lambda: page.approve([address(0)]), lambda: page.get(address(0)), lambda: drafts.of("x")):
        with pytest.raises(LoginEnded, match="log in"):
            ask()
    assert library.get(address(0)).tier == "pending"


def test_a_curator_made_a_viewer_while_a_page_is_open_cannot_write(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = library.for_actor(Actor("ann@x.org"))
    assert page.can_write
    monkeypatch.setattr(settings(), "viewers", "ann@x.org")
    assert not page.can_write
    with pytest.raises(ReadOnly, match=r"ann@x\.org may look"):
        page.drafts.save(address(0), {"entity": "typed"})
    assert library.drafts.of(address(0)) == []


def test_a_route_error_shows_a_number_and_logs_the_traceback(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("/a/path/of/the/server")

    monkeypatch.setattr(Drafts, "own", broken)
    sent = body(library, tokens.signed(library, actor="ann@x.org"))
    answer = client.post("/message/editor-own", content=sent)
    assert answer.status_code == 500
    assert "/a/path" not in answer.text
    assert answer.text.split()[1].rstrip(":") in caplog.text
    assert "RuntimeError: /a/path/of/the/server" in caplog.text
