"""The files of a memory: one writer, foreign and damaged files, atomic changes."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import strategies as st

from store.disk.files import Disk
from store.errors import CatalogDamaged, NotWritten, ReadOnly
from store.memory import doctor
from store.memory.engine.database import Places
from store.memory.memory import Memory
from store.memory.story.lore import World
from tests.store.memory.bags import Bags

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


def test_a_memory_opened_for_reading_refuses_to_store(memory: Memory, bags: Bags) -> None:
    memory.lore.add_lore("peaks", "1", "dragons")
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


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/somewhere/unmounted.sqlite3")


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (rubbish, "cannot be read"),
        (of_another_program, "a database of another program (tables bookmarks)"),
        (newer, "written by a newer Memedex"),
        (a_folder, "is a folder"),
        (a_dangling_link, "is a link to /somewhere/unmounted.sqlite3, which is not there"),
        (a_pipe, "is no file"),
    ],
)
def test_a_foreign_or_damaged_file_is_named_and_not_touched(
    memory: Memory, reopen: Callable[[], Memory], bags: Bags, spoil: Callable[[Path], None], message: str
) -> None:
    memory.memories.store_memory("kept")
    path, original = memory.places.database, memory.places.originals / "paper.md"
    memory.close()
    spoil(path)
    original.parent.mkdir(exist_ok=True)
    original.write_text("the original of a document that nobody can read just now")
    before = {file: file.read_bytes() for file in memory.places.folder.glob("memory.*") if file.is_file()}
    again = reopen()
    assert again.memories.search_memory("kept")["results"] == []
    assert again.status().faults.keys() == again.kinds.keys()
    for fault in again.status().faults.values():
        assert message in fault
        assert str(path) in fault
    assert again.documents.sources() == []
    with pytest.raises(CatalogDamaged, match=r"memory\.sqlite3"):
        again.documents.import_document(Path("a.md"), protocol="aave", content=b"words")
    with pytest.raises(CatalogDamaged, match=r"memory\.sqlite3"):
        again.undo()
    assert {one.kind for one in doctor.repair(again)} == again.kinds.keys()
    again.close()
    with Memory.open_for_reading(memory.places.root, embedder=bags) as reader:
        assert reader.status().faults.keys() == reader.kinds.keys()
    after = {file: file.read_bytes() for file in memory.places.folder.glob("memory.*") if file.is_file()}
    assert after == before
    assert original.exists()


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
        before = {name: entries.find(limit=None) for name, entries in memory.kinds.items()}
        refuses[0] = True
        changes: list[Callable[[], object]] = [
            lambda: memory.memories.store_memory("second"),
            lambda: memory.memories.edit(id, content="changed"),
            lambda: memory.memories.entries.remove([id]),
            lambda: memory.undo(),
            lambda: memory.lore.put_world(World("peaks", "Peaks", "", "Goats.", "peaks.yaml", "2")),
            lambda: memory.lore.add_lore("peaks", "x", "more"),
            lambda: memory.documents.import_document(Path("a.md"), protocol="aave", content=b"words"),
            lambda: memory.session_memory.add_memory("elf", "1", "text"),
        ]
        for change in changes:
            with pytest.raises(NotWritten, match="no space left"):
                change()
        assert memory.lore.query_lore("peaks", "dragons")[0], "questions are answered all the same"
        refuses[0] = False
        assert before == {name: entries.find(limit=None) for name, entries in memory.kinds.items()}
        assert memory.memories.entries.count(words="second") == 0
        memory.documents.tidy()
        assert list(memory.places.originals.glob("*")) == []
        memory.undo()
        assert memory.memories.entries.count() == 0


def test_nothing_is_written_when_the_model_fails(memory: Memory, bags: Bags) -> None:
    bags.fails = True
    with pytest.raises(OSError, match="on fire"):
        memory.memories.store_memory("words")
    with pytest.raises(OSError, match="on fire"):
        memory.lore.put_world(World("peaks", "Peaks", "", "Dragons."))
    assert (memory.memories.entries.count(), memory.lore.worlds()) == (0, [])


# -- exact search --------------------------------------------------------------------------------------------


changes = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("pqr"), st.booleans()), max_size=30)


def test_places_are_below_the_root(tmp_path: Path) -> None:
    assert Places(tmp_path).database == tmp_path / "memory" / "memory.sqlite3"
    assert Places(tmp_path).worlds == tmp_path / "memory" / "worlds"
