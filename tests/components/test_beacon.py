"""Decisions that a closing page delivers by itself, and nobody else."""

import json
from typing import Any, cast

import pytest

from components.grid.grid import ledger_of, token
from components.grid.ledger import BOOT, entries_of
from store.desk import Desk
from store.filter import Filter
from store.library import Library
from store.settings import settings
from tests.components.conftest import Client
from tests.store.conftest import address


def log(library: Library, **more: Any) -> dict[str, Any]:
    entry = {"n": 1, "verb": "approve", "addresses": [address(0)], "seen": {}, "boot": BOOT}
    return {"token": token(library), "client": "page of a test", "entries": [entry], "others": {}, **more}


def test_a_delivered_decision_is_stored(client: Client, library: Library) -> None:
    assert client.post("/decisions", content=json.dumps(log(library))).status_code == 204
    assert library.get(address(0)).tier == "approved"


def test_a_decision_that_also_came_by_the_page_is_done_once(client: Client, library: Library) -> None:
    client.post("/decisions", content=json.dumps(log(library)))
    for name, entries in entries_of(log(library)).items():
        ledger_of(library.layout.root).apply(library, name, entries, handlers={})
    assert [decision.verb for decision in library.decisions()] == ["approve", "import"]


def test_a_stranger_decides_nothing(client: Client, library: Library) -> None:
    for forged in ("", "0" * 64, None, 7, "é"):
        answer = client.post("/decisions", content=json.dumps(log(library, token=forged)))
        assert answer.status_code == 403
    assert library.count(Filter(tier="approved")) == 0


def test_a_page_signed_for_one_person_does_not_speak_for_another(client: Client, library: Library) -> None:
    forged = token(library).partition(".")[0] + ".boss@x.org"
    assert client.post("/decisions", content=json.dumps(log(library, token=forged))).status_code == 403


def test_a_delivered_decision_is_that_of_whoever_had_the_page(client: Client, library: Library) -> None:
    page = token(cast(Library, Desk(library, who="ann@x.org")))
    assert client.post("/decisions", content=json.dumps(log(library, token=page))).status_code == 204
    assert library.decisions()[0].who == "ann@x.org"


def test_a_viewers_page_delivers_nothing(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = token(cast(Library, Desk(library, who="eve@x.org")))
    monkeypatch.setattr(settings(), "viewers", "eve@x.org")
    assert client.post("/decisions", content=json.dumps(log(library, token=page))).status_code == 403
    assert library.get(address(0)).tier == "pending"


def test_what_is_no_log_is_turned_away(client: Client) -> None:
    assert client.post("/decisions", content=b"{").status_code == 400
    assert client.post("/decisions", content=b"[" * 100_000).status_code == 400
    assert client.post("/decisions", content=b" " * 1_000_001).status_code == 413
    assert client.get("/decisions").status_code == 405
