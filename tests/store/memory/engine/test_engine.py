"""The store of embedded text for all kinds: one writer, atomic changes, exact search, updates of Chroma."""

import logging
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.disk.files import Disk
from store.disk.sqlite import MEMORY_ID
from store.embedding import open_embedder
from store.errors import CatalogDamaged, NotWritten, ReadOnly
from store.memory import doctor
from store.memory.engine.errors import InvalidInput, UnknownEntry
from store.memory.engine.places import Places
from store.memory.engine.reembedding import reembed
from store.memory.engine.resident import ResidentPassages
from store.memory.inspect.probe import probe
from store.memory.kinds import KINDS
from store.memory.memory import Memory
from store.memory.story.worlds import World
from store.progress import Progress
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored

# -- one writer ----------------------------------------------------------------------------------------------


def test_opening_twice_in_one_process_returns_the_same_memory(memory: Memory, bags: Bags) -> None:
    assert Memory.open(memory.places.root, embedder=bags) is memory


def test_a_memory_on_a_read_only_disk_can_be_read(
    memory: Memory, bags: Bags, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.lore.add_lore("peaks", "1", "dragons")
    memory.close()
    files = sorted(memory.places.root.rglob("*"))
    monkeypatch.setattr("store.disk.sqlite.os.access", lambda *_: False)
    with Memory.open_for_reading(memory.places.root, embedder=bags) as reader:
        assert reader.lore.query_lore("peaks", "dragons") == (["dragons"], False)
    assert sorted(memory.places.root.rglob("*")) == files, "SQLite put nothing beside it"


def test_a_second_process_can_read_but_not_write(memory: Memory, bags: Bags) -> None:
    memory.lore.add_lore("peaks", "1", "dragons")
    script = (
        "import sys\nfrom pathlib import Path\nfrom store.memory.memory import Memory\n"
        "reader = Memory.open_for_reading(Path(sys.argv[1]))\n"
        "print(reader.lore.passages.counts())\n"
        "Memory.open(Path(sys.argv[1]))\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", script, str(memory.places.root)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "{'peaks': 1}\n"
    assert "LibraryInUse" in done.stderr
    with Memory.open_for_reading(memory.places.root, embedder=bags) as reader:
        assert reader.lore.query_lore("peaks", "dragons") == (["dragons"], False)
        with pytest.raises(ReadOnly):
            reader.memories.store_memory("words")


def test_a_closed_memory_can_be_opened_again(memory: Memory, bags: Bags) -> None:
    memory.close()
    with Memory.open(memory.places.root, embedder=bags) as again:
        assert again is not memory
        assert again.can_write


def rubbish(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 100)


def of_another_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
        db.execute("INSERT INTO bookmarks VALUES ('https://example.org')")
        db.commit()


def of_another_kind(path: Path) -> None:
    path.write_bytes(path.with_name("world_lore.sqlite3").read_bytes())


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (rubbish, "cannot be read"),
        (of_another_program, "a database of another program (tables bookmarks)"),
        (of_another_kind, "a database of another program"),
        (newer, "written by a newer Memedex"),
        (a_folder, "is a folder"),
    ],
)
def test_a_foreign_or_damaged_file_disables_only_its_own_kind(
    memory: Memory, reopen: Callable[[], Memory], bags: Bags, spoil: Callable[[Path], None], said: str
) -> None:
    memory.memories.store_memory("kept")
    path = memory.places.database("documents")
    original = memory.places.originals / "paper.md"
    memory.close()
    spoil(path)
    original.parent.mkdir(exist_ok=True)
    original.write_text("the original of a document that nobody can read just now")
    before = {file: file.read_bytes() for file in memory.places.folder.glob("documents*") if file.is_file()}
    again = reopen()
    assert [hit["content"] for hit in again.memories.search_memory("kept")["results"]] == ["kept"]
    again.memories.store_memory("more")
    assert again.status().faults.keys() == {"documents"}
    assert said in again.status().faults["documents"]
    assert str(path) in again.status().faults["documents"]
    assert again.documents.sources() == []
    assert again.passages["documents"].find() == []
    with pytest.raises(CatalogDamaged, match=r"documents\.sqlite3"):
        again.documents.import_document(Path("a.md"), protocol="aave", content=b"words")
    named = [one.kind for one in doctor.repair(again)]
    assert named == ["documents"]
    again.close()
    with Memory.open_for_reading(memory.places.root, embedder=bags) as reader:
        assert reader.memories.passages.count() == 2
        assert reader.status().faults.keys() == {"documents"}
    after = {file: file.read_bytes() for file in memory.places.folder.glob("documents*") if file.is_file()}
    assert after == before
    assert original.exists()


