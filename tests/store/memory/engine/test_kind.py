"""Existing vectors and foreign files survive a repair, a change of model and a rebuild."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.catalog.history import FORGET_VECTORS, MOVE_ASIDE, PROGRAM
from store.chroma.contents import MARK, read_contents
from store.disk.aside import moved_aside
from store.embedding.active_model import ActiveModel
from store.errors import ModelUnavailable
from store.memory import doctor
from store.memory.engine.database import Places
from store.memory.engine.erasing import erase
from store.memory.engine.inputs import InvalidInput
from store.memory.engine.kind import source
from store.memory.engine.reembedding import embed_new, is_outdated, reembed
from store.memory.memory import Memory
from store.memory.story.lore import put_world_file
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored
from tests.store.memory.test_commands import run  # noqa: F401  a fixture
from tests.store.other_systems import (
    client_of,
    everything_in,
    memory_store,
    story_engine,
    transcript_database,
    vector,
)

PAID = "litellm:text-embedding-3-large"
TEXTS = ["where is the log", "why does the build fail"]


@pytest.fixture
def paid_memory(tmp_path: Path, reopen: Callable[[], Memory]) -> Memory:
    """A transcript database with vectors by a paid model."""
    transcript_database(Places(tmp_path / "res").former("transcripts"), TEXTS)
    return reopen()


def paid_vectors(memory: Memory) -> dict[str, bytes]:
    """The vectors of the entries themselves that the paid model made."""
    entries = memory.kinds["transcript_vectors"]
    found = {
        row["source_text"]: entries.vector(row["id"])
        for row in entries.find()
        if row["embedding_model"] == PAID
    }
    return {text: vector.tobytes() for text, vector in found.items() if vector is not None}


BOUGHT = {text: vector(text, dimensions=3072).tobytes() for text in TEXTS}


def test_repair_keeps_and_reports_vectors_of_another_model(paid_memory: Memory) -> None:
    left = [one.what for one in doctor.repair(paid_memory) if one.is_fault]
    assert left == [f"2 entries have a vector by {PAID}, not by this kind's model bags; repair keeps it"]
    assert paid_vectors(paid_memory) == BOUGHT


def test_old_vectors_are_kept_and_reused_when_switching_back(paid_memory: Memory) -> None:
    entries = paid_memory.kinds["transcript_vectors"]
    assert reembed(entries)
    assert paid_vectors(paid_memory) == {}
    assert {(one.model, one.count, one.size) for one in entries.vectors_by_model()} == {
        ("bags", 2, 2 * 4 * 384), (PAID, 2, 2 * 4 * 3072),
    }  # fmt: skip
    other = Bags(name="other", dimensions=32)
    assert reembed(entries, other)
    paid = Bags(name=PAID, dimensions=3072)
    assert reembed(entries, paid)
    assert paid.requests == [], "what was paid for is used again"
    assert paid_vectors(paid_memory) == BOUGHT
    assert [one.model for one in entries.vectors_by_model()] == [PAID, "bags", "other"]


def test_vectors_of_another_model_wait_also_while_the_own_ones_are_made_again(paid_memory: Memory) -> None:
    entries, later = paid_memory.kinds["transcript_vectors"], Bags()
    entries.database.set_meta("fingerprint bags", "of before")
    entries.use(later)
    assert is_outdated(entries)
    assert embed_new(entries)
    assert (later.requests, is_outdated(entries)) == ([], False)
    assert paid_vectors(paid_memory) == BOUGHT


def test_invalid_vectors_from_a_model_replace_nothing(
    paid_memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = paid_memory.kinds["transcript_vectors"]
    broken = Bags(name="broken", dimensions=32)
    monkeypatch.setattr(broken, "embed_texts", lambda texts: np.full((len(texts), 32), np.nan, np.float32))
    with pytest.raises(ModelUnavailable, match="finite numbers of unit length"):
        reembed(entries, broken)
    assert entries.model == "bags"
    assert paid_vectors(paid_memory) == BOUGHT


def test_forget_vectors_deletes_vectors_of_another_model_and_is_recorded(paid_memory: Memory) -> None:
    entries = paid_memory.kinds["transcript_vectors"]
    reembed(entries)
    with pytest.raises(InvalidInput, match="is the model of"):
        entries.delete_vectors("bags")
    assert entries.delete_vectors("nobody's") is None
    gone = entries.delete_vectors(PAID, actor="ann")
    assert gone is not None
    assert (gone.count, gone.size) == (2, 2 * 4 * 3072)
    assert [one.model for one in entries.vectors_by_model()] == ["bags"]
    decision = paid_memory.log.find()[0]
    assert (decision.verb, decision.actor, decision.count) == (FORGET_VECTORS, "ann", 2)
    assert paid_memory.log.to_undo("ann") == [], "it cannot be undone"
    assert entries.count() == 2


def test_the_forget_vectors_command_requires_yes(
    run: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("store.memory.memory.open_embedder", lambda name: Bags(name=name))
    run("store", "words of a memory")
    run("model", "other", "--kind", "memories")
    status, found = run("delete-vectors", "--kind", "memories")
    assert status == 0
    assert [one["model"] for one in found["vectors"]["memories"]] == ["other", "offline"]
    assert run("delete-vectors", "offline") == (1, None)
    assert run("delete-vectors", "--kind", "memories")[1] == found
    status, gone = run("delete-vectors", "offline", "--yes")
    assert status == 0
    assert gone["deleted"]["memories"][0]["count"] == 1
    assert [one["model"] for one in run("delete-vectors")[1]["vectors"]["memories"]] == ["other"]


def test_deleting_a_session_deletes_the_vectors_of_its_texts_by_every_model(memory: Memory) -> None:
    memory.session_memory.add_memory("elf_s1", "1", "a secret")
    memory.session_memory.add_memory("elf_s2", "1", "no secret")
    assert reembed(memory.kinds["session_memory"], Bags(name="other", dimensions=32))
    memory.session_memory.delete_session_memory("elf_s1")
    with memory.kinds["session_memory"].database.reading() as db:
        left = {row[0] for row in db.execute("SELECT key FROM session_memory_vectors")}
    assert left == {source(model, "no secret").key for model in ("bags", "other")}


def test_a_text_that_another_session_has_too_keeps_its_vector(memory: Memory) -> None:
    for session in ("elf_s1", "elf_s2"):
        memory.session_memory.add_memory(session, "1", "said twice")
    memory.session_memory.delete_session_memory("elf_s1")
    assert memory.session_memory.entries.to_embed() == 0
    assert memory.session_memory.query_memory("elf_s2", "said twice")[0] == ["said twice"]


def test_a_text_that_comes_back_is_not_embedded_again(memory: Memory, bags: Bags) -> None:
    entries = memory.memories.entries
    first = memory.memories.store_memory("dragons sleep")["memory_id"]
    memory.memories.edit(first, content="dragons wake")
    bags.requests.clear()
    memory.memories.edit(first, content="dragons sleep")
    memory.undo()
    memory.memories.store_memory("dragons sleep")
    assert bags.requests == []
    [score] = entries.nearest(entries.question("dragons sleep"), n=1).values()
    assert score == pytest.approx(1)


def test_the_same_text_has_a_vector_in_each_kind(memory: Memory) -> None:
    memory.memories.store_memory("dragons sleep")
    memory.session_memory.add_memory("elf_s1", "1", "dragons sleep")
    memory.session_memory.delete_session_memory("elf_s1")
    assert memory.memories.entries.to_embed() == 0


def test_a_replaced_world_file_is_set_aside(tmp_path: Path) -> None:
    worlds = tmp_path / "worlds"
    for content in (b"id: peaks\nlore: by hand", b"id: peaks\nlore: by hand", b"id: peaks\nlore: new"):
        put_world_file(worlds, "peaks.yaml", content)
    assert (worlds / "peaks.yaml").read_bytes() == b"id: peaks\nlore: new"
    assert [path.read_bytes() for path in (tmp_path / "set-aside").iterdir()] == [b"id: peaks\nlore: by hand"]


@pytest.mark.usefixtures("chroma")
@pytest.mark.parametrize("reference", [2, 4])
def test_a_foreign_chroma_is_moved_aside_unchanged(
    tmp_path: Path, reopen: Callable[[], Memory], reference: int
) -> None:
    folder = Places(tmp_path / "res").chroma
    if reference == 2:
        memory_store(folder, ["I prefer TypeScript", "tabs"])
    else:
        story_engine(folder, ["The dwarves"], ["User: hi\nAI: hello"])
    held = everything_in(folder)
    memory = reopen()
    assert "did not make" in memory.check_chroma()[0]
    memory.memories.store_memory("ours")
    assert memory.wait_for_chroma(120)
    (aside,) = moved_aside(memory.places.folder)
    assert memory.status().moved_aside == (aside.summary,)
    assert aside.place.name in [one.what for one in doctor.check(memory)][-1]
    decision = memory.log.find()
    assert (decision[0].verb, decision[0].actor) == (MOVE_ASIDE, PROGRAM)
    [noted] = memory.database.rows("SELECT before FROM history WHERE tbl = 'files'")
    assert json.loads(noted["before"]) == {"what": aside.what}
    assert memory.check_chroma() == []
    memory.close()
    assert everything_in(aside.place) == held
    assert len(stored(memory.places.root, "memories")) == 1
    assert all(MARK in one.metadata for one in read_contents(folder).collections)


@pytest.mark.usefixtures("chroma", "chroma_in_own_process")
def test_deleting_a_session_keeps_foreign_collections_in_chroma(
    memory: Memory, reopen: Callable[[], Memory]
) -> None:
    memory.session_memory.add_memory("elf_s1", "1", "a secret")
    memory.session_memory.add_memory("elf_s2", "1", "no secret")
    assert memory.wait_for_chroma(60)
    memory.close()
    client = client_of(memory.places.chroma)
    notes = client.create_collection("notes")
    notes.add(ids=["a"], embeddings=[vector("a", dimensions=8)], documents=["keep me"])
    client.close()
    held = everything_in(memory.places.chroma)["notes"]
    memory = reopen()
    memory.session_memory.delete_session_memory("elf_s1")
    assert memory.wait_for_chroma(60)
    assert memory.check_chroma() == []
    memory.close()
    (theirs,) = [one for one in read_contents(memory.places.chroma).collections if one.name == "notes"]
    files = [
        file  # an index may hold what lay in the memory of this test's process, which wrote theirs
        for file in memory.places.folder.rglob("*")
        if file.is_file() and file.parent.name not in theirs.segments
    ]
    assert [file.name for file in files if b"elf_s1" in file.read_bytes()] == []
    found = everything_in(memory.places.chroma)
    assert found["notes"] == held
    assert list(found["session_memory"]) == ["elf_s2_1"]


# -- exact search --------------------------------------------------------------------------------------------


changes = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("pqr"), st.booleans()), max_size=30)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(changes)
def test_resident_vectors_follow_every_change_and_search_is_exact(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, str, bool]]
) -> None:
    with Memory.open(tmp_path_factory.mktemp("m") / "res", embedder=Bags(dimensions=16)) as memory:
        entries = memory.lore.entries
        memory._follower.wake = lambda: None  # type: ignore[union-attr, method-assign]
        expected: dict[str, str] = {}
        for number, world, stays in changes:
            id = f"{world}_{number}"
            if stays:
                memory.lore.add_lore(world, str(number), f"word{number} {world}")
                expected[id] = f"word{number} {world}"
            else:
                entries.remove([id])
                expected.pop(id, None)
            assert set(entries.resident().addresses) == expected.keys()
        question = entries.question("word1 p")
        for where in ({}, {"world_id": "p"}, {"world_id": ["q", "r"]}):
            worlds = where.get("world_id", "pqr")
            cosines = {
                id: float(np.dot(entries.vector(id), question))  # type: ignore[arg-type]
                for id in expected
                if id[0] in worlds
            }
            best = sorted(cosines, key=lambda id: (-round(cosines[id], 5), id))[:3]
            found = entries.nearest(question, n=3, where=where)
            assert [round(score, 4) for score in found.values()] == [round(cosines[id], 4) for id in best]


def test_a_wrong_vector_length_or_filter_is_refused(memory_with_lore: Memory) -> None:
    entries = memory_with_lore.lore.entries
    with pytest.raises(InvalidInput, match="was not made by bags"):
        entries.nearest(np.ones(3, np.float32), n=1)
    with pytest.raises(InvalidInput, match="can be filtered by world_id"):
        entries.nearest(entries.question("x"), n=1, where={"planet": "x"})


# -- the context of a story ----------------------------------------------------------------------------------


def test_searching_an_empty_kind_finds_nothing(memory: Memory) -> None:
    entries = memory.lore.entries
    assert len(entries.resident()) == 0
    assert entries.nearest(entries.question("anything"), n=3) == {}


def test_loading_vectors_during_an_erase_succeeds(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = memory.lore.entries
    memory.lore.add_lore("peaks", "forge", "The dwarves forged the mountains.")
    reading = entries.database.reading

    @contextmanager
    def erased_meanwhile() -> Iterator[sqlite3.Connection]:
        monkeypatch.setattr(entries.database, "reading", reading)
        erase(entries, entries.kind.scope, "peaks")
        with reading() as db:
            yield db

    name = entries.model  # reading it is not what comes before the erase
    monkeypatch.setattr(ActiveModel, "name", property(lambda self: name))
    monkeypatch.setattr(entries.database, "reading", erased_meanwhile)
    assert len(entries.resident()) == 0


def test_equal_texts_have_equal_scores_wherever_they_are(memory: Memory) -> None:
    for number in range(40):
        memory.lore.add_lore("peaks", f"{number:02}", "dragon treasure" if number % 7 else "dragon fire")
    entries = memory.lore.entries
    found = entries.nearest(entries.question("dragon gold"), n=40)
    assert len(set(found.values())) == 2
