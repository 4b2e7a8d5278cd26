"""A restore brings everything back, refuses what is damaged, and keeps what stood there before."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import store.disk.exchange
from store.backup.create import backup
from store.backup.restore import restore_backup
from store.cli.call import has_library
from store.disk.files import Disk
from store.disk.layout import Layout
from store.errors import BadBackup, LibraryInUse, NotWritten
from store.library import Library
from store.maintenance.doctor import check
from store.runtime import open_library, open_reader
from tests.length import STRIDE
from tests.store.backup.conftest import reopen
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
from tests.store.invariants import StoredRecord, chroma_agrees_with_the_sidecars, contents, holds
from tests.store.world import FaultInjector, PowerCut

Records = dict[str, StoredRecord]


@pytest.mark.slow
def test_a_backup_restores_every_record_event_and_decision(source: Library, tmp_path: Path) -> None:
    expected = contents(source)
    outcome = backup(source, tmp_path / "copy")
    assert sorted(outcome.done) == sorted(expected.records)
    assert outcome.refused == []
    assert restore_backup(tmp_path / "other", tmp_path / "copy").refused == []
    with reopen(tmp_path / "other") as restored:
        assert contents(restored).records == expected.records
        assert contents(restored).events == expected.events
        assert contents(restored).decisions == expected.decisions
        holds(restored)


def test_chroma_is_rebuilt_after_a_restore(source: Library, tmp_path: Path) -> None:
    backup(source, tmp_path / "copy")
    restore_backup(tmp_path / "other", tmp_path / "copy")
    library = reopen(tmp_path / "other")
    assert library.wait_for_chroma()
    assert check(library) == []
    library.close()
    chroma_agrees_with_the_sidecars(tmp_path / "other", Hashed())


def test_a_restore_reports_every_damaged_file_and_restores_nothing(source: Library, tmp_path: Path) -> None:
    backup(source, tmp_path / "copy")
    copy = Layout(tmp_path / "copy")
    picture = copy.image("pending", address(7))
    picture.unlink()  # removes only this name: the library has a hard link to the file
    picture.write_bytes(source.picture(address(8)).read_bytes())
    copy.sidecar("library", address(0)).write_text("{}")
    copy.image("library", address(1)).unlink()
    flipped = bytearray(copy.catalog.read_bytes())
    flipped[len(flipped) // 2] ^= 1
    copy.catalog.write_bytes(flipped)
    restored = restore_backup(tmp_path / "other", tmp_path / "copy")
    named = {refusal.item for refusal in restored.refused}
    assert named == {
        path.relative_to(copy.root).as_posix()
        for path in (
            picture,
            copy.sidecar("library", address(0)),
            copy.image("library", address(1)),
            copy.catalog,
        )
    }
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/etc/passwd",
        "memecoins/../../outside",
        "res/x",
        "",
        "memecoins//x",
        "demo/manifest.json",
    ],
)
def test_a_manifest_with_paths_outside_the_backup_is_refused(
    source: Library, tmp_path: Path, name: str
) -> None:
    backup(source, tmp_path / "copy")
    manifest = json.loads((tmp_path / "copy" / "manifest.json").read_bytes())
    manifest["files"][name] = "0" * 64
    (tmp_path / "copy" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BadBackup):
        restore_backup(tmp_path / "other", tmp_path / "copy")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "memedex backup", "version": 99}', "[" * 100_000])
def test_a_folder_that_is_not_a_backup_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "manifest.json").write_text(text)
    with pytest.raises(BadBackup):
        restore_backup(tmp_path / "other", tmp_path / "copy")


def test_a_symbolic_link_in_a_backup_is_not_followed(source: Library, tmp_path: Path) -> None:
    backup(source, tmp_path / "copy")
    sidecar = Layout(tmp_path / "copy").sidecar("library", address(0))
    shutil.copyfile(sidecar, tmp_path / "same.json")
    sidecar.unlink()
    sidecar.symlink_to(tmp_path / "same.json")
    assert len(restore_backup(tmp_path / "other", tmp_path / "copy").refused) == 1


def test_restoring_over_a_library_keeps_the_old_one_as_a_backup(source: Library, tmp_path: Path) -> None:
    root = source.layout.root
    backup(source, tmp_path / "copy")
    early = contents(source)
    source.delete([address(0)])
    source.add([coin(20)])
    assert source.wait_for_chroma()
    late = contents(source)
    source.close()

    first = restore_backup(root, tmp_path / "copy")
    assert first.replaced is not None
    with reopen(root) as restored:
        assert contents(restored).records == early.records

    second = restore_backup(root, first.replaced)
    assert second.refused == []
    library = reopen(root)
    assert contents(library).records == late.records
    assert contents(library).events == late.events
    assert library.wait_for_chroma()
    assert check(library) == []
    library.close()
    chroma_agrees_with_the_sidecars(root, Hashed())


def test_restoring_over_an_unreadable_library_keeps_its_files(source: Library, tmp_path: Path) -> None:
    root, expected = source.layout.root, contents(source)
    backup(source, tmp_path / "copy")
    source.close()
    Layout(root).catalog.write_bytes(b"no database at all")
    restored = restore_backup(root, tmp_path / "copy")
    assert restored.replaced is not None
    assert Layout(restored.replaced).catalog.read_bytes() == b"no database at all"
    with reopen(root) as library:
        assert contents(library).records == expected.records


def test_a_restore_is_refused_while_the_library_is_open_for_writing(source: Library, tmp_path: Path) -> None:
    backup(source, tmp_path / "copy")
    expected = contents(source)
    with pytest.raises(LibraryInUse):
        restore_backup(source.layout.root, tmp_path / "copy")
    assert contents(source) == expected
    holds(source)


@pytest.fixture
def to_exchange(source: Library, tmp_path: Path) -> tuple[Path, Records, Records]:
    """A root, the records of its backup in `copy`, and those it has itself by now."""
    backup(source, tmp_path / "copy")
    early = contents(source).records
    source.add([coin(20)])
    late = contents(source).records
    source.close()
    return source.layout.root, early, late


def test_a_disk_that_refuses_any_step_of_a_restore_leaves_the_library_unchanged(
    to_exchange: tuple[Path, Records, Records], tmp_path: Path
) -> None:
    root, _, late = to_exchange
    for step, disk, injector in each_step():
        injector.fail(step, OSError(28, "No space left on device"), lasts=False)
        try:
            restored = restore_backup(root, tmp_path / "copy", disk=disk)
        except NotWritten:
            is_over = False
        else:
            is_over = True
            break
        assert not list((root / "backups").glob("*"))
        assert not list(root.glob(".restoring-*"))
        with reopen(root) as library:
            assert contents(library).records == late
    assert is_over
    assert restored.replaced
    assert step > 5


def test_a_restore_that_the_power_cuts_at_any_step_leaves_the_old_library_or_the_new_one(
    to_exchange: tuple[Path, Records, Records], tmp_path: Path
) -> None:
    root, early, late = to_exchange
    whole = shutil.copytree(root, tmp_path / "whole")
    found = []
    for step, disk, injector in each_step():
        shutil.rmtree(root)
        shutil.copytree(whole, root)
        injector.cut_power(step)
        try:
            restore_backup(root, tmp_path / "copy", disk=disk)
        except PowerCut:
            is_over = False
        else:
            is_over = True
        with reopen(root) as library:
            records = contents(library).records
            assert records in (early, late)
            found.append(records == early)
        assert not list(root.glob(".restoring-*"))
        if records == early:
            (kept,) = (root / "backups").iterdir()
            with reopen(kept) as library:
                assert contents(library).records == late
        if is_over:
            break
    assert found == sorted(found), "from one step on it is the new one"
    assert found.count(True) > 3 // STRIDE, "the power was cut while they were exchanged, too"


def test_the_folders_that_hold_the_replaced_library_reach_the_disk(
    to_exchange: tuple[Path, Records, Records], tmp_path: Path
) -> None:
    root, _, _ = to_exchange
    injector = FaultInjector()
    restored = restore_backup(root, tmp_path / "copy", disk=Disk(before=injector))
    assert restored.replaced
    moved = injector.steps.index(("rename", root / "memecoins"))
    synced = [path for name, path in injector.steps[moved:] if name == "fsync"]
    assert {root, restored.replaced} <= {*synced}
    assert ("fsync", root / "backups") in injector.steps[:moved], "with the name of the folder in it"


def test_a_library_that_is_opened_while_a_backup_takes_its_place_is_in_use(
    to_exchange: tuple[Path, Records, Records], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, early, _ = to_exchange
    monkeypatch.setattr(store.disk.exchange, "_TIMEOUT", 0)
    refused = []

    def look(name: str, path: Path) -> None:
        if name == "rename" and path == root / "memecoins":  # the old one is gone
            for opening in (open_reader, open_library):
                with pytest.raises(LibraryInUse, match="is being restored"):
                    opening(root, embedder=Hashed())
                refused.append(opening)
            assert has_library(root), "and the command line does not say that there is none"

    assert restore_backup(root, tmp_path / "copy", disk=Disk(before=look)).replaced
    assert len(refused) == 2
    with reopen(root) as library:
        assert contents(library).records == early


def test_what_another_program_puts_in_the_place_meanwhile_is_kept(
    to_exchange: tuple[Path, Records, Records], tmp_path: Path
) -> None:
    root, _, late = to_exchange
    notes = [root / "memecoins" / "notes.txt"]

    def disturb(name: str, path: Path) -> None:
        if name == "rename" and path == root / "memecoins" and notes:
            path.mkdir()
            notes.pop().write_text("mine")

    with pytest.raises(NotWritten, match="nothing was restored"):
        restore_backup(root, tmp_path / "copy", disk=Disk(before=disturb))
    with reopen(root) as library:
        assert contents(library).records == late
    assert [path.read_text() for path in (root / "backups").rglob("notes.txt")] == ["mine"]


def each_step() -> Iterator[tuple[int, Disk, FaultInjector]]:
    """A number and a disk, for each step that a restore may take."""
    for step in range(1, 40, STRIDE):
        injector = FaultInjector()
        yield step, Disk(before=injector), injector


def test_a_restore_into_an_empty_library_keeps_no_old_copy(source: Library, tmp_path: Path) -> None:
    backup(source, tmp_path / "copy")
    Layout(tmp_path / "other").memecoins.mkdir(parents=True)
    assert restore_backup(tmp_path / "other", tmp_path / "copy").replaced is None
    assert not (tmp_path / "other" / "backups").exists()