def test_a_file_without_an_application_id_is_accepted_and_gets_one(
    memory: Memory, reopen: Callable[[], Memory]
) -> None:
    memory.memories.store_memory("kept")
    memory.close()
    path = memory.places.database("memories")
    with closing(sqlite3.connect(path)) as db:  # as version 1 left it
        db.execute("DROP TABLE kept_vectors")
        db.execute("PRAGMA application_id = 0")
        db.execute("PRAGMA user_version = 1")
    memory = reopen()
    assert memory.status().faults == {}
    assert reembed(memory.memories.passages, Bags(name="other", dimensions=32))
    memory.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA application_id").fetchone()[0] == MEMORY_ID
        assert db.execute("SELECT count(*) FROM kept_vectors").fetchone()[0] == 1


# -- atomic changes ------------------------------------------------------------------------------------------


def test_a_failed_commit_changes_nothing(tmp_path: Path, bags: Bags) -> None:
    refuses = [False]

    def strike(name: str, path: Path) -> None:
        if refuses[0] and name == "commit":
            raise OSError("no space left")

    with Memory.open(tmp_path / "res", embedder=bags, disk=Disk(before=strike)) as memory:
        world = World("peaks", "Peaks", "", "Dragons.\n" * 200, "peaks.yaml", "1")
        memory.lore.put_world(world)
        id = memory.memories.store_memory("first version")["memory_id"]
        before = {name: passages.find(limit=None) for name, passages in memory.passages.items()}
        refuses[0] = True
        changes: list[Callable[[], object]] = [
            lambda: memory.memories.store_memory("second"),
            lambda: memory.memories.edit(id, content="changed"),
            lambda: memory.memories.passages.remove([id]),
            lambda: memory.memories.passages.undo(),
            lambda: memory.lore.put_world(World("peaks", "Peaks", "", "Goats.", "peaks.yaml", "2")),
            lambda: memory.lore.add_lore("peaks", "x", "more"),
            lambda: memory.documents.import_document(Path("a.md"), protocol="aave", content=b"words"),
            lambda: memory.sessions.add_memory("elf", "1", "text"),
        ]
        for change in changes:
            with pytest.raises(NotWritten, match="no space left"):
                change()
        assert memory.lore.query_lore("peaks", "dragons")[0], "questions are answered all the same"
        refuses[0] = False
        assert before == {name: passages.find(limit=None) for name, passages in memory.passages.items()}
        assert memory.memories.passages.count(words="second") == 0
        memory.documents.tidy()
        assert list(memory.places.originals.glob("*")) == []
        memory.memories.passages.undo()
        assert memory.memories.passages.count() == 0


def test_nothing_is_written_when_the_model_fails(memory: Memory, bags: Bags) -> None:
    bags.fails = True
    with pytest.raises(OSError, match="on fire"):
        memory.memories.store_memory("words")
    with pytest.raises(OSError, match="on fire"):
        memory.lore.put_world(World("peaks", "Peaks", "", "Dragons."))
    assert (memory.memories.passages.count(), memory.lore.worlds()) == (0, [])


# -- listing -------------------------------------------------------------------------------------------------


