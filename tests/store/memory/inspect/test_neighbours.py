"""Surrounding chunks in their order, the nearest entries, and near duplicates."""

import numpy as np
import pytest

from store.memory.engine.resident import TEXT
from store.memory.inspect.neighbours import around, near_duplicates, nearest
from store.memory.memory import Memory
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
