"""Decisions that a closing page delivers by itself, and rejected deliveries."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import pytest

from components.grid.decision_log import BOOT
from components.grid.grid import applied_decisions_of
from components.grid.logged_decision import entries_of
from components.shell import events
from components.shell.tokens import token
from store.catalog.filters import Filter
from store.library import Library
from store.permissions import Actor
from store.settings import settings
from tests.components.conftest import Client
from tests.store.conftest import address


def log_entry(library: Library, /, **more: Any) -> dict[str, Any]:
    """A decision as a page writes it: with its library, person and session."""
    place = {"library": library.id, "who": library.actor_name, "session": "", "boot": BOOT, "seen": {}}
    return {"n": 1, "verb": "approve", "addresses": [address(0)], **place, **more}


def log(library: Library, **more: Any) -> dict[str, Any]:
    entry = log_entry(library)
    return {"token": token(library), "client": "page of a test", "entries": [entry], "others": {}, **more}


def test_a_delivered_decision_is_stored(client: Client, library: Library) -> None:
    assert client.post("/decisions", content=json.dumps(log(library))).status_code == 200
    assert library.get(address(0)).tier == "approved"


def test_other_pages_are_told_of_a_delivered_decision_at_once(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried = list[bool]()
    monkeypatch.setattr(events.watcher, "hurry", lambda: hurried.append(True))
    client.post("/decisions", content=json.dumps(log(library)))
    assert hurried == [True]


def test_a_decision_delivered_twice_is_applied_once(client: Client, library: Library) -> None:
    client.post("/decisions", content=json.dumps(log(library)))
    for name, entries in entries_of(log(library)).items():
        applied_decisions_of(library.layout.root).apply(library, name, entries, handlers={})
    assert [decision.verb for decision in library.decisions()] == ["approve", "import"]


def test_a_forged_token_decides_nothing(client: Client, library: Library) -> None:
    for forged in ("", "0" * 64, None, 7, "é", "\ud800.\ud800"):
        answer = client.post("/decisions", content=json.dumps(log(library, token=forged)))
        assert answer.status_code == 403
    assert library.count(Filter(tier="approved")) == 0


def test_a_token_signed_for_one_person_is_refused_for_another(client: Client, library: Library) -> None:
    body, _, signature = token(library).partition(".")
    about = {**json.loads(urlsafe_b64decode(body)), "who": "boss@x.org"}
    forged = f"{urlsafe_b64encode(json.dumps(about).encode()).decode()}.{signature}"
    assert client.post("/decisions", content=json.dumps(log(library, token=forged))).status_code == 403


def test_a_delivered_decision_is_attributed_to_the_person_on_the_page(
    client: Client, library: Library
) -> None:
    ann = library.for_actor(Actor("ann@x.org"))
    assert client.post("/decisions", content=json.dumps(log(ann))).status_code == 200
    assert library.decisions()[0].actor == "ann@x.org"


def test_a_viewers_page_delivers_nothing(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = token(library.for_actor(Actor("eve@x.org")))
    monkeypatch.setattr(settings(), "viewers", "eve@x.org")
    assert client.post("/decisions", content=json.dumps(log(library, token=page))).status_code == 403
    assert library.get(address(0)).tier == "pending"


def test_a_malformed_log_is_rejected(client: Client) -> None:
    assert client.post("/decisions", content=b"{").status_code == 400
    assert client.post("/decisions", content=b"[" * 100_000).status_code == 400
    assert client.post("/decisions", content=b" " * 1_000_001).status_code == 413
    assert client.get("/decisions").status_code == 405


@pytest.mark.parametrize(
    "elsewhere", [{"library": "0" * 32}, {"who": "bob@x.org"}, {"library": ""}, {"library": "", "who": ""}]
)
def test_a_decision_of_another_library_or_person_is_refused_and_not_confirmed(
    client: Client, library: Library, elsewhere: dict[str, str]
) -> None:
    sent = log(library, client=f"of {len(str(elsewhere))}", entries=[log_entry(library, **elsewhere)])
    answer = client.post("/decisions", content=json.dumps(sent))
    assert answer.status_code == 409
    assert "1 of these were not decided in this library" in answer.text
    assert library.get(address(0)).tier == "pending"
    heard = applied_decisions_of(library.layout.root).confirmed([sent["client"]])
    assert heard[sent["client"]]["n"] == 0, "its browser keeps it"


def test_a_decision_kept_while_another_library_was_open_is_delivered_once(
    client: Client, library: Library
) -> None:
    seen = {address(0): library.get(address(0)).revision}
    entry = log_entry(library, session="earlier", boot="an earlier server", seen=seen)
    sent = json.dumps(log(library, client="came back", entries=[], others={"left behind": [entry]}))
    for _ in range(2):
        assert client.post("/decisions", content=sent).status_code == 200
    assert [decision.verb for decision in library.decisions()] == ["approve", "import"]


def test_one_person_cannot_confirm_undelivered_decisions_of_another(client: Client, library: Library) -> None:
    bob = library.for_actor(Actor("bob@x.org"))
    high = log(bob, client="shared", entries=[log_entry(bob, n=10**6, addresses=[address(1)])])
    client.post("/decisions", content=json.dumps(high))
    client.post("/decisions", content=json.dumps(log(library, client="shared")))
    assert [library.get(address(n)).tier for n in range(2)] == ["approved", "approved"]
    assert [decision.actor for decision in library.decisions()[:2]] == [library.actor_name, "bob@x.org"]