@pytest.fixture
def memory_with_lore(memory: Memory) -> Memory:
    for number in range(6):
        memory.lore.add_lore("peaks" if number % 2 else "swamp", f"l{number}", f"Dragón tale {'x' * number}")
    return memory


def test_entries_are_found_by_words_filtered_sorted_and_paged(memory_with_lore: Memory) -> None:
    passages = memory_with_lore.lore.passages
    assert passages.count(words="dragon tal") == 6
    assert passages.count(words="dragon", where={"world_id": "peaks"}) == 3
    assert passages.count(words='x" OR *') == 0
    assert passages.count(words="tale dragon") > passages.count(words='"tale dragon"') == 0, "a phrase"
    page = passages.find(order="-length", where={"world_id": ["peaks", "swamp"]}, offset=1, limit=2)
    assert [row["lore_id"] for row in page] == ["l4", "l3"]
    assert passages.counts() == {"peaks": 3, "swamp": 3}
    assert "vector" not in page[0]
    for wrong in ({"order": "vector"}, {"order": "id; DROP TABLE meta"}, {"where": {"text": "x"}}):
        with pytest.raises(InvalidInput):
            passages.find(**wrong)  # type: ignore[arg-type]


def test_an_edited_entry_is_found_by_its_new_words_and_meaning(memory_with_lore: Memory) -> None:
    passages = memory_with_lore.lore.passages
    passages.edit("peaks_l1", text="goats only")
    assert passages.count(words="goats") == 1
    assert memory_with_lore.lore.query_lore("peaks", "goats only", 1)[0] == ["goats only"]
    for wrong in ({"id": "other"}, {"world_id": "other"}, {"vector": b""}, {"nonsense": 1}, {"text": ""}):
        with pytest.raises(InvalidInput):
            passages.edit("peaks_l1", **wrong)
    with pytest.raises(UnknownEntry):
        passages.edit("nobody", text="x")


def test_a_bulk_removal_is_one_decision_and_one_undo(memory_with_lore: Memory) -> None:
    passages = memory_with_lore.lore.passages
    ids = [row["id"] for row in passages.find(where={"world_id": "peaks"})]
    assert passages.remove([*ids, "nobody"]) == 3
    assert passages.decisions()[0].count == 3
    assert memory_with_lore.lore.query_lore("peaks", "dragon") == ([], False)
    passages.undo()
    assert len(memory_with_lore.lore.query_lore("peaks", "Dragón tale")[0]) == 3


# -- exact search --------------------------------------------------------------------------------------------

changes = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("pqr"), st.booleans()), max_size=30)


@settings(max_examples=25, deadline=None)
@given(changes)
def test_resident_vectors_follow_every_change_and_search_is_exact(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, str, bool]]
) -> None:
    with Memory.open(tmp_path_factory.mktemp("m") / "res", embedder=Bags(dimensions=16)) as memory:
        passages = memory.lore.passages
        memory._follower.wake = lambda: None  # type: ignore[union-attr, method-assign]
        expected: dict[str, str] = {}
        for number, world, stays in changes:
            id = f"{world}_{number}"
            if stays:
                memory.lore.add_lore(world, str(number), f"word{number} {world}")
                expected[id] = f"word{number} {world}"
            else:
                passages.remove([id])
                expected.pop(id, None)
            resident = passages.resident()
            assert set(resident._ids) == expected.keys()
        question = passages.question("word1 p")
        for where in ({}, {"world_id": "p"}, {"world_id": ["q", "r"]}):
            worlds = where.get("world_id", "pqr")
            cosines = {
                id: float(np.dot(passages.vector(id), question))  # type: ignore[arg-type]
                for id in expected
                if id[0] in worlds
            }
            best = sorted(cosines, key=lambda id: (-round(cosines[id], 5), id))[:3]
            found = passages.nearest(question, n=3, where=where)
            assert [round(hit.score, 4) for hit in found] == [round(cosines[id], 4) for id in best]


