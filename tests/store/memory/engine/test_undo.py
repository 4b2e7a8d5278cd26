"""Undo reverses the latest decision of any kind, even if the clock was set back."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any
from uuid import uuid4

import pytest

from store.errors import NothingToUndo, NotPermitted, NotWritten
from store.memory.engine.change import MemoryChange
from store.memory.kinds import KINDS
from store.memory.memory import Memory
from store.memory.story.lore import parse_world
from store.memory.trust import review
from store.permissions import Actor, current_user
from tests.store.memory.conftest import Clock
from tests.store.memory.earlier import as_of_1_2
from tests.store.memory.engine.test_versions import by_agent


def test_undo_reverts_the_users_latest_decision_of_any_kind(memory: Memory, clock: object) -> None:
    memory.memories.store_memory("kept", actor="ann")
    clock.now += 1  # type: ignore[attr-defined]
    memory.lore.add_lore("city", "one", "taken back", actor="ann")
    clock.now += 1  # type: ignore[attr-defined]
    memory.memories.store_memory("somebody else's", actor="bob")
    memory.undo(actor="ann")
    assert memory.kinds["world_lore"].count() == 0
    assert memory.kinds["memories"].count() == 2
    memory.undo(actor="ann")
    with pytest.raises(NothingToUndo):
        memory.undo(actor="ann")
    assert [row["content"] for row in memory.kinds["memories"].find()] == ["somebody else's"]


def test_undo_order_does_not_depend_on_the_clock(memory: Memory, clock: Clock) -> None:
    memory.lore.add_lore("city", "one", "the first")
    memory.lore.add_lore("city", "two", "the second")
    clock.now -= 3600
    memory.memories.store_memory("the last")
    clock.now -= 3600
    left = [memory.kinds[name].count for name in ("memories", "world_lore")]
    for wanted in ([0, 2], [0, 1], [0, 0]):
        memory.undo()
        assert [count() for count in left] == wanted


def test_decisions_without_common_numbers_are_ordered_by_the_clock(
    memory: Memory, clock: Clock, reopen: Callable[[], Memory]
) -> None:
    memory.memories.store_memory("early")
    clock.now += 1
    memory.lore.add_lore("city", "one", "late")
    memory.close()
    as_of_1_2(memory.places.root)
    for kind in KINDS:
        with closing(sqlite3.connect(memory.places.former(kind.file))) as db, db:
            db.execute("DROP TABLE checksums")
            db.execute("UPDATE decisions SET number = 7 - number")
            db.execute("UPDATE history SET decision = 7 - decision")
            db.execute("DELETE FROM meta WHERE key = 'numbered_after'")
    again = reopen()
    [last] = map(again.log.get, again.log.to_undo(current_user()))
    assert last
    assert last.kinds == ("world_lore",)
    again.memories.store_memory("now")
    assert [(again.undo(), again.kinds["world_lore"].count())[1] for _ in range(2)] == [1, 0]


def test_undo_never_reaches_past_a_forgetting_and_says_so(memory: Memory) -> None:
    memory.memories.store_memory("unrelated")
    memory.session_memory.add_memory("elf_s1", "1", "forgotten")
    memory.session_memory.delete_session_memory("elf_s1")
    assert memory.log.to_undo(current_user()) == []
    with pytest.raises(NothingToUndo, match="never reaches past"):
        memory.undo()
    assert memory.memories.entries.count() == 1
    memory.memories.store_memory("afterwards")
    memory.undo()
    assert [row["content"] for row in memory.memories.entries.find()] == ["unrelated"]
    with pytest.raises(NothingToUndo, match="never reaches past"):
        memory.undo()


def test_another_persons_deletion_does_not_block_undo(memory: Memory) -> None:
    memory.memories.store_memory("taken back", actor="ann")
    memory.session_memory.add_memory("elf_s1", "1", "forgotten", actor="bob")
    memory.session_memory.delete_session_memory("elf_s1", actor="bob")
    memory.undo(actor="ann")
    assert memory.memories.entries.count() == 0


def test_deleted_vectors_bar_undo_as_well(memory: Memory) -> None:
    memory.memories.store_memory("unrelated")
    entries = memory.memories.entries
    with entries.database.writing() as db:
        db.execute("INSERT INTO memories_vectors VALUES ('key', 'older', x'00000000')")
    entries.delete_vectors("older")
    with pytest.raises(NothingToUndo, match="never reaches past"):
        memory.undo()


def test_a_decision_in_two_kinds_is_undone_and_redone_as_often_as_one_likes(memory: Memory) -> None:
    decision, content = uuid4().hex, b"id: peaks\nlore: Dragons live here."
    memory.lore.put_world(parse_world(content, file="peaks.yaml"), verb="adopt", decision=decision)
    memory.lore.put_file("peaks.yaml", content)
    with memory.session_memory.entries.change("adopt", decision=decision) as change:
        change.upsert({"id": "elf_s1_1", "session_id": "elf_s1", "memory_id": "1", "text": "hi", "at": 0.0})
    file = memory.places.worlds / "peaks.yaml"
    for _ in range(2):
        memory.undo()
        assert (memory.lore.worlds(), memory.session_memory.entries.count(), file.exists()) == ([], 0, False)
        memory.redo()
        assert (len(memory.lore.worlds()), memory.session_memory.entries.count()) == (1, 1)
        assert file.read_bytes() == content
    assert memory.log.get(decision)
    assert memory.log.find(limit=1)[0].kinds == ("session_memory", "world_lore")


def test_an_undo_over_several_kinds_is_done_as_a_whole_or_not_at_all(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    decision = uuid4().hex
    for entries, row in (
        (memory.session_memory.entries, {"session_id": "elf", "memory_id": "1", "text": "hi", "at": 0.0}),
        (memory.lore.entries, {"world_id": "peaks", "lore_id": "1", "text": "hi", "metadata": "{}"}),
    ):
        with entries.change("adopt", decision=decision) as change:
            change.upsert({"id": "one", **row})
    put_back = MemoryChange._put_back

    def fail_in_sessions(change: MemoryChange, *args: Any, **more: Any) -> None:
        if change.kind.name == "session_memory":
            raise OSError("no space left")
        put_back(change, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(MemoryChange, "_put_back", fail_in_sessions)
        with pytest.raises(NotWritten):
            memory.undo()
    assert [memory.kinds[name].count() for name in ("session_memory", "world_lore")] == [1, 1]
    assert memory.undo().done == ["one"]
    assert [memory.kinds[name].count() for name in ("session_memory", "world_lore")] == [0, 0]


# -- decisions by their ids ----------------------------------------------------------------------------------


def test_a_decision_that_is_sent_again_is_not_made_twice(memory: Memory) -> None:
    first = memory.memories.store_memory("once", decision="a")
    assert memory.memories.store_memory("once", decision="a") == first
    entries = memory.memories.entries
    for _ in range(2):
        entries.edit(first["memory_id"], content="again", decision="b")
        assert entries.remove([first["memory_id"]], decision="c") == 1
    assert [one.id for one in memory.log.find()] == ["c", "b", "a"]
    undone = [memory.undo(decision="d") for _ in range(2)]
    assert undone[0] == undone[1]
    assert (undone[0].done, undone[0].decision, undone[0].reversed) == ([first["memory_id"]], "d", "c")
    assert contents(memory) == ["again"]


def test_another_persons_id_is_refused(memory: Memory) -> None:
    memory.for_actor(Actor("ann", via="page")).memories.store_memory("hers", decision="a")
    ben = memory.for_actor(Actor("ben", via="page"))
    for again in (
        lambda: ben.memories.store_memory("his", decision="a"),
        lambda: ben.undo(decision="a"),
        lambda: ben.lore.add_lore("peaks", "1", "his", decision="a"),
    ):
        with pytest.raises(NotPermitted, match="another user"):
            again()
    assert contents(memory) == ["hers"]


def test_any_decision_is_undone_by_its_name_and_its_undo_too(memory: Memory) -> None:
    memory.memories.store_memory("first", decision="a")
    memory.lore.add_lore("peaks", "1", "later", decision="b")
    assert memory.undo_decisions(["a"], decision="c").reversed == "a"
    assert memory.undo_decisions(["a"]).done == [], "once is enough"
    assert contents(memory) == []
    assert [(one.id, one.is_undone) for one in memory.log.find()] == [
        ("c", False),
        ("b", False),
        ("a", True),
    ]
    assert memory.undo_decisions(["c"]).decision, "an undo is redone"
    assert contents(memory) == ["first"]
    assert memory.undo_decisions(["a"]).done, "what was undone and redone is undone again"
    assert memory.undo_decisions(["none"]).refused[0].reason == "there is no such decision"


# -- a person, and agents in their place ---------------------------------------------------------------------


def contents(memory: Memory) -> list[str]:
    return [row["content"] for row in memory.memories.entries.find()]


def test_undo_of_a_person_leaves_what_their_agent_left_for_review(memory: Memory) -> None:
    mira, agent = memory.for_actor(Actor("mira", via="page")), by_agent(memory, is_reviewed=True)
    agent.memories.store_memory("dragons sleep")
    review.accept(mira, [one.entry.id for one in review.waiting(memory)])
    agent.memories.store_memory("not seen yet")
    mira.undo()
    assert contents(memory) == []
    assert {one.entry.row["content"] for one in review.waiting(memory) if one.entry.row} == {
        "dragons sleep", "not seen yet",
    }  # fmt: skip
    mira.redo()
    assert contents(memory) == ["dragons sleep"]
    assert review.count(memory) == 1


def test_what_an_agent_writes_does_not_end_its_persons_redo(memory: Memory) -> None:
    mira, agent = memory.for_actor(Actor("mira", via="page")), by_agent(memory)
    mira.memories.store_memory("by the person")
    mira.undo()
    agent.memories.store_memory("by the agent")
    agent.lore.add_lore("peaks", "one", "by the agent as well")
    assert mira.log.to_redo("mira")
    mira.redo()
    assert contents(memory) == ["by the person", "by the agent"]


def test_what_an_agent_deletes_for_good_does_not_end_its_persons_undo_and_redo(memory: Memory) -> None:
    mira, agent = memory.for_actor(Actor("mira", via="page")), by_agent(memory)
    mira.memories.store_memory("by the person")
    for number in (1, 2):
        agent.session_memory.add_memory(f"elf_s{number}", "1", "by the agent")
    agent.session_memory.delete_session_memory("elf_s1")
    mira.undo()
    assert contents(memory) == []
    agent.session_memory.delete_session_memory("elf_s2")
    assert mira.log.to_redo("mira")
    mira.redo()
    assert contents(memory) == ["by the person"]


def test_what_an_agent_deletes_for_good_ends_its_own_undo_and_redo(memory: Memory) -> None:
    mira, agent = memory.for_actor(Actor("mira", via="page")), by_agent(memory)
    agent.session_memory.add_memory("elf_s1", "1", "deleted")
    agent.memories.store_memory("kept")
    agent.memories.store_memory("undone")
    agent.undo()
    agent.session_memory.delete_session_memory("elf_s1")
    assert not agent.log.to_redo("mira")
    with pytest.raises(NothingToUndo, match="never reaches past"):
        agent.undo()
    with pytest.raises(NothingToUndo, match=r"nothing to undo$"):
        mira.undo()


def test_an_agent_undoes_and_redoes_only_what_it_did(memory: Memory) -> None:
    mira, agent = memory.for_actor(Actor("mira", via="page")), by_agent(memory)
    another = memory.for_actor(Actor("mira", via="MCP", agent="cursor"))
    agent.memories.store_memory("by the agent")
    mira.memories.store_memory("by the person")
    with pytest.raises(NothingToUndo):
        another.undo()
    agent.undo()
    assert contents(memory) == ["by the person"]
    with pytest.raises(NothingToUndo):
        agent.undo()
    with pytest.raises(NothingToUndo):
        another.redo()
    mira.memories.store_memory("the person goes on")
    another.memories.store_memory("and so does another agent")
    agent.redo()
    assert "by the agent" in contents(memory)
