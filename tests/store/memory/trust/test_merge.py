"""Pin, never recall, merge: each one decision with one undo."""

import json

import pytest

from store.errors import NotPermitted
from store.memory.engine.errors import InvalidInput, UnknownEntry
from store.memory.inspect.probe import probe
from store.memory.memory import Memory
from store.memory.trust import merge, recall
from tests.store.memory.engine.test_versions import by_agent


def test_a_pinned_entry_is_in_every_context_of_its_world(memory: Memory) -> None:
    for number in range(6):
        memory.lore.add_lore("peaks", f"l{number}", f"dragons sleep {number}")
    memory.lore.add_lore("peaks", "law", "Never harm a ferryman")
    memory.lore.add_lore("swamp", "frog", "frogs sing")
    recall.set_recall(memory, ["peaks_law"], "pinned", kind="world_lore")
    assert memory.lore.query_lore("peaks", "dragons", n_results=2)[0][0] == "Never harm a ferryman"
    assert len(memory.lore.query_lore("peaks", "dragons", n_results=2)[0]) == 3
    assert memory.lore.query_lore("swamp", "dragons")[0] == ["frogs sing"], "no other world's"
    seen = memory.preview("dragons", where={"lore": {"world_id": "peaks"}})
    assert seen.chunks[0].row["id"] == "peaks_law"
    memory.undo()
    assert recall.of(memory, "peaks_law", kind="world_lore") == ""
    assert "Never harm a ferryman" not in memory.lore.query_lore("peaks", "dragons", n_results=2)[0]


def test_an_entry_that_is_never_recalled_stays_and_is_found_by_no_question(memory: Memory) -> None:
    ids = [memory.memories.store_memory(f"frogs like tea {n}")["memory_id"] for n in range(3)]
    entries = memory.memories.entries
    recall.set_recall(memory, [ids[0]], "never")
    found = {hit["memory_id"] for hit in memory.memories.search_memory("frogs like tea")["results"]}
    assert found == set(ids[1:])
    assert entries.count() == 3
    assert [one.row["id"] for one in probe(memory, "frogs", n=5).misses if one.kept_out == "never"] == ids[:1]
    recall.set_recall(memory, [ids[0]], "")
    assert len(memory.memories.search_memory("frogs like tea")["results"]) == 3
    with pytest.raises(UnknownEntry):
        recall.set_recall(memory, ["mem_0"], "never")


def test_a_reviewed_agent_pins_nothing(memory: Memory) -> None:
    id = memory.memories.store_memory("frogs like tea")["memory_id"]
    with pytest.raises(NotPermitted):
        recall.set_recall(by_agent(memory, is_reviewed=True), [id], "pinned")


def test_a_merge_keeps_what_only_one_of_them_says_and_one_undo_takes_it_back(memory: Memory) -> None:
    entries = memory.memories.entries
    keep = memory.memories.store_memory("Frogs like green tea.", ["tea"])["memory_id"]
    other = memory.memories.store_memory("Frogs like green tea. Toads drink coffee.", ["coffee"])["memory_id"]
    shown = merge.preview(memory, keep, [other])
    assert shown.text == "Frogs like green tea. Toads drink coffee."
    assert entries.count() == 2, "a preview changes nothing"
    merge.merge(memory, keep, [other])
    (row,) = entries.find()
    assert (row["id"], row["content"], json.loads(row["tags"])) == (keep, shown.text, ["tea", "coffee"])
    assert [hit["memory_id"] for hit in memory.memories.search_memory("toads coffee")["results"]] == [keep]
    memory.undo()
    assert [row["content"] for row in entries.find(order="id")] == [
        "Frogs like green tea.", "Frogs like green tea. Toads drink coffee.",
    ]  # fmt: skip


def test_entries_of_two_worlds_are_not_merged(memory: Memory) -> None:
    memory.lore.add_lore("peaks", "1", "dragons sleep")
    memory.lore.add_lore("swamp", "1", "dragons sleep")
    with pytest.raises(InvalidInput):
        merge.merge(memory, "peaks_1", ["swamp_1"], kind="world_lore")
    with pytest.raises(InvalidInput):
        merge.preview(memory, "peaks_1", ["peaks_1"], kind="world_lore")


def test_a_merge_shown_before_somebody_changed_an_entry_is_refused(memory: Memory) -> None:
    entries = memory.memories.entries
    keep, other = (memory.memories.store_memory(f"frogs like tea {n}")["memory_id"] for n in range(2))
    shown = merge.preview(memory, keep, [other])
    for id in (keep, other):
        memory.memories.edit(id, content="frogs like coffee", actor="bob")
        with pytest.raises(InvalidInput, match=f"{id} was changed in the meantime"):
            merge.merge(memory, keep, [other], text="frogs like tea", shown=shown)
        memory.undo(actor="bob")
    merge.merge(memory, keep, [other], text="frogs like tea", shown=shown)
    assert [row["content"] for row in entries.find()] == ["frogs like tea"]
