"""The watched folder where the disk refuses, or a look does not end; other tests are in `test_inbox.py`."""

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store.disk.files import Disk
from store.disk.lock import WriterLock
from store.errors import ReadOnly
from store.jobs import background_worker
from store.jobs.background_worker import faults
from store.library import Library
from store.outcome import ImportReport
from store.runtime import open_library
from store.tasks import inbox as inboxes
from store.tasks.inbox import Inbox
from store.tasks.inbox_watcher import Watcher
from tests.store.conftest import picture
from tests.store.hashed import Hashed
from tests.store.world import FullDisk
from tests.waiting import eventually


@pytest.mark.usefixtures("without_chroma")
@pytest.mark.parametrize("step", ["write", "rename"], ids=["before it is decided", "once it is decided"])
def test_a_file_that_met_a_full_disk_is_not_noted_and_tried_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(inboxes, "EVERY", 0.02)
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

    monkeypatch.setattr(inboxes, "EVERY", 0.02)
    monkeypatch.setattr("store.tasks.inbox_watcher._TIMEOUT", 0.1)
    monkeypatch.setattr(Library, "add", wait_and_add)
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "first coin.png").write_bytes(picture(1))
    library = open_library(root, embedder=Hashed())
    library.watch_inbox(folder)
    (watcher,) = library._inbox
    assert began.wait(60)
    library.close()
    assert WriterLock(library.layout.lock).is_free()
    goes_on.set()
    assert watcher.looking.close(timeout=60)
    assert len(refusals) == 1
    with open_library(root, embedder=Hashed()) as again:
        assert (inboxes.taken_files(again), again.counts()["pending"]) == (0, 0)
