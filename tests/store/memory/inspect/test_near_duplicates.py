"""Near duplicates are all pairs above the threshold."""

import numpy as np
import pytest

from store.memory.inspect.near_duplicates import near_duplicates
from store.memory.memory import Memory


def test_near_duplicates_are_all_pairs_above_the_threshold(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.memory.inspect.near_duplicates._ROWS", 3)
    monkeypatch.setattr("store.memory.inspect.near_duplicates._COLUMNS", 2)
    texts = ["a b c d", "a b c d", "a b c e", "x y z", "a b c d e", "q"]
    memory.kinds["memories"].upsert(
        [
            {"id": f"mem_{n}", "content": text, "tags": "[]", "timestamp": "2026-01-01T00:00:00Z"}
            for n, text in enumerate(texts)
        ],
        verb="test",
    )
    ids, matrix = memory.kinds["memories"].resident().copied()
    cosines = matrix @ matrix.T
    expected = {frozenset((ids[i], ids[j])) for i, j in np.argwhere(cosines >= 0.7).tolist() if i < j}
    found = near_duplicates(memory, floor=0.7)
    assert {frozenset((pair.one, pair.other)) for pair in found} == expected
    assert [pair.cosine for pair in found] == sorted((pair.cosine for pair in found), reverse=True)
