"""Who may change the text memory, and who may only read it."""

import json
from collections.abc import Iterator
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from store.catalog.history import AuditFilter
from store.disk.aside import Aside
from store.errors import LoginEnded, ReadOnly
from store.memory import doctor as memory_doctor
from store.memory.context import AskedModel
from store.memory.engine.retrievals import KeptEntry, Retrievals
from store.memory.kinds import KINDS
from store.memory.memory import Memory
from store.memory.story.lore import World
from store.memory.transcripts.events import EventFilter
from store.memory.transcripts.intake import TranscriptReport
from store.memory.trust.replay import WhatIf
from store.permissions import Actor
from store.progress import Progress
from store.records import Record
from store.settings import settings
from tests.store.every_verb import outcome_of, parts, stored, verbs
from tests.store.memory.bags import Bags

COUNTS_QUESTIONS = ("queried",)  # queries are counted for viewers as well


def write_session(folder: Path, question: str) -> None:
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text(json.dumps({"session_id": folder.name, "user_id": "ann"}))
    (folder / "transcript.jsonl").write_text(json.dumps({"role": "user", "content": question}) + "\n")


@pytest.fixture
def stocked(memory: Memory, tmp_path: Path) -> Memory:
    """A memory that contains something of every kind."""
    memory.memories.store_memory("short tickers", ["naming"])
    memory.lore.add_lore("peaks", "forge", "dwarves forged the mountains")
    memory.session_memory.add_memory("elf_s1", "1", "dragons sleep")
    memory.documents.import_document(Path("paper.md"), protocol="aave", content=b"# Lending\n\nRates rise.\n")
    session = tmp_path / "sessions" / "s1"
    write_session(session, "why is it slow")
    memory.transcripts.import_sessions([session])
    with memory.kinds["memories"].database.writing() as db:
        db.execute("INSERT INTO memories_vectors VALUES ('key', 'another model', x'00')")
    return memory


@pytest.fixture
def arguments(stocked: Memory, tmp_path: Path) -> dict[str, Any]:
    """The arguments for calling every verb."""
    new = tmp_path / "sessions" / "s2"
    write_session(new, "what is a fork")
    worlds = tmp_path / "worlds"
    worlds.mkdir()
    (worlds / "sea.yaml").write_text("id: sea\nname: Sea\nlore: salt\n")
    kind = stocked.kinds["memories"]
    (kept,) = kind.find()
    stocked.lore.add_lore("peaks", "law", "never harm a ferryman")
    keeping = Retrievals(stocked.places.retrievals, kind="memories", detail="", days=30)
    found = [KeptEntry(kept["id"], 1, 1.0)]
    keeping.keep("tickers", found, scope="", n=1, where={}, threshold=None, actor=stocked.actor, at=0.0)
    keeping.close()
    (context,) = stocked.contexts()
    passage, message = stocked.kinds["documents"].find()[0], stocked.transcripts.messages("s1")[0]
    return {
        "aside": Aside(stocked.places.folder / "foreign-1", "a database", 0.0), "by": "ann",
        "character": "elf", "column": "timestamp", "content": "more", "embedder": Bags(dimensions=8),
        "folder": worlds, "files": {}, "db": None, "decision": "a decision", "Database.of.kind": KINDS[0],
        "id": kept["id"], "ids": [kept["id"]], "key": "model", "lore_id": "war", "memory_id": "2",
        "model": "another model", "n": 3, "name": "sea.yaml", "path": Path("more.md"), "paths": [new],
        "template": "{lore}", "threshold": 30.0,
        "progress": Progress(), "prompt": "dragons", "protocol": "aave", "protocols": ["aave"],
        "purge": lambda: None, "query": "tickers", "question": "rates", "root": stocked.places.root,
        "rows": [{**kept, "id": "mem_7"}], "scope": "peaks", "session": "s1", "session_id": "s1",
        "source": "paper.md", "sql": "SELECT 1", "text": "tickers", "texts": ["tickers"], "thread": 0,
        "value": kept["timestamp"], "at": 0.0, "filter": AuditFilter(),
        "vector": kind.vector(kept["id"]), "verb": "store", "world": World("sea", "Sea", "", "salt"),
        "world_id": "peaks",
        "hits": [], "percent": 25.0, "moment": None, "number": 1, "found": [], "longest": 100, "overlap": 0,
        "where": {}, "Documents.rechunk.source": stocked.documents.sources()[0],
        "Documents.not_read.source": stocked.documents.sources()[0],
        "Documents.find_sections.source": stocked.documents.sources()[0],
        "Lore.check_known.key": "peaks", "Sessions.check_known.key": "elf_s1",
        "Documents.cite.id": passage["id"], "Documents.import_document.content": b"# More\n\nText.\n",
        "Lore.put_file.content": b"id: sea\n", "Lore.search.key": "peaks", "Memories.edit.content": "longer",
        "Memory.retrieve.world": "peaks", "Memory.context.id": context.id, "kept": context,
        "since": 0.0, "stat": "1 2", "reason": "", "beginning": "Text",
        "paper": "aave/paper.md", "size": 100, "state": "pinned", "mode": "hybrid",
        "record": Record(dict.fromkeys(("token_name", "ticker", "description"), "F"), "library"),
        "shown": stocked.preview("tickers"), "what_if": WhatIf(), "Memory.ask.model": AskedModel("none"),
        "Memory.export.path": tmp_path / "tickers", "kinds": ["memories"], "Memory.edit.text": "longer",
        "Memory.entries.kind": "memories", "keep": "peaks_forge", "others": ["peaks_law"],
        "Memory.merge.kind": "world_lore", "Memory.preview_merge.kind": "world_lore",
        "Entries.counts.column": "timestamp", "Entries.within.scope": "",
        "Entries.edit.columns": {"content": "longer"},
        "Sessions.delete_session_memory.session_id": "elf_s1", "Sessions.query_memory.session_id": "elf_s1",
        "Sessions.search.key": "elf_s1", "Transcripts.beside.id": message["id"],
        "Memory.undo_decisions.decisions": [], "Transcripts.event_values.column": "event",
        "Transcripts.check_known_events.filter": EventFilter(),
        "Transcripts.embed_imported.report": TranscriptReport(),
    }  # fmt: skip


