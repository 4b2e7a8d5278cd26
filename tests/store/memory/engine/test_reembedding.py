"""A memory changes its model only after all entries are embedded."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.embedding.protocol import OFFLINE_TEXT
from store.errors import NotWritten
from store.memory import doctor
from store.memory.engine.kind import DEFAULT, LOCAL, source
from store.memory.engine.reembedding import embed_new, is_outdated, reembed
from store.memory.memory import Memory
from store.memory.story.lore import World
from store.progress import Progress
from tests.store.memory.bags import Bags
from tests.store.memory.earlier import as_of_1_4
from tests.store.memory.engine.test_versions import by_agent
from tests.waiting import eventually


@pytest.mark.usefixtures("chroma")
def test_the_model_is_switched_only_after_all_entries_are_embedded(memory_with_lore: Memory) -> None:
    entries, other = memory_with_lore.lore.entries, Bags(name="other", dimensions=32)
    progress = Progress()
    progress.cancel()
    assert not reembed(entries, other, progress=progress)
    assert entries.model == "bags"
    assert len(memory_with_lore.lore.query_lore("peaks", "Dragón")[0]) == 3
    assert reembed(entries, other)
    assert (entries.model, entries.to_embed()) == ("other", 0)
    assert {row["embedding_model"] for row in entries.find()} == {"other"}
    assert len(memory_with_lore.lore.query_lore("peaks", "Dragón")[0]) == 3
    assert memory_with_lore.wait_for_chroma(60)
    assert memory_with_lore.check_chroma() == []


class Interrupted(Bags):
    """A model during whose first batch something else happens."""

    def __init__(self, happens: Callable[[], Any], name: str, *, dimensions: int = 32) -> None:
        super().__init__(name=name, dimensions=dimensions)
        self._happens = [happens]

    def embed_texts(self, texts: Sequence[str]) -> Any:
        if self._happens:
            self._happens.pop()()
        return super().embed_texts(texts)


@pytest.mark.parametrize("is_done", [True, False], ids=["done meanwhile", "begun meanwhile"])
def test_of_two_models_at_once_the_later_wins_and_the_other_says_so(
    memory_with_lore: Memory, is_done: bool
) -> None:
    entries, later = memory_with_lore.lore.entries, Bags(name="later", dimensions=16)

    def other_process() -> None:
        if is_done:
            assert reembed(entries, later)
            return
        with entries.database.writing() as db:
            db.execute("UPDATE meta SET value = 'later' WHERE key = 'world_lore next_model'")

    with pytest.raises(NotWritten, match="another process chose later"):
        reembed(entries, Interrupted(other_process, "first"))
    assert reembed(entries, later)
    assert {row["embedding_model"] for row in entries.find()} == {"later"}
    assert {len(entries.vector(row["id"])) for row in entries.find()} == {16}  # type: ignore[arg-type]


def test_two_processes_that_choose_the_same_model_both_come_to_an_end(memory_with_lore: Memory) -> None:
    entries = memory_with_lore.lore.entries
    same = Bags(name="other", dimensions=32)
    assert reembed(entries, Interrupted(lambda: reembed(entries, same), "other"))
    assert (entries.model, entries.to_embed()) == ("other", 0)
    assert entries.database.meta("next_model") == ""


def test_a_session_deleted_for_good_meanwhile_leaves_no_vector(memory: Memory) -> None:
    for session in ("elf_s1", "orc_s2"):
        memory.session_memory.add_memory(session, "1", f"what {session} said")
    entries = memory.session_memory.entries
    model = Interrupted(lambda: memory.session_memory.delete_session_memory("elf_s1"), "other")
    assert reembed(entries, model)
    with entries.database.reading() as db:
        keys = {row[0] for row in db.execute("SELECT key FROM session_memory_vectors")}
    assert keys == {source(name, "what orc_s2 said").key for name in ("bags", "other")}


@pytest.mark.usefixtures("chroma")
def test_an_entry_that_is_stored_while_its_text_is_embedded_is_found(memory: Memory) -> None:
    entries = memory.session_memory.entries
    row = {"session_id": "elf_s1", "memory_id": "1", "text": "said twice", "at": 0.0}
    with entries.change("adopt") as change:
        change.upsert({**row, "id": "elf_s1_1"})

    def other_process() -> None:
        with entries.change("adopt") as change:
            change.upsert({**row, "id": "elf_s1_2", "memory_id": "2"})
        assert len(entries.resident()) == 0
        assert memory.wait_for_chroma(60)

    entries.use(Interrupted(other_process, "bags", dimensions=384))
    assert embed_new(entries)
    assert entries.nearest(entries.question("said twice"), n=5).keys() == {"elf_s1_1", "elf_s1_2"}
    assert memory.wait_for_chroma(60)
    assert memory.check_chroma() == []


def test_a_damaged_text_is_embedded_once(memory: Memory, bags: Bags) -> None:
    entries = memory.memories.entries
    memory.memories.store_memory("sound")
    with entries.database.writing() as db:
        db.execute("UPDATE memories SET content = CAST(x'ff66' AS TEXT)")
    bags.requests.clear()
    assert entries.to_embed() == 1
    assert embed_new(entries)
    assert (entries.to_embed(), len(bags.requests)) == (0, 1)


def test_a_vector_of_another_length_is_replaced(memory: Memory) -> None:
    entries = memory.memories.entries
    memory.memories.store_memory("dragons sleep")
    with entries.database.writing() as db:
        db.execute("UPDATE memories_vectors SET vector = zeroblob(8)")
    assert any("have not 384 numbers" in one.what for one in doctor.check(memory))
    assert reembed(entries)
    assert doctor.check(memory) == []


def _import(memory: Memory) -> None:
    memory.documents.import_document(Path("paper.md"), protocol="aave", content=b"A threshold is a share.")


def _edit(memory: Memory) -> None:
    memory.memories.edit("mem_1769853600", content="edited")


def _merge(memory: Memory) -> None:
    memory.merge("mem_1769853600", ["mem_1769853601"])


def _accept(memory: Memory) -> None:
    memory.accept([memory.memories.entries.waiting()[0].id])


@pytest.mark.parametrize(
    ("kind", "write"),
    [
        ("memories", lambda memory: memory.memories.store_memory("a new one")),
        ("memories", _edit),
        ("memories", _merge),
        ("memories", _accept),
        ("session_memory", lambda memory: memory.session_memory.add_memory("elf_s1", "1", "hail")),
        ("world_lore", lambda memory: memory.lore.put_world(World("peaks", "Peaks", "", "Snow."))),
        ("documents", _import),
    ],
    ids=["store", "edit", "merge", "accept", "session", "world", "document"],
)
def test_a_vector_names_the_model_that_made_it_if_another_is_chosen_meanwhile(
    memory: Memory, kind: str, write: Callable[[Memory], Any]
) -> None:
    for text in ("dragons sleep", "frogs count lamps"):
        memory.memories.store_memory(text)
    by_agent(memory, is_reviewed=True).memories.store_memory("to be accepted")
    entries = memory.kinds[kind]
    entries.use(Interrupted(lambda: entries.database.set_meta("model", "offline"), "bags"))
    write(memory)
    assert entries.model == "offline"
    assert {row["embedding_model"] for row in entries.find()} == {"bags"}


class NextVersion(Bags):
    """A model of the same name that makes other numbers of a text."""

    fingerprint = "2ba6" * 16

    def embed_texts(self, texts: Sequence[str]) -> Any:
        return np.roll(super().embed_texts(texts), 1, axis=1)


@pytest.mark.usefixtures("chroma")
def test_another_version_of_the_model_embeds_again_in_the_background(
    memory: Memory, clock: Callable[[], float]
) -> None:
    for text in ("dragons sleep", "frogs count lamps"):
        memory.memories.store_memory(text)
    memory.close()
    later = NextVersion()
    with Memory.open(memory.places.root, embedder=later, clock=clock) as memory:
        entries = memory.memories.entries
        assert eventually(lambda: not is_outdated(entries))
        [score] = entries.nearest(entries.question("dragons sleep"), n=1).values()
        assert score == pytest.approx(1)
        assert {row["embedding_model"] for row in entries.find()} == {"bags"}, "its name is the same"
        assert [(one.count, one.is_in_use) for one in entries.vectors_by_model()] == [(2, True), (2, False)]
        assert entries.delete_vectors("bags") is not None, "those of the version before can be deleted"
        assert memory.wait_for_chroma(60)
        assert (entries.to_embed(), doctor.check(memory)) == (0, [])


def test_until_all_are_embedded_the_vectors_of_the_version_before_are_used(memory: Memory) -> None:
    entries, later = memory.memories.entries, NextVersion()
    memory.memories.store_memory("dragons sleep")
    before = entries.vector("mem_1769853600")
    entries.use(later)
    progress = Progress()
    progress.cancel()
    assert not embed_new(entries, progress=progress)
    memory.memories.store_memory("frogs count lamps")
    assert is_outdated(entries)
    [found] = doctor.check(memory)
    assert (found.what[:40], found.is_fault) == ("an earlier version of bags made the vect", False)
    assert np.array_equal(entries.vector("mem_1769853600"), before)  # type: ignore[arg-type]
    later.requests.clear()
    with entries.database.writing() as db:  # a row that is lost: the vectors' own names tell enough
        db.execute("DELETE FROM meta WHERE key = 'memories fingerprint bags'")
    assert embed_new(entries)
    assert later.requests == ["dragons sleep"], "what was stored since has a vector of the new version"
    assert (is_outdated(entries), entries.to_embed()) == (False, 0)


def test_the_built_in_model_of_before_1_5_embeds_again_and_others_do_not(memory: Memory) -> None:
    built_in, root = Bags(name="offline"), memory.places.root
    assert reembed(memory.memories.entries, built_in)
    memory.memories.store_memory("dragons sleep")
    memory.session_memory.add_memory("elf_s1", "1", "hail")
    memory.close()
    as_of_1_4(root)
    built_in.requests.clear()
    with Memory.open(root, models=lambda name: built_in if name == "offline" else Bags()) as memory:
        assert eventually(lambda: not is_outdated(memory.memories.entries))
        assert built_in.requests == ["dragons sleep"]
        assert [one.model for one in memory.session_memory.entries.vectors_by_model()] == ["bags"]
        assert memory.status().models["memories"] == "offline"
        assert len(memory.log.find()) == 2


def test_memories_of_the_former_default_get_the_new_one_once(tmp_path: Path) -> None:
    def opened() -> Memory:
        return Memory.open(tmp_path / "res", models=lambda name: Bags(name=name))

    with opened() as memory:
        entries = memory.memories.entries
        assert entries.model == OFFLINE_TEXT
        assert reembed(entries, Bags(name=LOCAL))
        entries.database.set_meta(DEFAULT, "")  # as 1.6 left it
        memory.memories.store_memory("dragons sleep")
        memory.lore.add_lore("peaks", "1", "hail")
    with opened() as memory:
        entries = memory.memories.entries
        assert eventually(lambda: entries.database.meta(DEFAULT) == OFFLINE_TEXT)
        assert (entries.model, entries.to_embed()) == (OFFLINE_TEXT, 0)
        assert memory.lore.entries.model == LOCAL
        assert reembed(entries, Bags(name=LOCAL)), "a person goes back"
    with opened() as memory:
        assert memory._maintainer
        memory._maintainer._renew(Progress())
        assert memory.memories.entries.model == LOCAL
