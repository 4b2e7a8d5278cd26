"""A backup is the library of one moment, whoever writes meanwhile; it comes back whole, or not at all."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.backup import backup, restore_backup
from store.catalog.filters import Filter
from store.chroma.follower import LibraryFollower
from store.disk.files import Disk
from store.disk.layout import Layout
from store.errors import BadBackup, LibraryInUse, MemedexError, NotWritten
from store.library import Library
from store.maintenance.doctor import check
from store.progress import Progress
from store.reading.reader import Reader
from store.runtime import open_library
from tests.store.conftest import address, approved_with_caption, coin, furnished
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_says_what_the_sidecars_say, contents, holds
from tests.store.world import Disaster, PowerCut, abandon

PROJECT = Path(__file__).parents[3]

# What another process does all the while: take in, approve, caption, promote, throw away; one line a round.
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


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records in every tier, with something undone and something being typed; made once."""
    root = furnished(tmp_path_factory.mktemp("backed up") / "res")
    with reopened(root) as library:
        addresses = approved_with_caption(library, *range(6))
        library.promote(addresses[:3])
        library.add(coin(number) for number in range(6, 10))
        library.reject([address(6)], reason="a copy")
        library.degrade(addresses[2:3])
        library.undo()
        library.drafts.save(address(4), {"visual": "still think"})
        assert library.wait_for_chroma()
    return root


