"""A memory of 1.4, with a vector in each row, keeps every text, version and vector when it is upgraded."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from store.catalog import snapshots
from store.disk.files import Disk
from store.memory import doctor
from store.memory.engine.database import Database, Places, install
from store.memory.engine.reembedding import reembed
from store.memory.memory import Memory
from tests.store.memory.bags import Bags
from tests.store.memory.earlier import as_of_1_4
from tests.store.memory.engine.test_salvage import ROOT, said_by
from tests.store.memory.traces import traces


@pytest.fixture
def earlier(memory: Memory) -> tuple[Path, dict[str, Any]]:
    """A memory as 1.4 kept it, with an edited and a removed entry and vectors of two models; what it said."""
    kept = [memory.memories.store_memory(text)["memory_id"] for text in ("dragons sleep", "goats", "gone")]
    memory.memories.edit(kept[0], content="dragons wake")
    memory.memories.entries.remove([kept[2]])
    memory.lore.add_lore("peaks", "1", "the forge is cold")
    memory.session_memory.add_memory("elf_s1", "1", "I do.")
    memory.documents.import_document(Path("a.md"), protocol="aave", content=b"# Rates\n\nRates rise.\n")
    for model in (Bags(name="other", dimensions=32), memory.lore.entries.embedder):
        assert reembed(memory.lore.entries, model)
    said = said_by(memory)
    memory.close()
    as_of_1_4(memory.places.root)
    return memory.places.root, said


def test_texts_versions_and_vectors_of_every_model_are_kept(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory], bags: Bags
) -> None:
    _, before = earlier
    memory = reopen()
    assert said_by(memory) == before
    assert doctor.check(memory) == []
    bags.requests.clear()
    memory.undo()  # of the papers
    memory.undo()
    memory.undo()
    memory.undo()
    assert "gone" in {row["content"] for row in memory.memories.entries.find()}
    assert memory.memories.entries.to_embed() == 0, "what was removed has its vector again"
    assert bags.requests == []


def test_vectors_of_a_change_that_was_interrupted_are_used_when_it_goes_on(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory]
) -> None:
    root, _ = earlier
    third = Bags(name="third", dimensions=16)
    with closing(sqlite3.connect(Places(root).database)) as db:
        install(db)
        (vector,) = third.embed_texts(["goats"])
        hashed = sha256(b"goats").hexdigest()
        db.execute("INSERT INTO meta VALUES ('memories next_model', 'third')")
        db.execute("INSERT INTO new_vectors VALUES ('memories', 'x', ?, ?)", [hashed, vector.tobytes()])
        db.commit()
    third.requests.clear()
    assert reembed(reopen().memories.entries, third)
    assert third.requests == ["dragons wake"]


KILLED = """
import os, signal, sys
from pathlib import Path
from store.disk.files import Disk
from store.memory.engine.database import Database
left = int(sys.argv[2])
def kill(name, path):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
Database(Path(sys.argv[1]), disk=Disk(before=kill), writable=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 1.0])
def test_after_a_kill_nothing_is_lost(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory], tmp_path: Path, part: float
) -> None:
    root, before = earlier
    path, steps = Places(root).database, list[str]()
    shutil.copy(path, twin := tmp_path / "twin.sqlite3")
    Database(twin, disk=Disk(before=lambda name, _: steps.append(name)), writable=True).close()
    at = str(int((len(steps) - 1) * part))
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), at], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (8,)
    memory = reopen()
    assert said_by(memory) == before
    assert doctor.check(memory) == []


def test_a_damaged_row_is_given_back_from_a_copy_of_before(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory]
) -> None:
    root, before = earlier
    path = Places(root).database
    snapshots.make(path, "daily")
    path.write_bytes(path.read_bytes().replace(b"goats", b"boats"))
    memory = reopen()
    assert said_by(memory)["memories"]["rows"] == before["memories"]["rows"]
    assert doctor.damaged_rows(memory.database) == []


def test_a_damaged_row_without_a_copy_stays_named(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory]
) -> None:
    path = Places(earlier[0]).database
    path.write_bytes(path.read_bytes().replace(b"goats", b"boats"))
    found = doctor.damaged_rows(reopen().database)
    assert {one.table for one in found} == {"memories", "memories_vectors"}


def test_a_torn_file_is_made_again_with_what_it_still_says(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory]
) -> None:
    root, before = earlier
    path = Places(root).database
    with closing(sqlite3.connect(path)) as db:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'recall'"
        (page,), (size,) = db.execute(query).fetchone(), db.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    [told] = doctor.salvage_damaged(root)
    assert "from what it still says" in told
    assert said_by(reopen()) == before


def test_what_is_deleted_for_good_is_in_no_copy_of_before(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory], bags: Bags
) -> None:
    root, _ = earlier
    path = Places(root).database
    with closing(sqlite3.connect(path)) as db:
        kept = ("session_memory", "elf_s1_1", "older", "hash", vector := b"zanzibarium")
        db.execute("INSERT INTO kept_vectors VALUES (?, ?, ?, ?, ?)", kept)
        db.commit()
    snapshots.make(path, "daily")
    memory = reopen()
    memory.session_memory.delete_session_memory("elf_s1")
    own = [*bags.embed_texts(["I do."])]
    assert traces(root, [vector.decode(), "elf_s1"], own) == {}


def test_a_file_that_is_gone_is_made_again_from_a_copy_of_before(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory]
) -> None:
    root, before = earlier
    snapshots.make(Places(root).database, "daily")
    Places(root).database.unlink()
    assert said_by(reopen()) == before
