"""Retrievals are logged line by line if a setting asks for it, and leave the log when they are forgotten."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from store.memory.engine.settings import memory_settings
from store.memory.memory import Memory
from store.memory.verbs.verbs import MemoryVerbs


@pytest.fixture
def logging_memory(
    reopen: Callable[[], Memory], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Memory]]:
    """Open the memory with this setting."""

    def open_with(detail: str) -> Memory:
        monkeypatch.setenv("MEMEDEX_RETRIEVAL_LOG", detail)
        memory_settings.cache_clear()
        memory = reopen()
        memory.sessions.add_memory("elf_s1", "1", "quicksilver words")
        memory.sessions.add_memory("orc_s1", "1", "plain words")
        memory.memories.store_memory("plain words")
        return memory

    yield open_with
    memory_settings.cache_clear()


def lines(memory: Memory) -> list[dict[str, Any]]:
    return [json.loads(line) for line in memory.places.retrievals.read_bytes().splitlines()]


def test_nothing_is_logged_unless_a_setting_asks_for_it(logging_memory: Callable[[str], Memory]) -> None:
    memory = logging_memory("")
    memory.memories.search_memory("plain words")
    assert not memory.places.retrievals.exists()


def test_ids_and_scores_are_logged_without_a_text(logging_memory: Callable[[str], Memory]) -> None:
    memory = logging_memory("ids")
    memory.memories.search_memory("plain words")
    memory.sessions.query_memory("elf_s1", "quicksilver words")
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
    memory.sessions.query_memory("elf_s1", "quicksilver")
    (line,) = lines(memory)
    assert (line["question"], line["hits"][0]["text"]) == ("quicksilver", "quicksilver words")


def test_a_forgotten_session_leaves_the_log_the_others_stay(logging_memory: Callable[[str], Memory]) -> None:
    memory = logging_memory("texts")
    asked = (("elf_s1", "quicksilver words"), ("orc_s1", "quicksilver words"), ("orc_s1", "words"))
    for key, question in asked:
        memory.sessions.query_memory(key, question)
    memory.memories.search_memory("plain words")
    with memory.places.retrievals.open("ab") as file:
        file.write(b"damaged quicksilver\n")
    memory.sessions.delete_session_memory("elf_s1")
    assert [line["scope"] for line in lines(memory)] == ["orc_s1", ""]
    assert b"quicksilver" not in memory.places.retrievals.read_bytes()


def test_an_assembled_context_is_logged_by_its_session(logging_memory: Callable[[str], Memory]) -> None:
    memory = logging_memory("ids")
    MemoryVerbs(memory).assemble("quicksilver", session="elf_s1")
    (line,) = lines(memory)
    assert (line["kind"], line["scope"], line["hits"][0]["id"]) == ("session_memory", "elf_s1", "elf_s1_1")
