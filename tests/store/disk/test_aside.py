"""Files are moved aside once, even after a crash, and new files in their place stay there."""

from pathlib import Path

import pytest

from store.disk.aside import Aside, carry_out_moves, finish_moves, move_aside, moved_aside
from store.disk.files import Disk

NAMES = ["catalog.sqlite3", "catalog.sqlite3-wal"]


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    path = tmp_path / NAMES[0]
    path.write_bytes(b"theirs")
    return path


def move(folder: Path) -> Path:
    return move_aside(NAMES, source=folder, into=folder, what="theirs", disk=Disk())


def finish(folder: Path) -> list[Aside]:
    notes: list[Aside] = []
    finish_moves(folder, note=notes.append, disk=Disk())
    return notes


def test_files_created_before_the_move_is_recorded_stay_in_place(foreign: Path) -> None:
    place = move(foreign.parent)
    carry_out_moves(foreign.parent, disk=Disk())
    for name in NAMES:
        (foreign.parent / name).write_bytes(b"ours")
    assert [aside.place for aside in finish(foreign.parent)] == [place]
    assert [(foreign.parent / name).read_bytes() for name in NAMES] == [b"ours", b"ours"]
    assert (place / NAMES[0]).read_bytes() == b"theirs"
    assert not (place / NAMES[1]).exists()


def test_an_interrupted_move_does_not_move_later_files(foreign: Path) -> None:
    first = move(foreign.parent)  # then the power fails
    move(foreign.parent)
    carry_out_moves(foreign.parent, disk=Disk())
    foreign.write_bytes(b"ours")
    finish(foreign.parent)
    assert foreign.read_bytes() == b"ours"
    assert (first / NAMES[0]).read_bytes() == b"theirs"


def test_a_file_removed_meanwhile_does_not_block_the_move(foreign: Path) -> None:
    move(foreign.parent)
    foreign.unlink()
    carry_out_moves(foreign.parent, disk=Disk())
    foreign.write_bytes(b"ours")
    finish(foreign.parent)
    assert foreign.read_bytes() == b"ours"
    assert len(moved_aside(foreign.parent)) == 1