def test_a_wrong_vector_length_or_filter_is_refused(memory_with_lore: Memory) -> None:
    with pytest.raises(InvalidInput, match="was not made by bags"):
        memory_with_lore.lore.passages.nearest(np.ones(3, np.float32), n=1)
    with pytest.raises(InvalidInput, match="can be filtered by world_id"):
        memory_with_lore.lore.passages.search("x", n=1, where={"planet": "x"})


def test_a_text_longer_than_the_model_window_is_embedded_to_its_end(tmp_path: Path) -> None:
    start, end = "The harbour lies in fog. " * 60, "Kangaroos play the violin. " * 60
    embedder = open_embedder("sentence-transformers:all-MiniLM-L6-v2")
    assert embedder.count_tokens(start) > embedder.token_limit
    whole, alone, question = embedder.embed_texts([start + end, start, "violins and kangaroos"])
    assert float(whole @ question) > float(alone @ question) + 0.1


# -- a probe -------------------------------------------------------------------------------------------------


def test_a_probe_reports_near_misses_and_why_they_were_excluded(memory: Memory) -> None:
    for world, number, text in [
        ("peaks", 1, "dragon fire"), ("peaks", 2, "dragon fire burns"), ("peaks", 3, "dragon"),
        ("peaks", 4, "goats"), ("swamp", 1, "dragon fire here"),
    ]:  # fmt: skip
        memory.lore.add_lore(world, str(number), text)
    passages = memory.lore.passages
    asked = probe(passages, "dragon fire", n=2, where={"world_id": "peaks"}, floor=0.5)
    assert [one.row["id"] for one in asked.hits] == ["peaks_1", "peaks_2"]
    assert {one.row["id"]: one.kept_out for one in asked.misses} == {
        "swamp_1": "filter", "peaks_3": "n", "peaks_4": "threshold",
    }  # fmt: skip
    assert asked.hits[0].score == pytest.approx(1)
    assert asked.hits[0].calibrated > asked.hits[1].calibrated > 0
    assert asked.compared == 5
    asked = probe(passages, "dragon fire", n=3, where={"world_id": "peaks"}, budget=20)
    assert [one.row["id"] for one in asked.hits] == ["peaks_1", "peaks_3"]
    assert asked.misses[0].kept_out in ("budget", "filter")
    assert passages.questions.all() == {}, "a probe is no question of the story"


# -- another model -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("chroma")
def test_the_model_is_switched_only_after_all_entries_are_embedded(memory_with_lore: Memory) -> None:
    passages, other = memory_with_lore.lore.passages, Bags(name="other", dimensions=32)
    progress = Progress()
    progress.cancel()
    assert not reembed(passages, other, progress=progress)
    assert passages.model == "bags"
    assert len(memory_with_lore.lore.query_lore("peaks", "Dragón")[0]) == 3
    assert reembed(passages, other)
    assert (passages.model, passages.to_embed()) == ("other", 0)
    assert {row["embedding_model"] for row in passages.find()} == {"other"}
    assert len(memory_with_lore.lore.query_lore("peaks", "Dragón")[0]) == 3
    assert memory_with_lore.wait_for_chroma(60)
    assert memory_with_lore.check_chroma() == []


# -- Chroma --------------------------------------------------------------------------------------------------


def test_collections_are_named_as_in_the_references() -> None:
    assert {kind.name for kind in KINDS} == {
        "memories", "documents", "world_lore", "session_memory", "transcript_vectors",
    }  # fmt: skip


@pytest.mark.usefixtures("chroma")
def test_chroma_is_updated_after_changes_and_removals(memory_with_lore: Memory) -> None:
    memory_with_lore.lore.passages.remove(["peaks_l1"])
    memory_with_lore.lore.passages.edit("peaks_l3", text="goats")
    assert memory_with_lore.wait_for_chroma(60)
    memory_with_lore.close()
    entries = stored(memory_with_lore.places.root, "world_lore")
    assert entries.keys() == {"swamp_l0", "swamp_l2", "swamp_l4", "peaks_l3", "peaks_l5"}
    np.testing.assert_allclose(entries["peaks_l3"]["embedding"], Bags().embed_texts(["goats"])[0], atol=1e-6)


