"""A restore brings everything back, refuses what is damaged, and keeps what stood there before."""

import json
import shutil
from pathlib import Path

import pytest

from store.backup import backup, restore_backup
from store.disk.layout import Layout
from store.errors import BadBackup, LibraryInUse, NotWritten
from store.library import Library
from store.maintenance.doctor import check
from tests.store.backup.conftest import reopen
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars, contents, holds


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


@pytest.mark.parametrize("at", range(1, 4))
def test_a_failed_rename_during_a_restore_leaves_the_library_unchanged(
    source: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    root = source.layout.root
    backup(source, tmp_path / "copy")
    (tmp_path / "copy" / "taxonomy.json").write_text("{}")
    manifest = json.loads((tmp_path / "copy" / "manifest.json").read_bytes())
    manifest["files"].pop("taxonomy.json")
    (tmp_path / "copy" / "manifest.json").write_text(json.dumps(manifest))
    source.add([coin(20)])
    expected = contents(source)
    source.close()
    renamed = 0
    rename = Path.rename

    def failing_rename(self: Path, target: Path) -> Path:
        nonlocal renamed
        renamed += 1
        if renamed == at:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing_rename)
    if at < 3:
        with pytest.raises(NotWritten):
            restore_backup(root, tmp_path / "copy")
        assert not list((root / "backups").iterdir())
    else:  # a restore makes only two renames
        assert restore_backup(root, tmp_path / "copy").replaced
    monkeypatch.undo()
    assert not list(root.glob(".restoring-*"))
    with reopen(root) as library:
        assert (contents(library).records == expected.records) == (at < 3)
        holds(reopen(root))


def test_a_restore_into_an_empty_library_keeps_no_old_copy(source: Library, tmp_path: Path) -> None:
    backup(source, tmp_path / "copy")
    Layout(tmp_path / "other").memecoins.mkdir(parents=True)
    assert restore_backup(tmp_path / "other", tmp_path / "copy").replaced is None
    assert not (tmp_path / "other" / "backups").exists()
