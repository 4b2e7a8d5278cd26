"""The context of a story: what is retrieved and logged."""

import logging

import pytest

from store.memory.memory import Memory


def test_two_chunks_of_lore_and_three_memories_are_retrieved_and_logged(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(4):
        memory.lore.add_lore("peaks", str(number), f"dragon lore {number}")
        memory.sessions.add_memory("elf_s1", str(number), f"User: dragon\nAI: number {number}")
    with caplog.at_level(logging.INFO, logger="store.memory"):
        context = memory.retrieve("dragon", world="peaks", character="elf", session="s1")
    assert (len(context.lore), len(context.memory)) == (2, 3)
    assert context.block == "--- RECENT MEMORY ---\n" + "\n".join(context.memory)
    assert context.characters == sum(map(len, context.lore + context.memory))
    assert [record.getMessage() for record in caplog.records] == [
        "\n=== RETRIEVED LORE (2 chunks) ===",
        *(f"[LORE {n}]\n{text}\n" for n, text in enumerate(context.lore, start=1)),
        "=== END LORE ===\n",
        "\n=== RETRIEVED MEMORY (3 chunks) ===",
        *(f"[MEMORY {n}]\n{text}\n" for n, text in enumerate(context.memory, start=1)),
        "=== END MEMORY ===\n",
    ]


def test_without_memory_the_block_is_empty_and_nothing_is_logged(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="store.memory"):
        context = memory.retrieve("dragon", world="peaks", character="elf")
    assert (context.block, context.lore, context.lore_warning, context.memory_warning) == (
        "",
        [],
        False,
        False,
    )
    assert caplog.records == []
