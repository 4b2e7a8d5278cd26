"""An exchange of folders is finished after a crash, whole or not at all, before a lock is taken."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from store.disk.exchange import STAGED, Exchange, alone, exchange, is_interrupted
from store.disk.files import Disk
from store.disk.lock import WriterLock
from store.library import Library
from store.memory.memory import Memory
from store.runtime import open_library, open_reader
from tests.store.hashed import Hashed
from tests.store.world import FaultInjector, PowerCut

NAMES = ("memecoins", "memory", "taxonomy.json")


def prepared(root: Path) -> Exchange:
    """An old root with two of three parts, and all three of a new one beside it."""
    parts = Exchange(root, root / f"{STAGED}1", root / "backups" / "before", NAMES)
    for folder, names in ((root, NAMES[::2]), (parts.staged, NAMES)):
        for name in names:
            path = folder / name if name.endswith(".json") else folder / name / "content"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("old" if folder == root else "new")
    parts.aside.mkdir(parents=True)
    return parts


def state(root: Path) -> dict[str, str]:
    """The content of each part that is there."""
    paths = {name: root / name if name.endswith(".json") else root / name / "content" for name in NAMES}
    return {name: path.read_text() for name, path in paths.items() if path.exists()}


OLD, NEW = {NAMES[0]: "old", NAMES[2]: "old"}, dict.fromkeys(NAMES, "new")


@pytest.mark.parametrize("lock", ["memecoins/writer.lock", "memory/writer.lock"])
def test_a_power_cut_at_any_step_leaves_all_parts_old_or_all_new(tmp_path: Path, lock: str) -> None:
    found = []
    for step in range(1, 30):
        root, injector = tmp_path / str(step), FaultInjector()
        parts = prepared(root)
        injector.cut_power(step)
        try:
            with alone(parts.staged, root):
                exchange(parts, disk=Disk(before=injector))
        except PowerCut:
            is_over = False
        else:
            is_over = True
        held = WriterLock(root / lock)
        held.acquire()
        held.release()
        (root / lock).unlink()
        found.append(state(root))
        assert found[-1] in (OLD, NEW)
        assert state(parts.aside) == (OLD if found[-1] == NEW else {})
        assert not is_interrupted(root)
        if is_over:
            break
    assert found[0] == OLD
    assert found[-2:] == [NEW, NEW]


def test_if_the_disk_refuses_the_way_back_too_the_next_opening_finishes_it(tmp_path: Path) -> None:
    parts, injector = prepared(tmp_path), FaultInjector()

    def refuse(name: str, path: Path) -> None:
        if name == "rename" and path == tmp_path / "memecoins":
            raise OSError("the disk says no")
        injector(name, path)

    with pytest.raises(Exception, match="opening the library finishes it"):
        exchange(parts, disk=Disk(before=refuse))
    assert is_interrupted(tmp_path)
    WriterLock(tmp_path / "memecoins" / "writer.lock").acquire()
    assert state(tmp_path) == NEW
    assert state(parts.aside) == OLD


def test_a_text_memory_that_is_opened_beside_a_library_is_the_restored_one(tmp_path: Path) -> None:
    parts = prepared(tmp_path)
    about = {"aside": "backups/before", "names": ["memory"]}
    (parts.staged / "exchange.json").write_text(json.dumps(about))
    Memory.open(tmp_path, embedder=Hashed(), may_keep=False).close()
    assert state(tmp_path)["memory"] == "new"


@pytest.mark.parametrize("opening", [open_reader, Memory.open_for_reading])
def test_who_only_reads_finishes_an_exchange_first_if_the_disk_lets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opening: Callable[..., Library | Memory]
) -> None:
    open_library(tmp_path, embedder=Hashed()).close()
    Memory.open(tmp_path, embedder=Hashed()).close()
    new, place = tmp_path / f"{STAGED}1" / "memory" / "content", tmp_path / "memory" / "content"
    new.parent.mkdir(parents=True)
    new.write_text("new")
    about = {"aside": "backups/before", "names": ["memory"]}
    (tmp_path / f"{STAGED}1" / "exchange.json").write_text(json.dumps(about))
    (tmp_path / "backups" / "before").mkdir(parents=True)
    with monkeypatch.context() as read_only:
        read_only.setattr(Disk, "rename", refuse)
        opening(tmp_path, embedder=Hashed()).close()
    assert not place.exists()
    opening(tmp_path, embedder=Hashed()).close()
    assert place.read_text() == "new"


def refuse(*_: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_parts_that_were_never_complete_are_removed_unless_they_are_still_copied(tmp_path: Path) -> None:
    parts = prepared(tmp_path)
    somebodys = tmp_path / f"{STAGED}by hand" / "notes.txt"
    somebodys.parent.mkdir()
    somebodys.write_text("mine")
    lock = WriterLock(tmp_path / "memecoins" / "writer.lock")
    with alone(parts.staged, tmp_path):
        lock.acquire()
        assert state(parts.staged) == NEW
        lock.release()
    lock.acquire()
    assert not parts.staged.exists()
    assert state(tmp_path) == OLD
    assert somebodys.read_text() == "mine"


@pytest.mark.parametrize(
    "record",
    ["", "[]", '{"aside": "../elsewhere", "names": ["memory"]}', '{"aside": "a", "names": ["../x"]}'],
)
def test_a_record_that_memedex_did_not_write_is_left_alone(tmp_path: Path, record: str) -> None:
    parts = prepared(tmp_path)
    (parts.staged / "exchange.json").write_text(record)
    WriterLock(tmp_path / "memecoins" / "writer.lock").acquire()
    assert state(tmp_path) == OLD
    assert state(parts.staged) == NEW
