"""A backup holds everything, is consistent while another process writes, and leaves nothing when it fails."""

import errno
import itertools
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import store.backup.create
from store.backup.create import backup, backup_memory, damaged_files, read_manifest
from store.backup.restore import restore_backup
from store.catalog.filters import Filter
from store.disk.files import Disk
from store.disk.layout import Layout
from store.errors import BadBackup, MaybeWritten, MemedexError, NotWritten
from store.library import Library
from store.memory.memory import Memory
from store.progress import Progress
from store.reading.reader import Reader
from store.runtime import open_library
from tests.length import STRIDE
from tests.store.backup.conftest import reopen
from tests.store.conftest import address, approved_with_caption, coin, fresh_root
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars, contents, holds
from tests.store.memory.bags import Bags
from tests.store.world import FaultInjector, PowerCut, abandon

PROJECT = Path(__file__).parents[3]


# What another process does meanwhile: import, approve, caption, promote, delete; it prints a line per round.
BUSY = """
import sys
from pathlib import Path
from store.runtime import open_library, open_reader
from tests.store.conftest import address, approved_with_caption, coin
from tests.store.hashed import Hashed

library = open_library(Path(sys.argv[1]), embedder=Hashed())
for turn in range(100_000):
    numbers = range(turn * 4, turn * 4 + 4)
    addresses = approved_with_caption(library, *numbers)
    library.promote(addresses[:2])
    library.delete(addresses[1:3])
    library.undo()
    print(turn, flush=True)
"""


@pytest.mark.slow
def test_waiting_for_chroma_includes_a_pending_rebuild(source: Library, tmp_path: Path) -> None:
    backup(source, tmp_path / "copy")
    restore_backup(tmp_path / "other", tmp_path / "copy")
    library = reopen(tmp_path / "other")
    while not library.wait_for_chroma(0.05):
        pass
    library.close()
    chroma_agrees_with_the_sidecars(tmp_path / "other", Hashed())


def test_a_decision_made_before_a_backup_can_be_undone_after_the_restore(
    source: Library, tmp_path: Path
) -> None:
    source.approve([address(7)])
    backup(source, tmp_path / "copy")
    restore_backup(tmp_path / "other", tmp_path / "copy")
    with reopen(tmp_path / "other") as restored:
        assert open_library(tmp_path / "other").undo().done == [address(7)]
        assert restored.get(address(7)).tier == "pending"


@pytest.mark.slow
def test_a_backup_made_while_another_process_writes_is_consistent(root: Path, tmp_path: Path) -> None:
    busy = subprocess.Popen(
        [sys.executable, "-c", BUSY, str(root)], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )
    assert busy.stdout is not None
    try:
        for number in range(6):
            assert busy.stdout.readline(), "the other process has ended"
            with Reader(root) as reader:
                outcome = backup(reader, tmp_path / f"copy {number}")
            assert outcome.refused == []
            assert len(outcome.done) >= 4
    finally:
        busy.kill()
        busy.communicate()
    for number in range(6):
        restore_backup(tmp_path / f"other {number}", tmp_path / f"copy {number}")
        with reopen(tmp_path / f"other {number}") as restored:
            holds(restored)
            assert restored.status().faults == ()
            last = {event.address: event for event in reversed(restored.history(limit=-1))}
            assert {key: event.after_tier for key, event in last.items()} == {
                record.address: record.tier for record in restored.find(Filter())
            }


