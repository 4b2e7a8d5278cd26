"""A check that is interrupted goes on where it was, and reads again what changed since."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from store.catalog import pages
from store.disk.files import file_hash
from store.disk.layout import Layout
from store.maintenance import doctor
from store.maintenance.doctor import DoctorFinding
from store.progress import Progress
from store.reading.reader import Reader
from store.runtime import open_library
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed

COINS = 6
BATCH = 2

pytestmark = pytest.mark.usefixtures("without_chroma")


class Reads:
    """The files that a check reads; it can be stopped, or killed, before one of them."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.before: dict[Path, Callable[[], None]] = {}

    def hash(self, path: Path) -> str | None:
        self.before.pop(path, lambda: None)()
        self.paths.append(path)
        return file_hash(path)


@pytest.fixture
def root(quick_root: Path) -> Path:
    with open_library(quick_root, embedder=Hashed()) as library:
        library.add([coin(number) for number in range(COINS)])
    return quick_root


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    reads = Reads()
    monkeypatch.setattr(doctor, "file_hash", reads.hash)
    monkeypatch.setattr(doctor, "_BATCH", BATCH)
    return reads


def checked(root: Path, *, progress: Progress | None = None) -> list[DoctorFinding]:
    with Reader(root, embedder=Hashed()) as reader:
        return doctor.check(reader, progress=progress)


def picture(root: Path, number: int) -> Path:
    return Layout(root).image("pending", address(number))


def stopped(root: Path, reads: Reads, *, before: int) -> Progress:
    """A check that somebody stops while the pictures of this record's batch are read."""
    progress = Progress()
    reads.before[picture(root, before)] = progress.cancel
    found = checked(root, progress=progress)
    assert [one.what for one in found] == ["the check was stopped before its end"]
    assert found[0].is_fault, "nobody takes it for a sound library"
    reads.paths.clear()
    return progress


def test_a_check_stops_in_the_middle_of_the_catalog(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress()

    def endless(db: sqlite3.Connection, _: str) -> list[str]:
        progress.cancel()
        db.execute(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT max(x) FROM n"
        ).fetchall()
        return []

    with monkeypatch.context() as patch:
        patch.setattr(pages, "faults", endless)
        assert checked(root, progress=progress) == [doctor.STOPPED]
    assert checked(root) == []


def test_a_stopped_check_reads_only_the_rest(root: Path, reads: Reads) -> None:
    progress = stopped(root, reads, before=3)
    assert 0 < progress.done < progress.total
    assert checked(root) == []
    assert {path.stem for path in reads.paths} == {address(4), address(5)}, "the last of three batches"


def test_a_killed_check_reads_only_the_rest(root: Path, reads: Reads) -> None:
    def die() -> None:
        raise KeyboardInterrupt

    reads.before[picture(root, 2)] = die
    with pytest.raises(KeyboardInterrupt):
        checked(root)
    with Layout(root).unfinished_check.open("a") as file:
        file.write("half a li")  # as a power cut leaves it
    reads.paths.clear()
    assert checked(root) == []
    assert {path.stem for path in reads.paths} == {address(number) for number in range(2, 6)}


def test_what_changed_since_is_read_again(root: Path, reads: Reads) -> None:
    stopped(root, reads, before=3)
    path = picture(root, 1)
    stat, content = path.stat(), path.read_bytes()
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # looks untouched
    (found,) = checked(root)
    assert (found.address, found.what) == (address(1), "its picture in pending is not what was written")


def test_a_fault_is_found_again_by_the_next_check(root: Path, reads: Reads) -> None:
    path = picture(root, 0)
    stat, content = path.stat(), path.read_bytes()
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    progress = Progress()
    reads.before[picture(root, 3)] = progress.cancel
    assert [one.address for one in checked(root, progress=progress)] == [address(0), ""]
    assert [one.address for one in checked(root)] == [address(0)]


def test_a_change_of_the_catalog_is_not_taken_for_what_was_checked(root: Path, reads: Reads) -> None:
    stopped(root, reads, before=3)
    catalog = Layout(root).catalog
    content = catalog.read_bytes()
    assert b'"ticker": "C1"' in content
    catalog.write_bytes(content.replace(b'"ticker": "C1"', b'"ticker": "X1"'))
    assert any("the text of a sidecar" in found.what for found in checked(root))


def test_a_finished_check_leaves_nothing_and_the_next_one_reads_everything(root: Path, reads: Reads) -> None:
    progress = Progress()
    assert checked(root, progress=progress) == []
    assert progress.done == progress.total
    assert not Layout(root).unfinished_check.exists()
    reads.paths.clear()
    assert checked(root) == []
    assert len(reads.paths) == 2 * COINS


def test_after_a_day_a_check_begins_again(root: Path, reads: Reads) -> None:
    stopped(root, reads, before=3)
    os.utime(Layout(root).unfinished_check, (0, 0))
    assert checked(root) == []
    assert len(reads.paths) == 2 * COINS


def test_a_stopped_repair_goes_on_and_gives_back_what_is_lost(root: Path, reads: Reads) -> None:
    sidecar = Layout(root).sidecar("pending", address(5))
    expected = sidecar.read_bytes()
    sidecar.unlink()
    progress = Progress()
    reads.before[picture(root, 1)] = progress.cancel
    with open_library(root, embedder=Hashed()) as library:
        (found,) = doctor.repair(library, progress=progress)
        assert "stopped" in found.what
        assert not sidecar.exists()
        reads.paths.clear()
        assert doctor.repair(library) == []
    assert sidecar.read_bytes() == expected
    first = [path for path in reads.paths if path == picture(root, 0)]
    assert not first, "it was sound in the repair that was stopped"
