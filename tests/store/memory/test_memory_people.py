"""Who may change the text memory, and who may only look: the same desk as over the coins."""

from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from store.desk import Desk
from store.errors import ReadOnly
from store.memory import Documents, Lore, Memories, Memory, Passages, Sessions, Transcripts, World
from store.settings import settings


@pytest.fixture
def eve(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A viewer, at a memory in which somebody has left a few things."""
    memory.memories.store_memory("short tickers", ["naming"])
    memory.lore.add_lore("peaks", "forge", "dwarves forged the mountains")
    memory.sessions.add_memory("elf_s1", "1", "dragons sleep")
    monkeypatch.setenv("MEMEDEX_VIEWERS", "eve")
    settings.cache_clear()
    yield Desk(memory, who="eve")
    settings.cache_clear()


def test_every_verb_at_a_desk_says_whose_it_is(memory: Memory) -> None:
    ann = Desk(memory, who="ann")
    kept = ann.memories.store_memory("short tickers")["memory_id"]
    ann.memories.edit(kept, content="long tickers")
    ann.passages["memories"].undo()
    ann.lore.add_lore("peaks", "forge", "dwarves")
    ann.sessions.add_memory("elf", "1", "dragons")
    ann.sessions.delete_session_memory("elf")
    for name, made in {"memories": 3, "world_lore": 1, "session_memory": 1}.items():
        assert [decision.who for decision in memory.passages[name].decisions()] == ["ann"] * made
    assert memory.passages["memories"].get(kept)["content"] == "short tickers"


def test_a_viewer_asks_and_lists_everything(eve: Any) -> None:
    assert not eve.can_write
    assert eve.memories.search_memory("short tickers")["total_results"] == 1
    assert eve.lore.query_lore("peaks", "mountains")[0] == ["dwarves forged the mountains"]
    assert eve.retrieve("dragons", world="peaks", character="elf", session="s1").memory == ["dragons sleep"]
    assert eve.passages["memories"].count() == 1
    assert eve.status().counts["world_lore"] == 1


@pytest.mark.parametrize(
    ("part", "verb", "arguments"),
    [
        ("memories", "store_memory", ["more"]),
        ("memories", "edit", ["mem_1"]),
        ("lore", "add_lore", ["peaks", "war", "orcs came"]),
        ("lore", "put_world", [World("peaks", "Peaks", "", "", "peaks.yaml")]),
        ("sessions", "add_memory", ["elf_s1", "2", "more"]),
        ("sessions", "delete_session_memory", ["elf_s1"]),
        ("documents", "import_document", [Path("paper.pdf")]),
        ("documents", "tidy", []),
        ("transcripts", "import_sessions", [[Path()]]),
        ("transcripts", "remove_session", ["s1"]),
    ],
)
def test_a_viewer_is_refused_whatever_the_page_asks(
    eve: Any, memory: Memory, part: str, verb: str, arguments: list[Any]
) -> None:
    before = {name: passages.decisions() for name, passages in memory.passages.items()}
    with pytest.raises(ReadOnly, match="eve may look"):
        getattr(getattr(eve, part), verb)(*arguments)
    assert {name: passages.decisions() for name, passages in memory.passages.items()} == before


def test_nor_does_a_viewer_write_past_the_verbs(eve: Any) -> None:
    passages = eve.passages["memories"]
    for refused in (
        lambda: passages.remove(["mem_1"]),
        lambda: passages.undo(),
        lambda: passages.embed_all(),
        lambda: passages.forget("id", "mem_1"),
        lambda: passages.change("edit"),
        lambda: passages.database.writing(),
        lambda: eve.memories.passages.database.set_meta("model", "x"),
        lambda: eve.rebuild_chroma(),
        lambda: eve.close(),
    ):
        with pytest.raises(ReadOnly):
            refused()
    assert passages.count() == 1


@pytest.mark.parametrize("kind", [Memory, Memories, Lore, Sessions, Documents, Transcripts, Passages])
def test_what_says_who_is_never_among_what_a_viewer_may_call(kind: Any) -> None:
    for name in kind.READING:
        assert "who" not in signature(getattr(kind, name)).parameters, f"{kind.__name__}.{name}"
