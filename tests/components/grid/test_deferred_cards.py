"""Cards that a page asks for while a slider moves."""

import json
from typing import Any

import pytest

from components.grid import deferred_cards
from components.shell.session.tokens import token
from store.library import Library
from tests.components.conftest import COINS, Client
from tests.store.conftest import address

ROWS = {address(number): COINS - 1 - number for number in range(COINS)}


@pytest.fixture(autouse=True)
def _remembered_query() -> None:
    deferred_cards.remember("question", ROWS, {address(1): {"label": "good", "tone": "good"}})


def request_cards(
    client: Client, library: Library, rows: object, question: str = "question"
) -> list[dict[str, Any]]:
    body = json.dumps({"token": token(library), "query": question, "rows": rows})
    answer = client.post("/message/cards", content=body)
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json()["cards"]
    return found


def test_a_row_returns_its_card_and_its_mark(client: Client, library: Library) -> None:
    cards = {
        card["row"]: card for card in request_cards(client, library, [ROWS[address(0)], ROWS[address(1)]])
    }
    assert {row: card["address"] for row, card in cards.items()} == {5: address(0), 4: address(1)}
    assert cards[5]["mark"] is None
    assert cards[4]["mark"] == {"label": "good", "tone": "good"}


def test_a_later_mark_replaces_an_earlier_one(client: Client, library: Library) -> None:
    deferred_cards.remember("question", ROWS, {})
    assert request_cards(client, library, [ROWS[address(1)]])[0]["mark"] is None


def test_a_missing_coin_has_no_card(client: Client, library: Library) -> None:
    deferred_cards.remember("another", {"local-gone": 0, address(2): 1}, {})
    assert [card["address"] for card in request_cards(client, library, [0, 1], "another")] == [address(2)]


def test_a_row_that_is_not_there_has_no_card(client: Client, library: Library) -> None:
    assert request_cards(client, library, [-1, 99, 10**30]) == []


@pytest.mark.parametrize("rows", [None, "0", ["0"], [None], [1.0], [True], [[0]], {"0": 0}])
def test_what_is_no_row_is_refused(client: Client, library: Library, rows: object) -> None:
    body = json.dumps({"token": token(library), "query": "question", "rows": rows})
    answer = client.post("/message/cards", content=body)
    assert (answer.status_code, answer.text.split(":")[0].split(".")[0]) == (400, "rows")


def test_old_queries_are_forgotten(client: Client, library: Library) -> None:
    for number in range(deferred_cards.REMEMBERED):
        deferred_cards.remember(f"later {number}", ROWS, {})
    body = {"token": token(library), "query": "question", "rows": [0]}
    assert client.post("/message/cards", content=json.dumps(body)).status_code == 404
