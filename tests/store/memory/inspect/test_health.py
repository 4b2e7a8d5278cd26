"""Health: stale entries, concerns with remedies, a histogram that counts all."""

from pathlib import Path

from store.memory.inspect.health import concerns, figures
from store.memory.memory import Memory
from store.memory.story.worlds import World
from tests.store.memory.conftest import Clock
from tests.store.memory.inspect.city import add_world_and_session


def test_stale_entries_were_neither_written_nor_edited_since(memory: Memory, clock: Clock) -> None:
    add_world_and_session(memory)
    memory.documents.import_document(Path("a.md"), protocol="aave", content=b"loans and rates")
    old = memory.memories.store_memory("frogs like rain")["memory_id"]
    written, clock.now = clock.now, clock.now + 100
    memory.memories.store_memory("frogs like mud")
    memory.memories.edit(old, content="frogs love rain")
    memory.session_memory.add_memory("mira_one", "0", "said again")
    expected = {"memories": 0, "documents": 1, "world_lore": 12, "session_memory": 4}
    for kind, count in expected.items():
        entries = memory.kinds[kind]
        stale = entries.find(before=int(clock.now), order="written")
        assert (len(stale), entries.count(before=int(clock.now))) == (count, count), kind
        assert entries.count(before=int(written)) == 0, "what was written then is not from before"
        assert {*entries.written([row["id"] for row in stale]).values()} <= {written}


def test_health_reports_each_concern_with_a_remedy(memory: Memory) -> None:
    add_world_and_session(memory)
    memory.lore.put_world(World("blank", "Blank", "", "", file="blank.yaml"))
    memory.kinds["world_lore"].edit("city_base_lore_0", text="Something else entirely.")
    memory.lore.add_lore("city", "long", "x " * 500)
    with memory.kinds["memories"].database.writing() as db:
        db.execute("INSERT INTO memories (id, content, tags, timestamp) VALUES ('mem_1', ' ', '[]', '2026')")
    found = {concern.what: concern.which for concern in concerns(memory)}
    assert found["worlds without lore"] == ["blank"]
    assert found["entries edited here, unlike their world's file"] == ["city_base_lore_0"]
    assert found["entries longer than a chunk of 800 characters"] == ["city_long"]
    assert found["entries that say nothing"] == ["mem_1"]
    assert found["sessions never queried"] == ["mira_one"]
    assert "mem_1" in next(which for what, which in found.items() if "without a vector" in what)
    assert all(concern.remedy for concern in concerns(memory))
    memory.session_memory.query_memory("mira_one", "question")
    assert "sessions never queried" not in {concern.what for concern in concerns(memory)}


def test_the_histogram_counts_every_entry_once(memory: Memory) -> None:
    add_world_and_session(memory)
    found = figures(memory.kinds["world_lore"])
    assert sum(number for _, number in found.lengths) == found.entries == 12
    assert found.models == {"bags": 12}
    assert found.size > 0
    assert figures(memory.kinds["documents"]).lengths == []
