"""Surrounding chunks in their order, the nearest entries, and near duplicates."""

from pathlib import Path

import numpy as np
import pytest

from store.library import Library
from store.memory.engine.kind import TEXT
from store.memory.inspect.neighbours import around, coins_in, mentions, near_duplicates, nearest
from store.memory.memory import Memory
from store.runtime import open_library
from tests.browser.coins import COINS, DOG, FROG
from tests.store.hashed import Hashed
from tests.store.memory.inspect.city import add_world_and_session


def test_surrounding_chunks_are_in_their_original_order(memory: Memory) -> None:
    add_world_and_session(memory)
    before, after = around(memory, "city_base_lore_10", kind="world_lore", reach=2)
    assert [row["lore_id"] for row in before] == ["base_lore_8", "base_lore_9"]
    assert [row["lore_id"] for row in after] == ["base_lore_11"]


def test_the_nearest_entries_exclude_the_entry_itself(memory: Memory) -> None:
    one = memory.memories.store_memory("frogs like rain")["memory_id"]
    two = memory.memories.store_memory("frogs like mud")["memory_id"]
    memory.memories.store_memory("ledgers balance")
    found = nearest(memory, one, n=1)
    assert [(row["id"], round(score, 2)) for row, score in found] == [(two, 0.67)]


def test_near_duplicates_are_all_pairs_above_the_threshold(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.memory.inspect.neighbours._ROWS", 3)
    monkeypatch.setattr("store.memory.inspect.neighbours._COLUMNS", 2)
    texts = ["a b c d", "a b c d", "a b c e", "x y z", "a b c d e", "q"]
    memory.kinds["memories"].upsert(
        [
            {"id": f"mem_{n}", "content": text, "tags": "[]", "timestamp": "2026-01-01T00:00:00Z"}
            for n, text in enumerate(texts)
        ],
        verb="test",
    )
    snapshot = memory.kinds["memories"].resident()
    ids, matrix = snapshot.addresses, snapshot.rows(np.arange(len(snapshot)), TEXT)
    cosines = matrix @ matrix.T
    expected = {frozenset((ids[i], ids[j])) for i, j in np.argwhere(cosines >= 0.7).tolist() if i < j}
    found = near_duplicates(memory, floor=0.7)
    assert {frozenset((pair.one, pair.other)) for pair in found} == expected
    assert [pair.cosine for pair in found] == sorted((pair.cosine for pair in found), reverse=True)


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
