"""The watched folder: what is imported from it, when, and where the disk refuses or a look does not end."""

import json
import os
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store.catalog.filters import Filter
from store.disk.files import Disk
from store.disk.lock import WriterLock
from store.errors import ReadOnly
from store.jobs import background_worker
from store.jobs.background_worker import faults
from store.library import Library
from store.outcome import ImportReport
from store.progress import Progress
from store.runtime import open_library
from store.tasks import inbox as inboxes
from store.tasks.inbox import LOG, Inbox, Watcher, is_remote
from tests.store.conftest import address, coin, picture
from tests.store.hashed import Hashed
from tests.store.world import FullDisk
from tests.waiting import eventually

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


@pytest.fixture
def inbox(library: Library, folder: Path) -> Inbox:
    return Inbox(library, folder)


def scan_twice(inbox: Inbox) -> list[str]:
    """Scan twice: files are imported once they did not change between two scans."""
    inbox.scan()
    return inbox.scan().done


def put_pair(folder: Path, number: int) -> None:
    (folder / f"coin{number}.json").write_text(json.dumps(coin(number).sidecar))
    (folder / f"coin{number}.png").write_bytes(picture(number))


def put_list(folder: Path, *numbers: int) -> None:
    folder.mkdir(exist_ok=True)
    tokens = [
        {"chainId": 1, "address": address(n), "symbol": f"C{n}", "name": f"Coin {n}", "logoURI": f"{n}.png"}
        for n in numbers
    ]
    (folder / "tokenlist.json").write_text(json.dumps({"name": "A list", "tokens": tokens}))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != LOG}


def test_files_in_the_inbox_are_imported_and_stay_in_place(
    inbox: Inbox, library: Library, folder: Path
) -> None:
    put_pair(folder, 1)
    (folder / "doge.png").write_bytes(picture(2))
    before = contents(folder)
    assert len(scan_twice(inbox)) == 2
    assert library.get(address(1)).name == "Coin 1"
    assert {library.get(one).name for one in library.addresses(Filter(tier="pending"))} == {"Coin 1", "doge"}
    assert contents(folder) == before
    assert {decision.actor for decision in library.decisions()} == {"inbox"}


def test_a_growing_file_is_imported_once_it_is_complete(inbox: Inbox, folder: Path) -> None:
    path = folder / "doge.png"
    whole = picture(1)
    path.write_bytes(whole[:10])
    inbox.scan()
    path.write_bytes(whole[:-20])
    assert not inbox.scan().refused
    path.write_bytes(whole)
    assert inbox.scan().done == []
    assert len(inbox.scan().done) == 1


def test_unfinished_downloads_are_ignored(inbox: Inbox, folder: Path) -> None:
    for name in ("doge.png.part", "doge.crdownload", ".hidden.png"):
        (folder / name).write_bytes(picture(1))
    assert scan_twice(inbox) == []
    assert inbox.scan().refused == []


def test_a_file_is_imported_only_once_even_if_its_coin_was_rejected(
    inbox: Inbox, library: Library, folder: Path, root: Path
) -> None:
    put_pair(folder, 1)
    scan_twice(inbox)
    library.reject([address(1)])
    decisions = len(library.decisions())
    assert scan_twice(Inbox(library, folder)) == []  # also after a restart of the program
    put_pair(folder, 2)
    assert scan_twice(inbox) == [address(2)]
    assert library.get(address(1)).tier == "trash"
    assert len(library.decisions()) == decisions + 1


def test_a_refused_file_is_reported_once_with_the_reason(
    inbox: Inbox, library: Library, folder: Path
) -> None:
    (folder / "notes.docx").write_bytes(b"words")
    (folder / "broken.png").write_bytes(b"no picture")
    scan_twice(inbox)
    scan_twice(inbox)
    reasons = {one.path: one.reason for one in inboxes.refused(library)}
    assert reasons.keys() == {"notes.docx", "broken.png"}
    assert "a document" in reasons["notes.docx"]
    lines = (folder / LOG).read_text().splitlines()
    assert len(lines) == 2
    assert any("broken.png: " in line for line in lines)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are Unicode")
