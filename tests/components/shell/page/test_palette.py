"""Coins found from the palette."""

import json
from typing import Any

from components.shell.page import places
from components.shell.session.tokens import token
from store.library import Library
from tests.components.conftest import Client
from tests.store.conftest import address, coin


def found(client: Client, library: Library, words: str) -> list[dict[str, Any]]:
    answer = client.post("/message/find-coins", content=json.dumps({"token": token(library), "words": words}))
    assert answer.status_code == 200
    coins: list[dict[str, Any]] = answer.json()["coins"]
    return coins


def test_a_coin_is_found_by_ticker_name_or_address_in_every_tier(client: Client, library: Library) -> None:
    library.add([coin(100, token_name="Rain Frog", ticker="RAIN"), coin(101, token_name="Rain", ticker="🐸")])
    library.reject([address(101)])
    assert [one["name"] for one in found(client, library, "rain")] == ["Rain Frog", "Rain"]
    assert [one["name"] for one in found(client, library, address(100))] == ["Rain Frog"]
    rejected = found(client, library, "🐸")[0]
    assert rejected["name"] == "Rain"
    assert rejected["tier"] == "Rejected"
    assert rejected["link"] == places.address(places.coin(address(101), "trash"))
    assert found(client, library, "nothing is called so") == []


def test_every_place_has_a_letter_of_its_own() -> None:
    letters = [place.letter for place in places.PLACES.values()]
    assert len(set(letters)) == len(letters)
    assert all(len(letter) == 1 for letter in letters)
