"""Requests with tokens and logins, and what must come of them."""

import json
import time
from typing import Any
from uuid import uuid4

from streamlit.auth_util import set_cookie_with_chunks
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from components.grid import deferred_cards
from store.library import Library
from tests.components.conftest import Client
from tests.store.conftest import address

Claims = dict[str, Any]


ROUTES = (
    *(
        f"/message/{kind}"
        for kind in (
            "decisions", "form", "cards", "tags", "job", "map-points", "map-sprites", "editor-keep",
            "editor-commit", "editor-own", "editor-history", "editor-promote", "editor-look",
            "editor-suggestions", "editor-discard", "editor-refuse",
        )
    ),
)  # fmt: skip


def claims(email: str = "ann@x.org", **more: Any) -> Claims:
    now = int(time.time())
    return {
        "is_logged_in": True, "email": email, "sub": email, "provider": "default", "nonce": email,
        "iat": now, "exp": now + 3600, **more,
    }  # fmt: skip


def cookies(login: Claims) -> dict[str, str]:
    """The cookies that Streamlit sets in a browser."""
    given: dict[str, str] = {}

    def signed(name: str, value: str) -> bytes:
        return create_signed_value(get_cookie_secret(), name, value)

    set_cookie_with_chunks(
        lambda name, value: given.__setitem__(name, signed(name, value).decode()),
        signed,
        USER_COOKIE_NAME,
        {**login, "origin": "http://memedex"},
        cookie_attr_size=100,
    )
    return given


def body(library: Library, token: object, *, actor: str = "ann@x.org") -> str:
    seen = {address(0): library.get(address(0)).revision}
    entry = {"id": uuid4().hex, "verb": "delete", "addresses": [address(0)], "seen": seen}
    place = {"library": library.id, "who": actor}
    draft = {
        "caption": {"entity": "an attacker's"},
        "tags": [],
        "client": "x",
        "n": 1,
        "base": {"revision": 1, "caption": {}, "tags": []},
    }
    deferred_cards.remember("the attackers", {address(0): 0}, {})
    return json.dumps(
        {
            "token": token, "entries": [entry], **place,
            "address": address(0), "draft": draft, "query": "the attackers", "rows": [0], "facet": "entity",
            "text": "a dog", "form": "the attackers", "decision": uuid4().hex, "values": {},
        }
    )  # fmt: skip


def assert_refused(client: Client, library: Library, token: object, *, status: set[int], **more: Any) -> None:
    """Every route rejects this token, and nothing is revealed or changed."""
    generation = library.generation
    for route in ROUTES:
        answer = client.post(route, content=body(library, token), **more)
        assert answer.status_code in status, (route, answer.status_code, answer.text)
        assert "cards" not in answer.text
        assert address(0) not in answer.text
    assert library.generation == generation
    assert library.get(address(0)).tier == "pending"
    assert library.drafts.of(address(0)) == []


def assert_accepted(
    client: Client, library: Library, token: str, *, actor: str = "ann@x.org", **more: Any
) -> None:
    answer = client.post("/message/decisions", content=body(library, token, actor=actor), **more)
    assert answer.status_code == 200, answer.text
    assert library.get(address(0)).tier == "trash"
    assert library.history(address=address(0))[0].actor == actor