@pytest.fixture
def filled(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """A copy of that library, for this test alone; its Chroma is looked at when something changes."""
    with monkeypatch.context() as opening:
        opening.setattr(LibraryFollower, "wake", lambda self: None)
        library = reopened(Path(shutil.copytree(made, tmp_path / "res")))
    yield library
    library.close()


def reopened(root: Path) -> Library:
    return open_library(root, embedder=Hashed())


def test_what_was_backed_up_comes_back_whole(filled: Library, tmp_path: Path) -> None:
    expected = contents(filled)
    outcome = backup(filled, tmp_path / "copy")
    assert sorted(outcome.done) == sorted(expected.records)
    assert outcome.refused == []
    assert restore_backup(tmp_path / "other", tmp_path / "copy").refused == []
    with reopened(tmp_path / "other") as restored:
        assert contents(restored).records == expected.records
        assert contents(restored).events == expected.events
        assert contents(restored).decisions == expected.decisions
        holds(restored)


def test_after_a_restore_chroma_is_made_anew_and_all_is_well(filled: Library, tmp_path: Path) -> None:
    backup(filled, tmp_path / "copy")
    restore_backup(tmp_path / "other", tmp_path / "copy")
    library = reopened(tmp_path / "other")
    assert library.wait_for_chroma()
    assert check(library) == []
    library.close()
    chroma_says_what_the_sidecars_say(tmp_path / "other", Hashed())


def test_a_chroma_that_is_still_to_be_rebuilt_has_not_caught_up(filled: Library, tmp_path: Path) -> None:
    backup(filled, tmp_path / "copy")
    restore_backup(tmp_path / "other", tmp_path / "copy")
    library = reopened(tmp_path / "other")
    while not library.wait_for_chroma(0.05):
        pass
    library.close()
    chroma_says_what_the_sidecars_say(tmp_path / "other", Hashed())


def test_what_was_decided_before_a_backup_can_be_undone_after_its_return(
    filled: Library, tmp_path: Path
) -> None:
    filled.approve([address(7)])
    backup(filled, tmp_path / "copy")
    restore_backup(tmp_path / "other", tmp_path / "copy")
    with reopened(tmp_path / "other") as restored:
        assert open_library(tmp_path / "other").undo().done == [address(7)]
        assert restored.get(address(7)).tier == "pending"


@pytest.mark.slow
def test_backups_made_while_another_process_writes_are_each_of_one_moment(root: Path, tmp_path: Path) -> None:
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
        with reopened(tmp_path / f"other {number}") as restored:
            holds(restored)
            assert restored.status().faults == ()
            last = {event.address: event for event in reversed(restored.history(limit=-1))}
            assert {key: event.after_tier for key, event in last.items()} == {
                record.address: record.tier for record in restored.find(Filter())
            }


@pytest.mark.slow
@pytest.mark.usefixtures("without_chroma")
@pytest.mark.usefixtures("without_chroma")
def test_a_backup_made_at_any_step_of_an_operation_returns_as_that_operation_will_end(
    quick_root: Path, tmp_path: Path
) -> None:
    at, struck = 0, True
    while struck:
        at += 1
        root, other = quick_root / f"{at}", quick_root / f"{at} other"
        disaster = Disaster()
        library = open_library(furnished(root), embedder=Hashed(), disk=Disk(before=disaster))
        prepared = approved_with_caption(library, 1)
        disaster.cut_power(at)
        try:
            library.promote(prepared)
            library.add([coin(2)])
            library.caption(prepared[0], caption={"emotions": "glad"})
        except PowerCut:
            pass
        struck = disaster.has_struck
        disaster.heal()
        abandon(library)
        with Reader(root) as reader:
            assert backup(reader, tmp_path / f"{at}").refused == []
        restore_backup(other, tmp_path / f"{at}")
        with reopened(root) as recovered, reopened(other) as restored:
            assert contents(restored).records == contents(recovered).records
            assert contents(restored).events == contents(recovered).events
            holds(reopened(other))
    assert at > 20


def test_pictures_take_no_room_twice_and_the_library_never_shares_files_with_a_backup_put_back(
    filled: Library, tmp_path: Path
) -> None:
    backup(filled, tmp_path / "copy")
    restore_backup(tmp_path / "other", tmp_path / "copy")
    own = filled.picture(address(0))
    kept = Layout(tmp_path / "copy").image("library", address(0))
    returned = Layout(tmp_path / "other").image("library", address(0))
    assert kept.samefile(own)
    assert not returned.samefile(kept)
    assert (
        not Layout(tmp_path / "copy")
        .sidecar("library", address(0))
        .samefile(filled.layout.sidecar("library", address(0)))
    )


def test_the_taxonomy_the_memory_and_what_was_set_aside_are_kept_too(filled: Library, tmp_path: Path) -> None:
    memory, aside = filled.layout.root / "memory", filled.layout.set_aside
    (memory / "papers").mkdir(parents=True)
    (memory / "papers" / "a:b.txt").write_text("lore")
    (memory / "chroma").mkdir()
    (memory / "chroma" / "data.bin").write_text("derived, and perhaps forgotten since")
    aside.mkdir()
    (aside / "1-x.json").write_text("{}")
    db = sqlite3.connect(memory / "memory.sqlite3", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE said (what)")
    db.execute("INSERT INTO said VALUES ('hello')")  # in the WAL alone
    backup(filled, tmp_path / "copy")
    db.close()
    restore_backup(tmp_path / "other", tmp_path / "copy")
    other = tmp_path / "other"
    assert (other / "taxonomy.json").read_bytes() == (filled.layout.root / "taxonomy.json").read_bytes()
    assert (other / "memory" / "papers" / "a:b.txt").read_text() == "lore"
    assert not (other / "memory" / "chroma").exists()
    assert (Layout(other).set_aside / "1-x.json").read_text() == "{}"
    restored = sqlite3.connect(other / "memory" / "memory.sqlite3")
    assert restored.execute("SELECT what FROM said").fetchall() == [("hello",)]
    restored.close()


def test_sidecars_that_could_not_be_taken_in_are_in_the_backup_all_the_same(
    filled: Library, tmp_path: Path
) -> None:
    layout = filled.layout
    strange = layout.sidecar("pending", "0xabc")
    strange.write_text('{"token_address": "0xabc", "token_name": "of long ago"}')
    strange.with_suffix(".jpg").write_bytes(layout.image("pending", address(7)).read_bytes())
    filled.apply_external_edits()
    assert not backup(filled, tmp_path / "copy").refused
    restore_backup(tmp_path / "back", tmp_path / "copy")
    back = Layout(tmp_path / "back").sidecar("pending", "0xabc")
    assert back.read_bytes() == strange.read_bytes()
    assert back.with_suffix(".jpg").read_bytes() == strange.with_suffix(".jpg").read_bytes()


def test_a_record_without_its_picture_is_named_and_the_others_are_kept(
    filled: Library, tmp_path: Path
) -> None:
    filled.picture(address(7)).unlink()
    outcome = backup(filled, tmp_path / "copy")
    assert [refusal.item for refusal in outcome.refused] == [address(7)]
    assert len(outcome.done) == 9
    assert Layout(tmp_path / "copy").sidecar("pending", address(7)).exists()


def test_a_picture_that_was_exchanged_from_outside_is_no_part_of_a_backup(
    filled: Library, tmp_path: Path
) -> None:
    filled.picture(address(7)).write_bytes(b"something else")
    assert [refusal.item for refusal in backup(filled, tmp_path / "copy").refused] == [address(7)]
    assert not Layout(tmp_path / "copy").image("pending", address(7)).exists()


@pytest.mark.parametrize("place", ["taken", "res/memecoins/mine", "res/memory"])
def test_a_backup_goes_to_a_new_place_outside_the_library(
    filled: Library, tmp_path: Path, place: str
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("dear")
    with pytest.raises(BadBackup):
        backup(filled, tmp_path / place)
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["letter.txt"]
    assert not list(tmp_path.rglob("*unfinished*"))


def test_a_cancelled_backup_leaves_nothing(filled: Library, tmp_path: Path) -> None:
    progress = Progress()
    progress.cancel()
    assert backup(filled, tmp_path / "copy", progress=progress).done == []
    assert [path.name for path in tmp_path.iterdir()] == ["res"]


def test_a_damaged_catalog_is_not_passed_on_as_a_backup(root: Path, tmp_path: Path) -> None:
    with reopened(root):
        pass
    content = bytearray((Layout(root).catalog).read_bytes())
    content[4096 * 3 : 4096 * 9] = b"\xff" * 4096 * 6
    Layout(root).catalog.write_bytes(content)
    with pytest.raises(MemedexError), Reader(root) as reader:
        backup(reader, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_every_damaged_file_is_named_and_nothing_is_restored(filled: Library, tmp_path: Path) -> None:
    backup(filled, tmp_path / "copy")
    copy = Layout(tmp_path / "copy")
    picture = copy.image("pending", address(7))
    picture.unlink()  # its own name only: the library has the same file
    picture.write_bytes(filled.picture(address(8)).read_bytes())
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
def test_a_manifest_that_leads_elsewhere_is_refused(filled: Library, tmp_path: Path, name: str) -> None:
    backup(filled, tmp_path / "copy")
    manifest = json.loads((tmp_path / "copy" / "manifest.json").read_bytes())
    manifest["files"][name] = "0" * 64
    (tmp_path / "copy" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BadBackup):
        restore_backup(tmp_path / "other", tmp_path / "copy")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "memedex backup", "version": 99}', "[" * 100_000])
def test_what_is_no_backup_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "manifest.json").write_text(text)
    with pytest.raises(BadBackup):
        restore_backup(tmp_path / "other", tmp_path / "copy")


def test_a_link_in_a_backup_is_not_followed(filled: Library, tmp_path: Path) -> None:
    backup(filled, tmp_path / "copy")
    sidecar = Layout(tmp_path / "copy").sidecar("library", address(0))
    shutil.copyfile(sidecar, tmp_path / "same.json")
    sidecar.unlink()
    sidecar.symlink_to(tmp_path / "same.json")
    assert len(restore_backup(tmp_path / "other", tmp_path / "copy").refused) == 1


def test_restoring_over_a_library_keeps_it_as_a_backup_of_its_own(filled: Library, tmp_path: Path) -> None:
    root = filled.layout.root
    backup(filled, tmp_path / "copy")
    early = contents(filled)
    filled.delete([address(0)])
    filled.add([coin(20)])
    assert filled.wait_for_chroma()
    late = contents(filled)
    filled.close()

    first = restore_backup(root, tmp_path / "copy")
    assert first.replaced is not None
    with reopened(root) as restored:
        assert contents(restored).records == early.records

    second = restore_backup(root, first.replaced)
    assert second.refused == []
    library = reopened(root)
    assert contents(library).records == late.records
    assert contents(library).events == late.events
    assert library.wait_for_chroma()
    assert check(library) == []
    library.close()
    chroma_says_what_the_sidecars_say(root, Hashed())


def test_a_library_that_cannot_be_opened_any_more_is_replaced_and_kept(
    filled: Library, tmp_path: Path
) -> None:
    root, expected = filled.layout.root, contents(filled)
    backup(filled, tmp_path / "copy")
    filled.close()
    Layout(root).catalog.write_bytes(b"no database at all")
    restored = restore_backup(root, tmp_path / "copy")
    assert restored.replaced is not None
    assert Layout(restored.replaced).catalog.read_bytes() == b"no database at all"
    with reopened(root) as library:
        assert contents(library).records == expected.records


def test_nothing_is_restored_while_somebody_writes(filled: Library, tmp_path: Path) -> None:
    backup(filled, tmp_path / "copy")
    expected = contents(filled)
    with pytest.raises(LibraryInUse):
        restore_backup(filled.layout.root, tmp_path / "copy")
    assert contents(filled) == expected
    holds(filled)


@pytest.mark.parametrize("at", range(1, 4))
def test_a_disk_that_refuses_a_rename_leaves_everything_as_it_was(
    filled: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    root = filled.layout.root
    backup(filled, tmp_path / "copy")
    (tmp_path / "copy" / "taxonomy.json").write_text("{}")
    manifest = json.loads((tmp_path / "copy" / "manifest.json").read_bytes())
    manifest["files"].pop("taxonomy.json")
    (tmp_path / "copy" / "manifest.json").write_text(json.dumps(manifest))
    filled.add([coin(20)])
    expected = contents(filled)
    filled.close()
    renamed = 0
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        nonlocal renamed
        renamed += 1
        if renamed == at:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    if at < 3:
        with pytest.raises(NotWritten):
            restore_backup(root, tmp_path / "copy")
        assert not list((root / "backups").iterdir())
    else:  # there are two
        assert restore_backup(root, tmp_path / "copy").replaced
    monkeypatch.undo()
    assert not list(root.glob(".restoring-*"))
    with reopened(root) as library:
        assert (contents(library).records == expected.records) == (at < 3)
        holds(reopened(root))


def test_a_restore_into_an_empty_library_keeps_nothing_aside(filled: Library, tmp_path: Path) -> None:
    backup(filled, tmp_path / "copy")
    Layout(tmp_path / "other").memecoins.mkdir(parents=True)
    assert restore_backup(tmp_path / "other", tmp_path / "copy").replaced is None
    assert not (tmp_path / "other" / "backups").exists()


def test_a_backup_survives_what_happens_to_the_library_later(filled: Library, tmp_path: Path) -> None:
    backup(filled, tmp_path / "copy")
    expected = contents(filled)
    root = filled.layout.root
    filled.delete([record.address for record in filled.find(Filter()) if record.tier != "trash"])
    filled.close()
    shutil.rmtree(root)
    restore_backup(root, tmp_path / "copy")
    with reopened(root) as library:
        assert contents(library).records == expected.records
    assert os.listdir(tmp_path / "copy")  # noqa: PTH208