def test_a_file_whose_name_is_no_unicode_is_imported_once_or_reported_as_others_are(
    inbox: Inbox, library: Library, folder: Path
) -> None:
    (folder / "good.png").write_bytes(picture(1))
    (folder / os.fsdecode(b"bad\xff.png")).write_bytes(picture(2))
    (folder / os.fsdecode(b"broken\xff.png")).write_bytes(b"no picture")
    assert len(scan_twice(inbox)) == 2
    assert [one.path for one in inboxes.refused(library)] == [r"broken\udcff.png"]
    assert inboxes.taken_files(library) == 2
    again = scan_twice(Inbox(library, folder))
    assert again == []
    assert len((folder / LOG).read_text().splitlines()) == 1


def test_a_sidecar_that_arrives_before_its_picture_is_imported_with_it(
    inbox: Inbox, library: Library, folder: Path
) -> None:
    (folder / "coin1.json").write_text(json.dumps(coin(1).sidecar))
    scan_twice(inbox)
    assert "no picture" in inboxes.refused(library)[0].reason
    (folder / "coin1.png").write_bytes(picture(1))
    assert scan_twice(inbox) == [address(1)]
    assert inboxes.refused(library) == []
    assert library.counts()["pending"] == 1


@pytest.mark.parametrize("where", ["", "list of today"])
def test_a_token_list_and_its_pictures_may_arrive_in_any_order(
    inbox: Inbox, library: Library, folder: Path, where: str
) -> None:
    put_list(folder / where, 1, 2)
    (folder / where / "1.png").write_bytes(picture(1))
    assert scan_twice(inbox) == [address(1)]
    assert "“2.png” is not in the import" in inboxes.refused(library)[0].reason
    (folder / where / "2.png").write_bytes(picture(2))
    assert scan_twice(inbox) == [address(2)]
    assert inboxes.refused(library) == []
    assert library.counts()["pending"] == 2, "no picture arrived a second time as a coin of its own"


def test_a_folder_is_imported_once_all_its_files_are_stable(inbox: Inbox, folder: Path) -> None:
    put_list(folder / "list", 1, 2)
    (folder / "list" / "1.png").write_bytes(picture(1))
    inbox.scan()
    (folder / "list" / "2.png").write_bytes(picture(2))
    assert inbox.scan().done == []
    assert sorted(inbox.scan().done) == sorted([address(1), address(2)])


def test_a_link_out_of_the_folder_is_not_followed(inbox: Inbox, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(picture(1))
    (folder / "a.png").symlink_to(tmp_path / "secret.png")
    assert scan_twice(inbox) == []


@pytest.fixture
def frequent_scans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inboxes.WatchedFolder, "every", 0.02)


@pytest.mark.usefixtures("frequent_scans")
def test_a_watching_library_imports_automatically_until_it_is_closed(library: Library, folder: Path) -> None:
    library.watch_inbox(folder)
    put_pair(folder, 1)
    (watcher,) = library._watched.values()
    while not library.counts()["pending"]:
        assert not faults()
    library.close()
    assert all(worker.close(timeout=0) for worker in watcher.workers)


def is_notified(watcher: Watcher) -> bool:
    return eventually(lambda: watcher._is_told, every=0.01)


