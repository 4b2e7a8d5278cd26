"""A damaged or lost file of the text memory is named, and made again from what it says and from its copy."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store.catalog import snapshots
from store.catalog.history import IS_UNDONE
from store.cli import main
from store.disk.files import Disk
from store.errors import CatalogDamaged
from store.memory import doctor
from store.memory.engine.database import Places
from store.memory.engine.reembedding import reembed
from store.memory.engine.salvage import take_over
from store.memory.kinds import KINDS
from store.memory.memory import Memory
from store.memory.trust import review
from tests.store.memory.bags import Bags
from tests.store.memory.conftest import Clock
from tests.store.memory.earlier import as_of_1_2
from tests.store.memory.engine.test_versions import by_agent

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


ROOT = Path(__file__).parents[4]


class PowerCut(BaseException):
    pass


def said_by(memory: Memory) -> dict[str, Any]:
    """Everything that a person can see of a memory, by kind."""
    found: dict[str, Any] = {"models": memory.status().models, "worlds": memory.lore.worlds()}
    found["waiting"] = [one.entry for one in review.waiting(memory)]
    found["decisions"] = [
        (one.verb, one.actor, one.created_at, one.count, one.is_undone, one.kinds)
        for one in memory.log.find(limit=-1)
    ]
    for name, entries in memory.kinds.items():
        rows = entries.find(limit=None)
        events = memory.database.rows(
            f"SELECT d.verb, h.id, h.before, {IS_UNDONE} AS is_undone FROM history h JOIN decisions d "
            "ON d.number = h.decision WHERE h.kind = ? ORDER BY h.number DESC",
            [name],
        )
        found[name] = {
            "rows": rows,
            "vectors": [entries.vector(row["id"]) is not None for row in rows],
            "kept": entries.vectors_by_model(),
            "recall": {row["id"]: memory.recall_of(row["id"], kind=name) for row in rows},
            "asked": entries.asked(),
            "events": [
                (one["verb"], one["id"], json.loads(one["before"] or "0"), bool(one["is_undone"]))
                for one in events
            ],
            "versions": {
                id: [(two.version, two.row, two.author, two.via) for two in entries.versions(id)]
                for _, id, _, _ in events
                if "_" in id
            },
        }
    return found


@pytest.fixture
def earlier(memory: Memory, clock: Clock) -> tuple[Path, dict[str, Any]]:
    """A memory as 1.2 kept it, with something of everything; and what it said before."""
    kept = [memory.memories.store_memory(text)["memory_id"] for text in ("dragons sleep", "goats", "gone")]
    clock.now += 1
    memory.memories.edit(kept[0], content="dragons wake")
    memory.memories.entries.remove([kept[2]])
    memory.set_recall([kept[1]], "pinned")
    memory.lore.add_lore("peaks", "1", "the forge is cold")
    memory.lore.add_lore("peaks", "2", "taken back")
    memory.undo()
    memory.session_memory.add_memory("elf_s1", "1", "I do.")
    memory.session_memory.query_memory("elf_s1", "who does?")
    memory.documents.import_document(Path("a.md"), protocol="aave", content=b"# Rates\n\nRates rise.\n")
    by_agent(memory, is_reviewed=True).memories.store_memory("not seen yet")
    for model in (Bags(name="other", dimensions=32), memory.lore.entries.embedder):
        assert reembed(memory.lore.entries, model)
    said = said_by(memory)
    memory.close()
    as_of_1_2(memory.places.root)
    return memory.places.root, said


def names_in(root: Path) -> set[str]:
    return {path.name for path in Places(root).folder.glob("*.sqlite3*")}


def test_everything_is_in_the_one_file_and_the_others_are_gone(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory]
) -> None:
    root, before = earlier
    memory = reopen()
    assert said_by(memory) == before
    assert doctor.check(memory) == []
    assert {name.partition(".")[0] for name in names_in(root)} == {"memory"}
    undone = memory.undo()
    assert undone.done
    assert memory.redo().done == undone.done


def test_after_a_stop_at_any_step_nothing_is_lost(
    earlier: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    root, before = earlier
    files = {name: (Places(root).folder / name).read_bytes() for name in names_in(root)}

    def laid(number: int) -> Places:
        places = Places(tmp_path / f"root {number}")
        places.folder.mkdir(parents=True)
        for name, content in files.items():
            (places.folder / name).write_bytes(content)
        return places

    steps: list[str] = []
    take_over(laid(-1), KINDS, disk=Disk(before=lambda name, _: steps.append(name)), lock=None)
    assert {"schema", "take in", "compare", "commit", "rename", "remove"} <= {*steps}
    first = [n for n, name in enumerate(steps) if name not in steps[:n]]  # once of each
    for at in first:
        places, left = laid(at), [at]

        def cut(name: str, _: Path, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise PowerCut

        with pytest.raises(PowerCut):
            take_over(places, KINDS, disk=Disk(before=cut), lock=None)
        if not places.database.exists():
            unchanged = {name: (places.folder / name).read_bytes() for name in files}
            assert unchanged == files, f"cut at {steps[at]}"
        with Memory.open(places.root, embedder=Bags()) as memory:
            found = said_by(memory)
            assert {**found, "worlds": []} == {**before, "worlds": []}, f"cut at {steps[at]}"
        assert {name.partition(".")[0] for name in names_in(places.root)} == {"memory"}


KILLED = """
import os, signal, sys
from pathlib import Path
from store.disk.files import Disk
from store.memory.engine.salvage import take_over
from store.memory.engine.database import Places
from store.memory.kinds import KINDS
left = int(sys.argv[2])
def kill(name, path):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
take_over(Places(Path(sys.argv[1])), KINDS, disk=Disk(before=kill), lock=None)
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
@pytest.mark.parametrize("step", ["compare", "remove"])
def test_after_a_kill_nothing_is_lost(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory], tmp_path: Path, step: str
) -> None:
    root, before = earlier
    steps: list[str] = []
    twin = Places(tmp_path / "twin")
    twin.folder.mkdir(parents=True)
    for name in names_in(root):
        (twin.folder / name).write_bytes((Places(root).folder / name).read_bytes())
    take_over(twin, KINDS, disk=Disk(before=lambda name, _: steps.append(name)), lock=None)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(root), str(steps.index(step))], cwd=ROOT, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    memory = reopen()
    assert said_by(memory) == before
    assert {name.partition(".")[0] for name in names_in(root)} == {"memory"}


