"""What every kind of message has in common: the token, who may send it, its shape, the answers to errors."""

import json
from typing import Any

import httpx
import pytest

from components.shell.session import login as shell_login
from components.shell.session import logins, tokens
from store.captions.drafts import Drafts
from store.library import Library
from store.records import CAPTION_FACETS
from store.settings import settings
from tests.components.conftest import Client
from tests.store.conftest import address

HALF = "half a \ud83d"  # of an emoji


@pytest.fixture
def draft(library: Library) -> dict[str, Any]:
    """A draft that could be kept."""
    base = {"revision": library.get(address(0)).revision, "caption": {}, "tags": []}
    return {"caption": dict.fromkeys(CAPTION_FACETS), "tags": [], "base": base, "client": "x", "n": 1}


def sent(client: Client, library: Library, kind: str, **message: Any) -> httpx.Response:
    page = {"token": tokens.signed(library, actor="ann"), "address": address(0)}
    return client.post(f"/message/{kind}", content=json.dumps({**page, **message}))


def test_a_message_without_a_token_of_this_library_is_refused(
    client: Client, library: Library, draft: dict[str, Any]
) -> None:
    for forged in ("", "0" * 64, "x.y", None, 7, []):
        assert sent(client, library, "editor-keep", token=forged, draft=draft).status_code == 403
    for content in ("[]", "7", '"token"', "null"):
        assert client.post("/message/editor-keep", content=content).status_code == 403
    for content in ("", "{", "[" * 100_000):
        assert client.post("/message/editor-keep", content=content).status_code == 400
    assert library.drafts.of(address(0)) == []


def test_a_token_that_has_expired_is_told_apart(
    client: Client, library: Library, draft: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tokens.signed(library, actor="ann")
    now = tokens.time.time()
    monkeypatch.setattr(tokens.time, "time", lambda: now + tokens.LIFETIME + 1)
    answer = sent(client, library, "editor-keep", token=old, draft=draft)
    assert (answer.status_code, answer.text) == (401, "this page has expired; reload it")
    assert library.drafts.of(address(0)) == []


def test_an_unknown_kind_is_not_found(client: Client, library: Library) -> None:
    assert sent(client, library, "editor-eat").status_code == 404
    assert client.get("/message/editor-own").status_code == 405


def test_a_viewer_sends_only_what_changes_nothing(
    client: Client, library: Library, draft: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "ann")
    for kind, message in {"editor-keep": {"draft": draft}, "job": {}, "editor-commit": {}}.items():
        answer = sent(client, library, kind, **message)
        assert (answer.status_code, answer.text) == (403, "this library can only be looked at here")
    assert sent(client, library, "editor-own").json() == {"draft": None}
    assert library.drafts.of(address(0)) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"n": None}, "draft.n: Input should be a valid integer"),
        ({"caption": {"mood": "sad"}}, "draft.caption.mood.[key]: Input should be 'entity', 'context'"),
        ({"base": {"revision": 1, "caption": {}}}, "draft.base.tags: Field required"),
        ({"tags": ["dog", 7]}, "draft.tags.1: Input should be a valid string"),
        ({"client": HALF}, "draft.client: Input should be a valid string"),
    ],
)
def test_a_message_of_another_shape_is_refused_with_the_field(
    client: Client, library: Library, draft: dict[str, Any], change: dict[str, Any], reason: str
) -> None:
    answer = sent(client, library, "editor-keep", draft={**draft, **change})
    assert answer.status_code == 400
    assert answer.text.startswith(reason)
    assert library.drafts.of(address(0)) == []


@pytest.mark.parametrize("decision", [None, "", "1", "0" * 33, "G" * 32, "0" * 32 + "\n", 7])
def test_a_decision_needs_the_id_of_a_page(
    client: Client, library: Library, draft: dict[str, Any], decision: object
) -> None:
    answer = sent(client, library, "editor-commit", draft=draft, decision=decision)
    assert (answer.status_code, answer.text.split(":")[0]) == (400, "decision")


def test_half_a_character_is_kept_in_a_draft_and_refused_elsewhere(
    client: Client, library: Library, draft: dict[str, Any]
) -> None:
    draft["caption"]["entity"] = HALF
    assert sent(client, library, "editor-keep", draft=draft).json() == {"kept": 1}
    assert sent(client, library, "editor-own").json()["draft"]["caption"]["entity"] == HALF
    for answer in (
        sent(client, library, "editor-commit", draft=draft, decision="0" * 32),
        sent(client, library, "editor-own", address=HALF),
    ):
        assert answer.status_code == 409
        assert "an unpaired surrogate" in answer.text
    assert sent(client, library, "editor-own", **{HALF: 1}).status_code in (200, 400)


def test_what_the_store_refuses_is_answered_with_its_reason(
    client: Client, library: Library, draft: dict[str, Any]
) -> None:
    answer = sent(client, library, "editor-keep", address="nowhere", draft=draft)
    assert (answer.status_code, answer.text) == (409, "no record has the address nowhere")


@pytest.mark.parametrize(
    ("is_shared", "words"), [(False, "No space left"), (True, "The server's disk refused it. Error ")]
)
def test_a_refusing_disk_is_named_and_later_the_same_message_succeeds(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch, is_shared: bool, words: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(5, "No space left on device")

    monkeypatch.setattr(shell_login, "listens_farther", lambda: is_shared)
    monkeypatch.setattr(shell_login, "is_permitted", lambda *_, **__: True)
    monkeypatch.setattr(logins, "mark", lambda _: "")
    monkeypatch.setattr(logins, "person", lambda _: "ann")
    window = {"client": "x", "n": 1}
    with monkeypatch.context() as broken:
        broken.setattr(Drafts, "discard", refuse)
        answer = sent(client, library, "editor-discard", draft=window)
        assert answer.status_code == 503
        assert words in answer.text
        assert str(library.layout.root) not in answer.text
    assert sent(client, library, "editor-discard", draft=window).status_code == 200