@pytest.fixture
def eve(stocked: Memory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """The stocked memory as a viewer sees it."""
    monkeypatch.setenv("MEMEDEX_VIEWERS", "eve")
    settings.cache_clear()
    yield stocked.for_actor(Actor("eve"))
    settings.cache_clear()


def test_every_change_is_recorded_under_its_actor(memory: Memory) -> None:
    ann = memory.for_actor(Actor("ann"))
    kept = ann.memories.store_memory("short tickers")["memory_id"]
    ann.memories.edit(kept, content="long tickers")
    ann.undo()
    ann.lore.add_lore("peaks", "forge", "dwarves")
    ann.session_memory.add_memory("elf", "1", "dragons")
    ann.session_memory.delete_session_memory("elf")
    assert [decision.actor for decision in memory.log.find()] == ["ann"] * 5
    assert memory.kinds["memories"].get(kept)["content"] == "short tickers"


def test_a_viewer_can_search_and_list_everything(eve: Memory, stocked: Memory) -> None:
    assert not eve.can_write
    assert eve.memories.search_memory("short tickers")["total_results"] == 1
    assert eve.lore.query_lore("peaks", "mountains")[0] == ["dwarves forged the mountains"]
    assert eve.retrieve("dragons", world="peaks", character="elf", session="s1").memory == ["dragons sleep"]
    assert eve.kinds["memories"].count() == 1
    assert eve.status().counts["world_lore"] == 1
    assert stocked.kinds["world_lore"].asked()["peaks"][0] == 2


def test_a_viewer_cannot_change_anything(eve: Memory, stocked: Memory, arguments: dict[str, Any]) -> None:
    stocked.check()  # what the process that keeps Chroma noted of its files is no change of a viewer's
    before = stored(stocked.places.root, without=COUNTS_QUESTIONS)
    for _, part in parts(eve):
        for name, verb in verbs(part):
            if outcome_of(name, verb, arguments) != "ReadOnly":
                now = stored(stocked.places.root, without=COUNTS_QUESTIONS)
                assert now == before, f"{name} changes something for a viewer"
                assert isinstance(verb, partial) or "actor" not in signature(verb).parameters, name
    assert stored(stocked.places.root, without=COUNTS_QUESTIONS) == before
    with pytest.raises(ReadOnly, match="eve may look"):
        memory_doctor.repair(eve)


# These reveal nothing about the memory's content.
ANSWERS_ALWAYS = {
    "Database.can_write", "Database.close", "Database.interrupt", "Database.is_in_place",
    "Database.lock", "Database.of", "Database.step", "Memory.can_write",
    "Memory.close", "Memory.entries", "Memory.usable", "Memory.wait_for_chroma",
    "Memory.follow_chroma", "Entries.actor",
    "Entries.can_write", "Entries.close", "Entries.embed", "Entries.embedder",
    "Entries.embedder_or_none", "Entries.fault", "Entries.least",
    "Entries.model",
    "Entries.question", "Entries.question_or_none", "Entries.within",
}  # fmt: skip


def test_nothing_can_be_read_or_changed_after_the_login_ended(
    stocked: Memory, arguments: dict[str, Any]
) -> None:
    gone = stocked.for_actor(Actor("ann", is_logged_in=lambda: False))
    before = stored(stocked.places.root)
    for _, part in parts(gone):
        for name, verb in verbs(part):
            assert name in ANSWERS_ALWAYS or outcome_of(name, verb, arguments) == "LoginEnded", name
    assert stored(stocked.places.root) == before


def test_closing_for_one_actor_keeps_the_memory_open_for_others(stocked: Memory) -> None:
    with stocked.for_actor(Actor("ann")) as ann:
        resident = ann.kinds["memories"].resident()
    assert stocked.kinds["memories"].resident() is resident
    reader = Memory.open_for_reading(stocked.places.root, embedder=Bags())
    reader.for_actor(Actor("ann")).close()
    assert reader.kinds["memories"].count() == 1
    reader.close()
    assert stocked.memories.search_memory("short tickers")["total_results"] == 1


def test_no_context_is_previewed_after_the_login_ended_whatever_its_template(stocked: Memory) -> None:
    gone = stocked.for_actor(Actor("ann", is_logged_in=lambda: False))
    with pytest.raises(LoginEnded):
        gone.preview("lamps", template="{prompt}")
