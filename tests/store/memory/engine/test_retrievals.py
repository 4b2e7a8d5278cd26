"""Retrievals are logged if a setting asks for it, and leave the log when they are forgotten."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from store.errors import CatalogDamaged
from store.memory.engine.retrievals import kept_contexts
from store.memory.memory import Memory
from store.settings import settings
from tests.store.memory.traces import traces


@pytest.fixture
def logging_memory(
    reopen: Callable[[], Memory], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Memory]]:
    """Open the memory with this setting."""

    def open_with(detail: str) -> Memory:
        monkeypatch.setenv("MEMEDEX_RETRIEVAL_LOG", detail)
        settings.cache_clear()
        memory = reopen()
        memory.session_memory.add_memory("elf_s1", "1", "quicksilver words")
        memory.session_memory.add_memory("orc_s1", "1", "plain words")
        memory.memories.store_memory("plain words")
        return memory

    yield open_with
    settings.cache_clear()


def lines(memory: Memory) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(memory.places.retrievals)) as db:
        db.row_factory = sqlite3.Row
        rows = [dict(row) for row in db.execute("SELECT * FROM retrievals")]
    return [{**row, "hits": json.loads(row["hits"])} for row in rows]


def test_nothing_is_logged_unless_a_setting_asks_for_it(logging_memory: Callable[[str], Memory]) -> None:
    memory = logging_memory("")
    memory.memories.search_memory("plain words")
    assert not memory.places.retrievals.exists()


def test_ids_and_scores_are_logged_without_a_text(logging_memory: Callable[[str], Memory]) -> None:
    memory = logging_memory("ids")
    memory.memories.search_memory("plain words")
    memory.session_memory.query_memory("elf_s1", "quicksilver words")
    first, second = lines(memory)
    assert first["at"] == "2026-01-31T10:00:00Z"
    assert (first["kind"], first["scope"]) == ("memories", "")
    assert first["hits"] == [{"id": "mem_1769853600", "score": 1.25}]
    assert (second["kind"], second["scope"], second["hits"][0]["id"]) == (
        "session_memory",
        "elf_s1",
        "elf_s1_1",
    )
    assert b"words" not in memory.places.retrievals.read_bytes()


def test_texts_are_logged_if_they_are_asked_for(logging_memory: Callable[[str], Memory]) -> None:
    memory = logging_memory("texts")
    memory.session_memory.query_memory("elf_s1", "quicksilver")
    (line,) = lines(memory)
    assert (line["question"], line["hits"][0]["text"]) == ("quicksilver", "quicksilver words")


def test_a_forgotten_session_leaves_the_log_the_others_stay(logging_memory: Callable[[str], Memory]) -> None:
    memory = logging_memory("texts")
    asked = (("elf_s1", "quicksilver words"), ("orc_s1", "quicksilver words"), ("orc_s1", "words"),
             ("orc_s1", "plain"))  # fmt: skip
    for key, question in asked:
        memory.session_memory.query_memory(key, question)
    memory.memories.search_memory("plain words")
    with closing(sqlite3.connect(memory.places.retrievals)) as db, db:
        db.execute("UPDATE retrievals SET hits = 'damaged quicksilver' WHERE question = 'plain'")
    memory.session_memory.delete_session_memory("elf_s1")
    assert [line["scope"] for line in lines(memory)] == ["orc_s1", ""]
    assert traces(memory.places.root, ["quicksilver"], []) == {}


def test_an_assembled_context_is_logged_by_its_session(logging_memory: Callable[[str], Memory]) -> None:
    memory = logging_memory("ids")
    memory.assemble("quicksilver", session="elf_s1")
    (line,) = lines(memory)
    assert (line["kind"], line["scope"], line["hits"][0]["id"]) == ("session_memory", "elf_s1", "elf_s1_1")


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_nobody_else_reads_what_was_handed_out(logging_memory: Callable[[str], Memory]) -> None:
    memory = logging_memory("texts")
    memory.memories.search_memory("plain words")
    files = [*memory.places.folder.glob("retrievals.sqlite3*")]
    assert [path.stat().st_mode & 0o777 for path in files] == [0o600] * 3, "its log too"


def test_what_earlier_versions_wrote_as_lines_is_taken_in_once(
    memory: Memory, reopen: Callable[[], Memory]
) -> None:
    logged = memory.places.folder / "retrievals.jsonl"
    line = {"at": "2026-01-31T10:00:00Z", "kind": "memories", "scope": "", "actor": "ann", "hits": []}
    logged.write_bytes(
        b"\n".join([json.dumps(line).encode(), b"damaged", json.dumps({**line, "kind": None}).encode()])
    )
    memory = reopen()
    assert lines(memory) == [{**line, "question": ""}]
    assert not logged.exists()
    memory = reopen()
    assert len(lines(memory)) == 1


@pytest.mark.parametrize("content", [b"rubbish" * 1000, b"SQLite format 3\0" + b"quicksilver" * 1000])
def test_a_damaged_file_prevents_no_answer_and_is_erased_by_a_deletion(
    content: bytes, logging_memory: Callable[[str], Memory]
) -> None:
    memory = logging_memory("texts")
    memory.places.retrievals.write_bytes(content)
    assert memory.session_memory.query_memory("elf_s1", "quicksilver words")[0] == ["quicksilver words"]
    with pytest.raises(CatalogDamaged, match="delete it to keep contexts again"):
        kept_contexts(memory.places.retrievals)
    memory.session_memory.delete_session_memory("elf_s1")
    assert not memory.places.retrievals.exists()
