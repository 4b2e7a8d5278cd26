"""The assembled context, and templates of one's own."""

import pytest

from store.errors import ReadOnly
from store.memory.engine.errors import InvalidInput
from store.memory.engine.reembedding import reembed
from store.memory.inspect.context_preview import REFERENCE, assemble, store_template, stored_template
from store.memory.memory import Memory
from store.permissions import Actor
from tests.store.memory.inspect.city import add_world_and_session


def test_the_assembled_context_matches_the_reference(memory: Memory) -> None:
    add_world_and_session(memory)
    context = assemble(
        memory, "question 3", where={"lore": {"world_id": "city"}, "memory": {"session_id": "mira_one"}}
    )
    lore, remembered = context.sections
    assert (len(lore.chunks), len(remembered.chunks)) == (2, 3)
    assert remembered.text.startswith("--- RECENT MEMORY ---\nUser: question 3\nAI: answer 3\nUser: ")
    assert context.text == f"{lore.text}\n\n{remembered.text}"
    assert lore.context_warning, "two chunks of 740 characters are over 1,000"
    assert not remembered.context_warning
    assert context.characters == lore.characters + remembered.characters
    assert not memory.passages["session_memory"].questions.all(), "looking is not asking"


def test_without_memory_the_block_is_empty(memory: Memory) -> None:
    add_world_and_session(memory)
    context = assemble(memory, "gate", where={"memory": {"session_id": "nobody"}})
    assert "RECENT MEMORY" not in context.text
    assert assemble(memory, "gate", numbers={"lore": 0, "memory": 0}).text == ""


def test_a_custom_template_is_stored_and_unknown_placeholders_are_refused(memory: Memory) -> None:
    add_world_and_session(memory)
    own = "You are {nobody}."
    with pytest.raises(InvalidInput, match="nobody"):
        store_template(memory, own)
    assert stored_template(memory) == REFERENCE
    own = 'Lore {"as": "json"}\n{lore}\n\n{documents}\n\nAsked: {prompt}'
    store_template(memory, own)
    assert stored_template(memory) == own
    text = assemble(memory, "gate", template=own, numbers={"lore": 1}).text
    assert text.startswith('Lore {"as": "json"}\nGate ')
    assert text.endswith("\n\nAsked: gate")
    assert "{" not in text.partition("\n")[2]


def test_placeholders_inside_a_chunk_are_not_expanded(memory: Memory) -> None:
    memory.lore.add_lore("city", "odd", "the sign says {prompt}")
    assert assemble(memory, "secret", template="{lore}").text == "the sign says {prompt}"


def test_a_viewer_cannot_store_a_template_or_reembed(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.for_actor(Actor("ann")).memories.store_memory("one")
    assert memory.passages["memories"].decisions()[0].actor == "ann"
    monkeypatch.setattr("store.permissions.may_change", lambda *_: False)
    looking = memory.for_actor(Actor("vic"))
    assert not looking.can_write
    assert looking.memories.search_memory("one")["total_results"] == 1
    for change in (lambda: reembed(looking.passages["memories"]), lambda: store_template(looking, "{lore}")):
        with pytest.raises(ReadOnly, match="vic may look"):
            change()
    assert not memory.places.template.exists()
    assert memory.passages["memories"].count() == 1
