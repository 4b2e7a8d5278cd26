"""Contexts that were handed out are kept if a setting says so, and can be asked otherwise."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from store.memory.engine.inputs import InvalidInput
from store.memory.memory import Memory
from store.memory.trust import replay
from store.memory.trust.replay import WhatIf
from store.settings import settings
from tests.store.memory.conftest import Clock
from tests.store.memory.engine.test_versions import by_agent
from tests.store.memory.traces import traces


@pytest.fixture
def keeping(reopen: Callable[[], Memory], monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("MEMEDEX_KEEP_CONTEXTS", "30")
    settings.cache_clear()
    yield reopen()
    settings.cache_clear()


def whats(memory: Memory, **asked: object) -> list[tuple[str, str]]:
    found = replay.replay(memory, replay.contexts(memory)[0], WhatIf(**asked))  # type: ignore[arg-type]
    return [(one.what, one.text) for one in found]


def test_nothing_is_kept_unless_the_setting_says_so(memory: Memory) -> None:
    memory.memories.store_memory("frogs like tea")
    memory.memories.search_memory("frogs like tea")
    assert replay.contexts(memory) == []
    assert not memory.places.retrievals.exists()


def test_a_context_is_kept_with_the_versions_that_were_handed_out(keeping: Memory, clock: Clock) -> None:
    id = keeping.memories.store_memory("frogs like tea")["memory_id"]
    by_agent(keeping).memories.search_memory("frogs like tea", 3)
    clock.now += 1
    keeping.memories.edit(id, content="frogs like coffee")
    (kept,) = replay.contexts(keeping)
    assert (kept.question, kept.agent, kept.via, kept.n) == ("frogs like tea", "claude", "MCP", 3)
    assert [one.text for one in replay.entries(keeping, kept)] == ["frogs like tea"]
    assert whats(keeping) == [("same", "frogs like tea")], "asked of the memory of that moment"


def test_another_threshold_or_no_such_entry_would_have_changed_it(keeping: Memory) -> None:
    keeping.memories.store_memory("frogs like tea")
    other = keeping.memories.store_memory("frogs like rain in autumn")["memory_id"]
    keeping.memories.search_memory("frogs like tea", threshold=10)
    assert whats(keeping, threshold=90.0) == [
        ("same", "frogs like tea"), ("removed", "frogs like rain in autumn"),
    ]  # fmt: skip
    assert whats(keeping, without=[other]) == [
        ("same", "frogs like tea"), ("removed", "frogs like rain in autumn"),
    ]  # fmt: skip
    with pytest.raises(InvalidInput):
        whats(keeping, chunk=(100, 10))


def test_another_chunk_size_is_tried_without_changing_what_is_stored(keeping: Memory, tmp_path: Path) -> None:
    path = tmp_path / "paper.md"
    path.write_text("The reserve factor is ten percent.\n\nLiquidation begins at eighty percent.")
    source = keeping.documents.import_document(path, protocol="Aave").source
    keeping.documents.search("reserve factor", 1)
    before = keeping.documents.entries.find()
    assert whats(keeping, chunk=(40, 0)) == [
        ("added", "The reserve factor is ten percent."), ("removed", before[0]["content"]),
    ]  # fmt: skip
    cut = replay.try_chunks(keeping, source.id, size=40, overlap=0)
    assert [row["content"] for row in cut] == [
        "The reserve factor is ten percent.", "Liquidation begins at eighty percent.",
    ]  # fmt: skip
    (best,) = replay.try_chunks(keeping, source.id, size=40, overlap=0, question="when liquidation", n=1)
    assert best["content"] == "Liquidation begins at eighty percent."
    assert keeping.documents.entries.find() == before
    with pytest.raises(InvalidInput):
        replay.try_chunks(keeping, source.id, size=40, overlap=40)


def test_a_context_of_transcripts_is_asked_again_by_the_same_search(keeping: Memory, tmp_path: Path) -> None:
    texts, at = ("frogs like tea", "frogs build bridges of stone"), "2020-01-31T10:00:00Z"
    message = [{"role": "user", "content": text, "timestamp": at} for text in texts]
    (tmp_path / "s1.jsonl").write_text("\n".join(map(json.dumps, message)))
    keeping.transcripts.import_sessions([tmp_path / "s1.jsonl"])
    keeping.transcripts.search("frogs bridges", mode="full_text", n=4)
    (kept,) = replay.contexts(keeping)
    assert (kept.n, kept.where["mode"]) == (4, "full_text")
    again = [("same", "frogs build bridges of stone"), ("same", "frogs like tea")]
    assert whats(keeping) == again, "words alone, as then"
    assert ("removed", "frogs build bridges of stone") in whats(keeping, without=[kept.hits[0].id])
    keeping.transcripts.search("frogs bridges", mode="semantic", min_score=10)
    assert [what for what, _ in whats(keeping)] == ["same", "same"]
    assert [what for what, _ in whats(keeping, threshold=60.0)] == ["same", "removed"]


def test_the_inspector_keeps_what_it_shows_once(keeping: Memory) -> None:
    keeping.lore.add_lore("peaks", "king", "King Bran sleeps")
    where = {"lore": {"world_id": "peaks"}}
    for _ in range(2):
        replay.keep(keeping, "who sleeps", keeping.preview("who sleeps", where=where))
    (kept,) = replay.contexts(keeping)
    assert (kept.kind, kept.scope, [hit.id for hit in kept.hits]) == ("world_lore", "peaks", ["peaks_king"])


def test_contexts_are_kept_for_so_many_days(keeping: Memory, clock: Clock) -> None:
    keeping.memories.store_memory("frogs like tea")
    keeping.memories.search_memory("frogs")
    clock.now += 31 * 86_400
    keeping.memories.search_memory("frogs like")
    assert [kept.question for kept in replay.contexts(keeping)] == ["frogs like"]


def test_a_forgotten_session_is_in_no_version_no_pending_entry_and_no_context(keeping: Memory) -> None:
    keeping.session_memory.add_memory("elf_s1", "m1", "zanzibarium first")
    keeping.session_memory.add_memory("elf_s1", "m1", "zanzibarium second")
    keeping.lore.add_lore("peaks", "king", "King Bran sleeps")
    agent = by_agent(keeping, is_reviewed=True)
    agent.session_memory.add_memory("elf_s1", "m2", "zanzibarium pending")
    agent.session_memory.add_memory("elf_s1", "m1", "zanzibarium third")
    keeping.retrieve("where is the xylophonist", world="peaks", character="elf", session="s1")
    root = keeping.places.root
    words = ["zanzibarium", "xylophonist"]
    assert "retrievals.sqlite3-wal" in traces(root, words, [])
    assert keeping.session_memory.delete_session("s1") == {"elf_s1": 1}
    assert traces(root, words, []) == {}
    assert replay.contexts(keeping) == []
    keeping.close()
    assert traces(root, words, []) == {}


def test_a_session_that_only_waits_can_be_forgotten(memory: Memory) -> None:
    by_agent(memory, is_reviewed=True).session_memory.add_memory("elf_s1", "m2", "zanzibarium pending")
    memory.session_memory.delete_session_memory("elf_s1")
    assert traces(memory.places.root, ["zanzibarium"], []) == {}
