"""Any question can be asked as of a moment in the past."""

from pathlib import Path

import pytest

from store.errors import InvalidRecord, ReadOnly
from store.memory import demo
from store.memory.engine.inputs import InvalidInput
from store.memory.engine.reembedding import reembed
from store.memory.memory import Memory
from store.memory.trust.replay import difference
from tests.store.memory.bags import Bags
from tests.store.memory.conftest import Clock


def found(memory: Memory, question: str) -> list[str]:
    return [hit["content"] for hit in memory.memories.search_memory(question)["results"]]


def test_a_question_of_the_past_knows_nothing_that_came_later(memory: Memory, clock: Clock) -> None:
    id = memory.memories.store_memory("the frog likes tea")["memory_id"]
    gone = memory.memories.store_memory("the frog likes rain")["memory_id"]
    memory.lore.add_lore("peaks", "king", "King Bran sleeps")
    then = clock.now
    clock.now += 60
    memory.memories.edit(id, content="the frog likes coffee")
    memory.memories.entries.remove([gone])
    memory.memories.store_memory("the frog likes chess")
    memory.lore.add_lore("peaks", "king", "Queen Ada sleeps")
    with memory.as_of(then) as past:
        assert sorted(found(past, "frog likes")) == ["the frog likes rain", "the frog likes tea"]
        assert past.lore.query_lore("peaks", "who sleeps") == (["King Bran sleeps"], False)
        assert past.preview("who sleeps", where={"lore": {"world_id": "peaks"}}).text == "King Bran sleeps"
        assert past.memories.entries.count() == 2
        with pytest.raises(ReadOnly):
            past.memories.store_memory("words")
    assert sorted(found(memory, "frog likes")) == ["the frog likes chess", "the frog likes coffee"]
    with memory.as_of(then - 1) as before:
        assert before.status().counts == dict.fromkeys(memory.kinds, 0)
    for moment in (clock.now + 1, float("nan")):
        with pytest.raises(InvalidInput):
            memory.as_of(moment)


def test_the_past_is_the_same_after_undo_and_redo(memory: Memory, clock: Clock) -> None:
    id = memory.memories.store_memory("the frog likes tea")["memory_id"]
    clock.now += 1
    memory.memories.edit(id, content="the frog likes coffee")
    then = clock.now
    clock.now += 1
    memory.undo()
    with memory.as_of(then) as past:
        assert found(past, "frog likes") == ["the frog likes coffee"]
    with memory.as_of(clock.now) as past:
        assert found(past, "frog likes") == ["the frog likes tea"]


def test_entries_of_another_model_are_found_by_the_one_of_today(memory: Memory, clock: Clock) -> None:
    id = memory.memories.store_memory("the frog likes tea")["memory_id"]
    then = clock.now
    clock.now += 1
    memory.memories.entries.remove([id])
    reembed(memory.memories.entries, Bags(name="other", dimensions=32))
    with memory.as_of(then) as past:
        (hit,) = past.memories.search_memory("the frog likes tea")["results"]
        assert hit["relevance_score"] == pytest.approx(100)


def test_every_kind_is_in_the_past_since_it_was_stored_whatever_its_own_date(
    memory: Memory, clock: Clock
) -> None:
    before = clock.now
    clock.now += 60
    demo.load(memory)  # its texts are dated long before
    with memory.as_of(before) as past:
        assert not any(entries.count() for entries in past.kinds.values())
        assert past.transcripts.search("restart", mode="full_text") == []
        assert past.transcripts.count_events() == 0
    assert {one.what for one in difference(memory, before)} == {"added"}
    with memory.as_of(clock.now) as past:
        assert all(entries.count() for entries in past.kinds.values())
        assert past.transcripts.search("restart", mode="full_text")


def test_pins_and_documents_are_of_the_moment_too(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    path = tmp_path / "paper.md"
    path.write_text("The reserve factor is ten percent.")
    memory.documents.import_document(path, protocol="Aave")
    memory.lore.add_lore("peaks", "king", "King Bran sleeps")
    then = clock.now
    clock.now += 1
    memory.set_recall(["peaks_king"], "never", kind="world_lore")
    memory.documents.remove_document("aave", "paper.md")
    with memory.as_of(then) as past:
        assert past.lore.query_lore("peaks", "who sleeps")[0] == ["King Bran sleeps"]
        assert [hit["content"] for hit in past.documents.search("reserve")] == [
            "The reserve factor is ten percent."
        ]
        assert [one.source for one in past.documents.sources()] == ["paper.md"]
    assert memory.lore.query_lore("peaks", "who sleeps")[0] == []


def test_two_moments_differ_in_what_was_added_changed_and_removed(memory: Memory, clock: Clock) -> None:
    kept, gone = (memory.memories.store_memory(text)["memory_id"] for text in ("tea", "rain"))
    then = clock.now
    clock.now += 60
    memory.memories.edit(kept, content="coffee")
    memory.memories.entries.remove([gone])
    memory.lore.add_lore("peaks", "king", "Queen Ada sleeps")
    found = [(one.what, one.id, one.before, one.after) for one in difference(memory, then)]
    assert found == [
        ("changed", kept, "tea", "coffee"),
        ("removed", gone, "rain", ""),
        ("added", "peaks_king", "", "Queen Ada sleeps"),
    ]
    assert difference(memory, then, then) == []
    with pytest.raises(InvalidRecord):
        difference(memory, clock.now, then)