@pytest.mark.slow
@pytest.mark.usefixtures("without_chroma")
def test_a_backup_made_during_an_operation_restores_its_final_state(quick_root: Path, tmp_path: Path) -> None:
    for at in itertools.count(1, STRIDE):
        root, other = quick_root / f"{at}", quick_root / f"{at} other"
        injector = FaultInjector()
        library = open_library(fresh_root(root), embedder=Hashed(), disk=Disk(before=injector))
        prepared = approved_with_caption(library, 1)
        injector.cut_power(at)
        try:
            library.promote(prepared)
            library.add([coin(2)])
            library.caption(prepared[0], caption={"emotions": "glad"})
        except PowerCut:
            pass
        was_cut = injector.has_failed
        injector.stop_failing()
        abandon(library)
        with Reader(root) as reader:
            assert backup(reader, tmp_path / f"{at}").refused == []
        restore_backup(other, tmp_path / f"{at}")
        with reopen(root) as recovered, reopen(other) as restored:
            assert contents(restored).records == contents(recovered).records
            assert contents(restored).events == contents(recovered).events
            holds(restored)
        if not was_cut:
            break
    assert at > 20


def test_a_backup_hard_links_pictures_and_a_restore_copies_them(source: Library, tmp_path: Path) -> None:
    backup(source, tmp_path / "copy")
    restore_backup(tmp_path / "other", tmp_path / "copy")
    own = source.picture(address(0))
    kept = Layout(tmp_path / "copy").image("library", address(0))
    returned = Layout(tmp_path / "other").image("library", address(0))
    assert kept.samefile(own)
    assert not returned.samefile(kept)
    assert (
        not Layout(tmp_path / "copy")
        .sidecar("library", address(0))
        .samefile(source.layout.sidecar("library", address(0)))
    )


