"""Vectors in memory follow every change, and search over them is exact."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.embedding.active_model import ActiveModel
from store.memory.engine.errors import InvalidInput
from store.memory.memory import Memory
from tests.store.memory.bags import Bags

# -- exact search --------------------------------------------------------------------------------------------


changes = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("pqr"), st.booleans()), max_size=30)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(changes)
def test_resident_vectors_follow_every_change_and_search_is_exact(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, str, bool]]
) -> None:
    with Memory.open(tmp_path_factory.mktemp("m") / "res", embedder=Bags(dimensions=16)) as memory:
        entries = memory.lore.entries
        memory._follower.wake = lambda: None  # type: ignore[union-attr, method-assign]
        expected: dict[str, str] = {}
        for number, world, stays in changes:
            id = f"{world}_{number}"
            if stays:
                memory.lore.add_lore(world, str(number), f"word{number} {world}")
                expected[id] = f"word{number} {world}"
            else:
                entries.remove([id])
                expected.pop(id, None)
            assert set(entries.resident().addresses) == expected.keys()
        question = entries.question("word1 p")
        for where in ({}, {"world_id": "p"}, {"world_id": ["q", "r"]}):
            worlds = where.get("world_id", "pqr")
            cosines = {
                id: float(np.dot(entries.vector(id), question))  # type: ignore[arg-type]
                for id in expected
                if id[0] in worlds
            }
            best = sorted(cosines, key=lambda id: (-round(cosines[id], 5), id))[:3]
            found = entries.nearest(question, n=3, where=where)
            assert [round(score, 4) for score in found.values()] == [round(cosines[id], 4) for id in best]


def test_a_wrong_vector_length_or_filter_is_refused(memory_with_lore: Memory) -> None:
    with pytest.raises(InvalidInput, match="was not made by bags"):
        memory_with_lore.lore.entries.nearest(np.ones(3, np.float32), n=1)
    with pytest.raises(InvalidInput, match="can be filtered by world_id"):
        memory_with_lore.lore.entries.search("x", n=1, where={"planet": "x"})


# -- the context of a story ----------------------------------------------------------------------------------


def test_searching_an_empty_kind_finds_nothing(memory: Memory) -> None:
    assert len(memory.lore.entries.resident()) == 0
    assert memory.lore.entries.search("anything", n=3) == []


def test_loading_vectors_during_an_erase_succeeds(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = memory.lore.entries
    memory.lore.add_lore("peaks", "forge", "The dwarves forged the mountains.")
    reading = entries.database.reading

    @contextmanager
    def erased_meanwhile() -> Iterator[sqlite3.Connection]:
        monkeypatch.setattr(entries.database, "reading", reading)
        entries.erase(entries.kind.scope, "peaks")
        with reading() as db:
            yield db

    name = entries.model  # reading it is not what comes before the erase
    monkeypatch.setattr(ActiveModel, "name", property(lambda self: name))
    monkeypatch.setattr(entries.database, "reading", erased_meanwhile)
    assert len(entries.resident()) == 0


def test_equal_texts_have_equal_scores_wherever_they_are(memory: Memory) -> None:
    for number in range(40):
        memory.lore.add_lore("peaks", f"{number:02}", "dragon treasure" if number % 7 else "dragon fire")
    entries = memory.lore.entries
    found = entries.nearest(entries.question("dragon gold"), n=40)
    assert len(set(found.values())) == 2
