"""Every version of an entry says who wrote it, when, through what, and since when it counts."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from store.memory.engine.inputs import UnknownEntry
from store.memory.memory import Memory
from store.permissions import Actor
from tests.store.memory.conftest import Clock
from tests.store.memory.earlier import as_of_1_2


def by_agent(memory: Memory, *, is_reviewed: bool = False) -> Memory:
    return memory.for_actor(Actor("mira", via="MCP", agent="claude", is_reviewed=is_reviewed))


def take_back_version_3(db: sqlite3.Connection) -> None:
    """Leave the file as version 2 knew it."""
    db.executescript(
        "DROP TABLE pending; DROP TABLE recall; DROP TABLE checksums; "
        "ALTER TABLE history DROP COLUMN agent; ALTER TABLE history DROP COLUMN via"
    )


def test_an_edit_supersedes_and_the_old_version_stays_readable(memory: Memory, clock: Clock) -> None:
    id = by_agent(memory).memories.store_memory("the forge is cold")["memory_id"]
    begun = clock.now
    clock.now += 60
    memory.for_actor(Actor("ann", via="page")).memories.edit(id, content="the forge is hot")
    new, old = memory.memories.entries.versions(id)
    assert (new.row or {})["content"] == "the forge is hot"
    assert (new.author, new.via, new.created_at, new.superseded_by) == ("ann", "page", begun + 60, None)
    assert (old.row or {})["content"] == "the forge is cold"
    assert (old.author, old.via, old.created_at) == ("claude for mira", "MCP", begun)
    [decision] = memory.log.to_undo("ann")
    assert (old.superseded_by, old.superseded_at) == (decision, begun + 60)


def test_an_undo_brings_back_a_version_with_its_author(memory: Memory) -> None:
    id = by_agent(memory).memories.store_memory("the forge is cold")["memory_id"]
    ann = memory.for_actor(Actor("ann", via="page"))
    ann.memories.edit(id, content="the forge is hot")
    ann.undo()
    now, *earlier = memory.memories.entries.versions(id)
    assert ((now.row or {})["content"], now.author, now.verb) == (
        "the forge is cold",
        "claude for mira",
        "undo",
    )
    assert len(earlier) == 2


def test_a_removed_entry_keeps_its_versions(memory: Memory) -> None:
    id = memory.memories.store_memory("the forge is cold")["memory_id"]
    memory.memories.entries.remove([id])
    gone, old = memory.memories.entries.versions(id)
    assert gone.row is None
    assert (old.row or {})["content"] == "the forge is cold"
    with pytest.raises(UnknownEntry):
        memory.memories.entries.versions("mem_0")


def test_an_import_says_so(memory: Memory) -> None:
    (memory.places.worlds / "peaks.yaml").write_text(
        "id: peaks\nname: Peaks\nlore: Dragons sleep.\nstart_message: You wake.\n", encoding="utf-8"
    )
    assert memory.lore.load_worlds().done == ["peaks"]
    assert [one.via for one in memory.lore.entries.versions("peaks_base_lore_0")] == ["import"]


def test_a_file_of_version_2_opens_with_everything_in_it(
    memory: Memory, reopen: Callable[[], Memory]
) -> None:
    id = memory.memories.store_memory("first")["memory_id"]
    memory.memories.edit(id, content="second")
    memory.close()
    as_of_1_2(memory.places.root)
    with closing(sqlite3.connect(memory.places.former("memories"))) as db:  # as version 2 left it
        take_back_version_3(db)
        db.execute("PRAGMA user_version = 2")
        db.commit()
    new, old = reopen().memories.entries.versions(id)
    assert [(one.row or {})["content"] for one in (new, old)] == ["second", "first"]
    assert (new.via, new.superseded_by, old.superseded_by is None) == ("", None, False)