@pytest.fixture
def without_notifications(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off system notifications, as on a network drive."""
    monkeypatch.setattr(inboxes, "is_remote", lambda folder: True)


@pytest.fixture
def scan_calls(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that grows with every full scan."""
    looks: list[str] = []
    look = inbox.scan
    monkeypatch.setattr(inbox, "scan", lambda **given: (looks.append("looked"), look(**given))[1])
    return looks


@pytest.mark.usefixtures("frequent_scans")
def test_system_notifications_alone_trigger_an_import(
    inbox: Inbox, library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inboxes, "_CALM", 50)
    monkeypatch.setattr(inboxes, "_STEP", 20)
    monkeypatch.setattr(inbox, "has_changed", lambda: False)
    with closing(Watcher(inbox)) as watcher:
        assert is_notified(watcher)
        put_pair(folder, 1)
        (folder / "list").mkdir()
        put_pair(folder / "list", 2)
        assert eventually(lambda: library.counts()["pending"] == 2)


@pytest.mark.usefixtures("frequent_scans", "without_notifications")
def test_without_notifications_folder_times_reveal_new_files(
    inbox: Inbox, library: Library, folder: Path
) -> None:
    with closing(Watcher(inbox)) as watcher:
        put_pair(folder, 1)
        (folder / "list").mkdir()
        put_pair(folder / "list", 2)
        assert eventually(lambda: library.counts()["pending"] == 2)
        assert not watcher._is_told


@pytest.mark.usefixtures("without_notifications")
def test_an_unchanged_inbox_is_not_scanned(inbox: Inbox, folder: Path, scan_calls: list[str]) -> None:
    put_pair(folder, 1)
    os.utime(folder, (0, 0))
    scan_twice(inbox)
    watcher = Watcher(inbox)
    watcher.close()
    scan_calls.clear()
    watcher._is_due, watcher._earliest, watcher._all_at = False, 0.0, float("inf")
    for _ in range(5):
        watcher._look(Progress())
    assert scan_calls == []
    put_pair(folder, 2)
    watcher._look(Progress())
    assert scan_calls == ["looked"]


@pytest.mark.usefixtures("frequent_scans", "without_notifications")
def test_a_missing_inbox_is_watched_again_when_it_returns(
    inbox: Inbox, library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 0.0)
    away = folder.rename(folder.with_name("away"))
    with closing(Watcher(inbox)):
        assert eventually(lambda: [one.worker for one in faults()] == ["watching the inbox"])
        away.rename(folder)
        put_pair(folder, 1)
        assert eventually(lambda: library.counts()["pending"] == 1)
        assert eventually(lambda: faults() == [])


@pytest.mark.usefixtures("frequent_scans")
def test_an_unexpected_error_does_not_stop_the_watcher(
    inbox: Inbox, library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 0.0)
    broken, add = [ZeroDivisionError("odd"), UnicodeError("odd")], library.add

    def breaking(*given: Any, **named: Any) -> Any:
        if broken:
            raise broken.pop()
        return add(*given, **named)

    monkeypatch.setattr(library, "add", breaking)
    put_pair(folder, 1)
    with closing(Watcher(inbox)):
        assert eventually(lambda: library.counts()["pending"] == 1)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("ext4", False), ("overlay", False), ("nfs4", True), ("cifs", True), ("fuse.sshfs", True), ("9p", True)],
)
def test_a_network_folder_is_recognised_by_its_mount_type(kind: str, expected: bool, tmp_path: Path) -> None:
    shared = tmp_path / "shared disk"
    (shared / "inbox").mkdir(parents=True)
    mounts = tmp_path / "mounts"
    place = str(shared).replace(" ", "\\040")
    mounts.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / {place} rw - {kind} somewhere rw\n")
    assert is_remote(shared / "inbox", mounts=mounts) is expected
    assert not is_remote(tmp_path, mounts=mounts)


@pytest.mark.usefixtures("without_chroma")
@pytest.mark.parametrize("step", ["write", "rename"], ids=["before it is decided", "once it is decided"])
def test_a_file_that_met_a_full_disk_is_not_noted_and_tried_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(inboxes.WatchedFolder, "every", 0.02)
    monkeypatch.setattr(background_worker, "FIRST", 0.0)
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "first coin.png").write_bytes(picture(1))
    disk = FullDisk(step)
    with open_library(root, embedder=Hashed(), disk=Disk(before=disk)) as library:
        with closing(Watcher(Inbox(library, folder))):
            assert eventually(lambda: any("No space left" in fault.reason for fault in faults()))
            assert (inboxes.taken_files(library), inboxes.refused(library)) == (0, [])
            disk.is_full = False
            assert eventually(lambda: inboxes.taken_files(library) == 1)
        assert library.counts()["pending"] == 1
        assert faults() == []


@pytest.mark.usefixtures("without_chroma")
def test_a_library_closes_although_a_look_does_not_end_which_then_imports_nothing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, goes_on, refusals = threading.Event(), threading.Event(), list[str]()
    add = Library.add

    def wait_and_add(library: Library, coins: Any, **given: Any) -> ImportReport:
        began.set()
        goes_on.wait(60)
        try:
            return add(library, coins, source=given["source"], actor=given["actor"])
        except ReadOnly as error:
            refusals.append(str(error))
            raise

    monkeypatch.setattr(inboxes.WatchedFolder, "every", 0.02)
    monkeypatch.setattr("store.tasks.inbox._TIMEOUT", 0.1)
    monkeypatch.setattr(Library, "add", wait_and_add)
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "first coin.png").write_bytes(picture(1))
    library = open_library(root, embedder=Hashed())
    library.watch_inbox(folder)
    (watcher,) = library._watched.values()
    assert began.wait(60)
    library.close()
    assert WriterLock(library.layout.lock).is_free()
    goes_on.set()
    assert watcher.looking.close(timeout=60)
    assert len(refusals) == 1
    with open_library(root, embedder=Hashed()) as again:
        assert (inboxes.taken_files(again), again.counts()["pending"]) == (0, 0)
