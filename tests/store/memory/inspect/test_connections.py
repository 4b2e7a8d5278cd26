"""Coins that are named in a text, and texts that name a coin."""

from pathlib import Path

import pytest

from store.library import Library
from store.memory.inspect.connections import coins_in, mentions
from store.memory.memory import Memory
from store.runtime import open_library
from tests.browser.coins import COINS, DOG, FROG
from tests.store.hashed import Hashed


@pytest.fixture
def coins(tmp_path: Path) -> Library:
    library = open_library(tmp_path / "res", embedder=Hashed())
    library.add([coin.candidate() for coin in COINS])
    return library


def test_mentions_of_a_coin_are_found_by_name_and_ticker(memory: Memory, coins: Library) -> None:
    with coins:
        frog = coins.get(FROG.address)
        memory.lore.add_lore("city", "named", f"At the gate sits {frog.name.upper()} and waits.")
        memory.lore.add_lore("city", "ticker", f"They paid in ${frog.ticker.lower()} again.")
        memory.lore.add_lore("city", "neither", "Nothing of the kind.")
        found = {mention.row["lore_id"]: mention.how for mention in mentions(memory, frog)}
        assert found == {"named": "name", "ticker": "ticker", "neither": "meaning"}
        for mention in mentions(memory, frog, near=0):
            text = mention.row["text"][mention.place :]
            assert text.lower().startswith((frog.name.lower(), f"${frog.ticker.lower()}"))


def test_coins_named_in_a_text_are_found(memory: Memory, coins: Library) -> None:
    with coins:
        frog, dog = coins.get(FROG.address), coins.get(DOG.address)
        found = coins_in(coins, f"{frog.name} met ${dog.ticker}.")
        assert {mentioned.record.address: mentioned.how for mentioned in found} == {
            FROG.address: "name",
            DOG.address: "ticker",
        }
        assert not coins_in(coins, "nobody at all")
        coins.delete([FROG.address])
        assert not coins_in(coins, frog.name), "what lies in the trash is not connected"