@pytest.mark.usefixtures("chroma")
def test_a_lost_or_damaged_chroma_is_rebuilt_without_a_model(
    memory_with_lore: Memory, reopen: Callable[[], Memory], bags: Bags
) -> None:
    assert memory_with_lore.wait_for_chroma(60)
    memory_with_lore.close()
    for file in memory_with_lore.places.chroma.rglob("*"):
        if file.is_file():
            file.write_bytes(b"rubbish")
    (memory_with_lore.places.folder / "chroma.dirty").touch()  # as after an unclean end
    bags.fails = True
    memory = reopen()
    assert memory.wait_for_chroma(120)
    assert memory.check_chroma() == []
    memory.close()
    assert len(stored(memory.places.root, "world_lore")) == 6


def test_the_dirty_marker_remains_until_chroma_is_checked(
    memory_with_lore: Memory, reopen: Callable[[], Memory]
) -> None:
    memory_with_lore.close()
    marker = memory_with_lore.places.folder / "chroma.dirty"
    marker.touch()
    reopen().close()
    assert marker.exists()


# -- doctor --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("chroma")
def test_doctor_finds_nothing_wrong_with_a_memory_in_use(memory_with_lore: Memory) -> None:
    memory_with_lore.memories.store_memory("words")
    memory_with_lore.memories.passages.remove(
        [row["id"] for row in memory_with_lore.memories.passages.find()]
    )
    assert memory_with_lore.wait_for_chroma(60)
    assert doctor.check(memory_with_lore) == []


@pytest.mark.usefixtures("chroma")
def test_doctor_repairs_missing_vectors_and_full_text(memory_with_lore: Memory) -> None:
    with memory_with_lore.lore.passages.database.writing() as db:
        db.execute("UPDATE world_lore SET vector = NULL WHERE id = 'peaks_l1'")
        db.execute("INSERT OR REPLACE INTO changes (tbl, id) VALUES ('world_lore', 'peaks_l1')")
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")
    memory_with_lore.lore.put_world(World("bare", "Bare", "", "", "bare.yaml", "1"))
    found = {finding.what for finding in doctor.check(memory_with_lore)}
    assert found == {
        "1 entries have no vector of this kind's model",
        "full-text search does not agree with the texts",
        "the world bare has no lore",
        "the file of the world bare is gone",
    }
    left = {finding.what for finding in doctor.repair(memory_with_lore)}
    assert left == {"the world bare has no lore", "the file of the world bare is gone"}
    assert memory_with_lore.lore.passages.count(words="tale") == 6


# -- the context of a story ----------------------------------------------------------------------------------


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


def test_places_are_below_the_root(tmp_path: Path) -> None:
    assert Places(tmp_path).database("memories") == tmp_path / "memory" / "memories.sqlite3"
    assert Places(tmp_path).worlds == tmp_path / "memory" / "worlds"


def test_searching_an_empty_kind_finds_nothing(memory: Memory) -> None:
    assert len(memory.lore.passages.resident()) == 0
    assert isinstance(memory.lore.passages.resident(), ResidentPassages)
    assert memory.lore.passages.search("anything", n=3) == []


def test_loading_vectors_during_an_erase_succeeds(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    passages = memory.lore.passages
    memory.lore.add_lore("peaks", "forge", "The dwarves forged the mountains.")
    reading = passages.database.reading

    @contextmanager
    def erased_meanwhile() -> Iterator[sqlite3.Connection]:
        monkeypatch.setattr(passages.database, "reading", reading)
        passages.erase(passages.kind.scope, "peaks")
        with reading() as db:
            yield db

    model = passages.model
    monkeypatch.setattr(type(passages), "model", property(lambda self: model))
    monkeypatch.setattr(passages.database, "reading", erased_meanwhile)
    assert len(passages.resident()) == 0