# -- files that cannot be taken in ---------------------------------------------------------------------------


def rubbish(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 100)


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


def a_dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/somewhere/unmounted.sqlite3")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [(rubbish, "cannot be read"), (newer, "a newer Memedex"), (a_dangling_link, "which is not there")],
)
def test_a_file_that_cannot_be_used_costs_its_kind_alone_until_it_can(
    earlier: tuple[Path, dict[str, Any]],
    reopen: Callable[[], Memory],
    bags: Bags,
    spoil: Callable[[Path], None],
    message: str,
) -> None:
    root, before = earlier
    path = Places(root).former("world_lore")
    content = path.read_bytes()
    spoil(path)
    memory = reopen()
    assert memory.status().faults.keys() == {"world_lore"}
    assert message in memory.status().faults["world_lore"]
    assert said_by(memory)["memories"] == before["memories"]
    assert memory.lore.query_lore("peaks", "forge") == ([], False)
    memory.memories.store_memory("the others work")
    with Memory.open(root, embedder=bags, may_keep=False) as beside:
        assert beside.status().faults.keys() == {"world_lore"}
    memory.close()
    path.unlink()
    path.write_bytes(content)
    memory = reopen()
    assert memory.status().faults == {}
    assert said_by(memory)["world_lore"] == before["world_lore"]
    assert memory.memories.entries.count() == 3
    assert not path.exists()


def test_a_damaged_file_is_mended_by_the_repair(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory]
) -> None:
    root, before = earlier
    path = Places(root).former("memories")
    snapshots.make(path, "daily")
    path.write_bytes(path.read_bytes()[:4096])
    assert reopen().status().faults.keys() == {"memories"}
    reopen().close()
    [told] = doctor.salvage_damaged(root)
    assert "from its copy" in told
    memory = reopen()
    assert said_by(memory)["memories"] == before["memories"]
    assert doctor.check(memory) == []


def test_a_damaged_row_is_given_back_from_the_copy_of_its_file(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory]
) -> None:
    root, before = earlier
    path = Places(root).former("memories")
    snapshots.make(path, "daily")
    path.write_bytes(path.read_bytes().replace(b"goats", b"boats"))
    memory = reopen()
    assert said_by(memory)["memories"] == before["memories"]
    assert not (path.parent / "snapshots" / "memories").exists()


def test_a_damaged_row_that_no_copy_has_is_still_named(
    earlier: tuple[Path, dict[str, Any]], reopen: Callable[[], Memory]
) -> None:
    path = Places(earlier[0]).former("memories")
    path.write_bytes(path.read_bytes().replace(b"goats", b"boats"))
    [found] = [one for one in doctor.check(reopen()) if "is not what was written" in one.what]
    assert found.kind == "memories"


def test_a_file_of_another_program_in_the_place_of_ours_is_not_touched(
    reopen: Callable[[], Memory], tmp_path: Path
) -> None:
    path = Places(tmp_path / "res").former("documents")
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
        db.commit()
    before = path.read_bytes()
    memory = reopen()
    assert memory.status().faults == {}
    memory.documents.import_document(Path("a.md"), protocol="aave", content=b"Rates rise.")
    memory.close()
    assert reopen().documents.search("rates", protocol="aave")
    assert path.read_bytes() == before
    assert names_in(tmp_path / "res") >= {"documents.sqlite3"}
