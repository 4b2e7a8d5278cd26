"""Recall tests that write themselves: which entries their own words do not find."""

from collections.abc import Callable

import pytest

from store.memory.engine.settings import memory_settings
from store.memory.inspect.recall_test import recall_test
from store.memory.memory import Memory


def test_an_entry_with_words_of_its_own_is_found(memory: Memory) -> None:
    for text in ("Frogs like rain", "Ledgers balance daily", "...", "Kettles whistle"):
        memory.memories.store_memory(text)
    found = recall_test(memory)
    assert (found.asked, found.unfound) == (3, []), "a text without words is asked by nothing"


def test_entries_that_others_hide_are_named_with_their_question(memory: Memory) -> None:
    ids = [memory.memories.store_memory("Frogs like the rain")["memory_id"] for _ in range(7)]
    memory.memories.store_memory("Ledgers balance daily")
    found = recall_test(memory)
    assert found.asked == 8
    assert len(found.unfound) == 2
    assert {one.id for one in found.unfound} < {*ids}
    assert {one.question for one in found.unfound} == {"frogs like rain"}
    assert all(one.instead in ids for one in found.unfound)
    memory.set_recall([one.id for one in found.unfound], "never")
    assert recall_test(memory).unfound == [], "what is never recalled is not asked for"


def test_each_world_is_asked_by_itself(memory: Memory) -> None:
    for number in range(7):
        memory.lore.add_lore(f"world{number}", "law", "Frogs like the rain")
    found = recall_test(memory, "world_lore")
    assert (found.asked, found.unfound) == (7, [])


def test_a_recall_test_is_in_no_log(reopen: Callable[[], Memory], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEDEX_RETRIEVAL_LOG", "ids")
    memory_settings.cache_clear()
    memory = reopen()
    memory_settings.cache_clear()
    memory.memories.store_memory("Frogs like rain")
    assert recall_test(memory).asked == 1
    assert not memory.places.retrievals.exists()
    memory.memories.search_memory("Frogs like rain")
    assert memory.places.retrievals.exists()