def test_a_backup_includes_taxonomy_memory_and_files_set_aside(source: Library, tmp_path: Path) -> None:
    memory, aside = source.layout.root / "memory", source.layout.set_aside
    (memory / "papers").mkdir(parents=True)
    (memory / "papers" / "a:b.txt").write_text("lore")
    (memory / "chroma").mkdir()
    (memory / "chroma" / "data.bin").write_text("derived, and perhaps forgotten since")
    aside.mkdir()
    (aside / "1-x.json").write_text("{}")
    db = sqlite3.connect(memory / "memory.sqlite3", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE message (what)")
    db.execute("INSERT INTO message VALUES ('hello')")  # only in the WAL
    backup(source, tmp_path / "copy")
    db.close()
    restore_backup(tmp_path / "other", tmp_path / "copy")
    other = tmp_path / "other"
    assert (other / "taxonomy.json").read_bytes() == (source.layout.root / "taxonomy.json").read_bytes()
    assert (other / "memory" / "papers" / "a:b.txt").read_text() == "lore"
    assert not (other / "memory" / "chroma").exists()
    assert (Layout(other).set_aside / "1-x.json").read_text() == "{}"
    restored = sqlite3.connect(other / "memory" / "memory.sqlite3")
    assert restored.execute("SELECT what FROM message").fetchall() == [("hello",)]
    restored.close()


def test_a_backup_includes_sidecars_that_could_not_be_imported(source: Library, tmp_path: Path) -> None:
    layout = source.layout
    strange = layout.sidecar("pending", "0xabc")
    strange.write_text('{"token_address": "0xabc", "token_name": "of long ago"}')
    strange.with_suffix(".jpg").write_bytes(layout.image("pending", address(7)).read_bytes())
    source.apply_external_edits()
    assert not backup(source, tmp_path / "copy").refused
    restore_backup(tmp_path / "back", tmp_path / "copy")
    back = Layout(tmp_path / "back").sidecar("pending", "0xabc")
    assert back.read_bytes() == strange.read_bytes()
    assert back.with_suffix(".jpg").read_bytes() == strange.with_suffix(".jpg").read_bytes()


def test_a_backup_reports_a_missing_picture_and_keeps_the_other_records(
    source: Library, tmp_path: Path
) -> None:
    source.picture(address(7)).unlink()
    outcome = backup(source, tmp_path / "copy")
    assert [refusal.item for refusal in outcome.refused] == [address(7)]
    assert len(outcome.done) == 9
    assert Layout(tmp_path / "copy").sidecar("pending", address(7)).exists()


def test_a_backup_leaves_out_a_picture_changed_outside_the_program(source: Library, tmp_path: Path) -> None:
    source.picture(address(7)).write_bytes(b"something else")
    assert [refusal.item for refusal in backup(source, tmp_path / "copy").refused] == [address(7)]
    assert not Layout(tmp_path / "copy").image("pending", address(7)).exists()


@pytest.mark.parametrize("place", ["taken", "res/memecoins/mine", "res/memory"])
def test_a_backup_needs_a_new_folder_outside_the_library(source: Library, tmp_path: Path, place: str) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("dear")
    with pytest.raises(BadBackup):
        backup(source, tmp_path / place)
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["letter.txt"]
    assert not list(tmp_path.rglob("*unfinished*"))


def test_a_cancelled_backup_leaves_no_files(source: Library, tmp_path: Path) -> None:
    progress = Progress()
    progress.cancel()
    assert backup(source, tmp_path / "copy", progress=progress).done == []
    assert [path.name for path in tmp_path.iterdir()] == ["res"]


def test_a_backup_that_the_disk_does_not_confirm_is_called_whole(
    source: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, sync = tmp_path / "backup", Disk.fsync_folders

    def failing(disk: Disk, folders: Iterable[Path]) -> None:
        if [place.parent] == (given := list(folders)):
            raise OSError(errno.EIO, "Input/output error")
        sync(disk, given)

    monkeypatch.setattr(Disk, "fsync_folders", failing)
    with pytest.raises(MaybeWritten, match="is whole, but the disk does not confirm its name"):
        backup(source, place)
    assert not list(damaged_files(place, read_manifest(place), progress=Progress()))


def test_a_damaged_catalog_is_not_backed_up(root: Path, tmp_path: Path) -> None:
    with reopen(root):
        pass
    content = bytearray((Layout(root).catalog).read_bytes())
    content[4096 * 3 : 4096 * 9] = b"\xff" * 4096 * 6
    Layout(root).catalog.write_bytes(content)
    with pytest.raises(MemedexError), Reader(root) as reader:
        backup(reader, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_backup_survives_later_changes_to_the_library(source: Library, tmp_path: Path) -> None:
    backup(source, tmp_path / "copy")
    expected = contents(source)
    root = source.layout.root
    source.delete([record.address for record in source.find(Filter()) if record.tier != "trash"])
    source.close()
    shutil.rmtree(root)
    restore_backup(root, tmp_path / "copy")
    with reopen(root) as library:
        assert contents(library).records == expected.records
    assert os.listdir(tmp_path / "copy")  # noqa: PTH208


def test_a_backup_names_the_file_that_it_may_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    Memory.open(tmp_path / "res", embedder=Bags()).close()
    monkeypatch.setattr(store.backup.create, "copy_other", refuse)
    with pytest.raises(NotWritten, match=f"in {tmp_path / 'copy'}: Permission denied: {tmp_path / 'res'}/"):
        backup_memory(tmp_path / "res", tmp_path / "copy")


def test_a_root_with_text_memory_alone_is_backed_up_and_restored(tmp_path: Path) -> None:
    root, copy = tmp_path / "res", tmp_path / "copy"
    with Memory.open(root, embedder=Bags()) as memory:
        memory.memories.store_memory("The vault opens at noon", tags=["vault"])
        outcome = backup_memory(root, copy)
        memory.memories.store_memory("written later")
    assert "memory/memory.sqlite3" in outcome.done
    (root / "memecoins").mkdir()
    (root / "memecoins" / "kept.txt").write_text("coins came meanwhile")
    restored = restore_backup(root, copy)
    assert restored.refused == []
    with Memory.open(root, embedder=Bags()) as memory:
        assert [row["content"] for row in memory.memories.entries.find()] == ["The vault opens at noon"]
    assert (root / "memecoins" / "kept.txt").exists()
    assert restored.replaced
    with Memory.open(restored.replaced, embedder=Bags()) as before:
        assert before.memories.entries.count() == 2
    with pytest.raises(BadBackup, match="needs a new place"):
        backup_memory(root, copy)
