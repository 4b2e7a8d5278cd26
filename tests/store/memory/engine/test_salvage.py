"""A damaged or lost file of the text memory is named, and made again from what it says and from its copy."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.cli import main
from store.errors import CatalogDamaged
from store.memory import doctor
from store.memory.memory import Memory
from tests.store.memory.bags import Bags

TEXTS = [f"fact number {number}, worth {1000 + number}" for number in range(20)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory of 20 entries whose daily copy was made when it was closed."""
    with Memory.open(tmp_path / "res", embedder=Bags()) as memory:
        for text in TEXTS:
            memory.memories.store_memory(text)
    return tmp_path / "res"


def file_of(root: Path) -> Path:
    return root / "memory" / "memory.sqlite3"


def contents(memory: Memory) -> list[str]:
    return sorted((row["content"] for row in memory.memories.entries.find(limit=100)), key=TEXTS.index)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_to_its_header(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut_short, cut_to_its_header], ids=["half", "header"])
def test_a_file_cut_short_is_made_again_by_the_repair(
    damage: Callable[[Path], None], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(file_of(root))
    before = file_of(root).read_bytes()
    assert main(["--root", str(root), "memory", "list"]) == 1
    assert main(["--root", str(root), "memory", "search", "fact"]) == 1
    assert main(["--root", str(root), "memory", "doctor"]) == 1
    assert "memory doctor --repair" in capsys.readouterr().err
    [told] = doctor.salvage_damaged(root)
    assert "20 events" in told
    assert doctor.salvage_damaged(root) == []
    with Memory.open(root, embedder=Bags()) as memory:
        assert contents(memory) == TEXTS
        assert doctor.repair(memory) == []
        assert doctor.check(memory) == []
    [kept] = [path for path in file_of(root).parent.glob("*.damaged-*") if path.read_bytes() == before]
    assert kept


def test_an_agent_is_told_that_a_kind_cannot_be_read_instead_of_that_it_is_empty(root: Path) -> None:
    cut_short(file_of(root))
    with Memory.open_for_reading(root, embedder=Bags()) as memory:
        found = memory.memories.search_memory("fact")
        assert found["results"] == []
        assert "cannot be read" in found["note"]


def test_the_copy_is_of_the_last_closing_however_often_the_memory_was_opened_on_one_day(
    tmp_path: Path,
) -> None:
    root = tmp_path / "res"
    for text in TEXTS[:5]:
        with Memory.open(root, embedder=Bags()) as memory:
            memory.memories.store_memory(text)
    assert len([*(root / "memory" / "snapshots" / "memory").glob("*-daily.sqlite3")]) == 1
    file_of(root).unlink()
    with Memory.open(root, embedder=Bags()) as memory:
        assert contents(memory) == TEXTS[:5]
        assert doctor.check(memory) == []


@pytest.mark.parametrize("damage", [Path.unlink, emptied], ids=["gone", "empty"])
def test_a_file_that_is_gone_is_made_again_from_its_copy(
    damage: Callable[[Path], None], root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damage(file_of(root))
    with Memory.open_for_reading(root, embedder=Bags()) as memory:
        assert contents(memory) == TEXTS
    assert "a new one with 20 events of its history was made from its copy" in caplog.text


def test_a_file_that_is_gone_without_a_copy_is_not_taken_for_an_empty_one(root: Path) -> None:
    for copy in (file_of(root).parent / "snapshots" / "memory").iterdir():
        copy.unlink()
    file_of(root).unlink()
    assert main(["--root", str(root), "memory", "list"]) == 1
    with Memory.open(root, embedder=Bags()) as memory:
        assert "is gone, and there is no copy" in memory.status().faults["memories"]
        assert doctor.check(memory)
        with pytest.raises(CatalogDamaged):
            memory.memories.store_memory("new")
    assert doctor.salvage_damaged(root)
    with Memory.open(root, embedder=Bags()) as memory:
        assert memory.status().counts["memories"] == 0
        assert doctor.repair(memory) == []


def test_a_log_alone_is_not_taken_for_an_empty_memory(root: Path) -> None:
    with Memory.open(root, embedder=Bags()) as memory:
        memory.memories.store_memory("one more")
        log = file_of(root).with_name("memory.sqlite3-wal").read_bytes()
    shutil.rmtree(file_of(root).parent / "snapshots")
    for path in (root / "memory").glob("*.sqlite3*"):
        path.unlink()
    file_of(root).with_name("memory.sqlite3-wal").write_bytes(log)
    assert main(["--root", str(root), "memory", "list"]) == 1
    assert doctor.salvage_damaged(root)
    [kept] = file_of(root).parent.glob("*.damaged-*-wal")
    assert kept.read_bytes() == log


def changed_digit(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"worth 1011", b"worth 1911"))


def changed_vector(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        (vector,) = db.execute("SELECT vector FROM memories_vectors WHERE rowid = 12").fetchone()
    content = path.read_bytes()
    assert content.count(vector) == 1
    path.write_bytes(content.replace(vector, vector[:-1] + bytes([vector[-1] ^ 0x40])))


@pytest.mark.parametrize("damage", [changed_digit, changed_vector])
def test_a_changed_row_is_given_back_from_the_copy(damage: Callable[[Path], None], root: Path) -> None:
    before = file_of(root).read_bytes()
    damage(file_of(root))
    assert file_of(root).read_bytes() != before
    with Memory.open(root, embedder=Bags()) as memory:
        [damaged] = doctor.damaged_rows(memory.database)
        assert damaged.table == ("memories" if damage is changed_digit else "memories_vectors")
        assert any("is not what was written" in one.what for one in doctor.check(memory))
        assert doctor.repair(memory) == []
        assert contents(memory) == TEXTS
        assert memory.memories.search_memory("worth 1011")["results"]


def test_a_changed_row_that_no_copy_has_stays_named_and_an_edit_settles_it(root: Path) -> None:
    for copy in (file_of(root).parent / "snapshots" / "memory").iterdir():
        copy.unlink()
    changed_digit(file_of(root))
    with Memory.open(root, embedder=Bags()) as memory:
        for _ in range(2):
            [left] = doctor.repair(memory)
            assert "is not what was written" in left.what
        [id] = [one["id"] for one in memory.memories.entries.find(limit=100) if "1911" in one["content"]]
        memory.memories.entries.edit(id, content=TEXTS[11])
        assert doctor.repair(memory) == []
        assert contents(memory) == TEXTS


def test_a_changed_vector_that_no_copy_has_is_made_again_from_its_sound_text(root: Path) -> None:
    for copy in (file_of(root).parent / "snapshots" / "memory").iterdir():
        copy.unlink()
    with closing(sqlite3.connect(file_of(root))) as db:
        before = {*db.execute("SELECT key, model, vector FROM memories_vectors")}
    changed_vector(file_of(root))
    with Memory.open(root, embedder=Bags()) as memory:
        assert doctor.repair(memory) == []
    with closing(sqlite3.connect(file_of(root))) as db:
        assert {*db.execute("SELECT key, model, vector FROM memories_vectors")} == before
