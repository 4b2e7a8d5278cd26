"""A Chroma process that hangs or dies is killed, reported and replaced."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.chroma import follower as chroma_follower
from store.chroma import process
from store.chroma.collections import FolderCollections, made_with
from store.chroma.process import ChromaEnded, ChromaFailed, ChromaProcess
from store.disk.lock import WriterLock
from store.errors import ChromaBehind
from store.jobs import background_worker
from store.jobs.background_worker import faults
from store.library import Library
from store.memory.memory import Memory
from store.runtime import open_library, open_reader
from tests.store.chroma.breakages import opened
from tests.store.conftest import approved_with_caption
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars
from tests.store.memory.bags import Bags

pytestmark = [pytest.mark.usefixtures("chroma_in_own_process"), pytest.mark.kills]


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[ChromaProcess]:
    chroma = ChromaProcess(FolderCollections, tmp_path / "chroma", {"entity": made_with("hashed")})
    assert chroma.ids("entity") == set()
    yield chroma
    chroma.kill()
    with pytest.raises(ChromaEnded):
        chroma.close()


def stop(chroma: ChromaProcess | None) -> int:
    assert chroma._process is not None
    os.kill(chroma._process.pid, signal.SIGSTOP)
    return chroma._process.pid


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_hanging_process_is_killed_and_the_next_request_starts_another(
    chroma: ChromaProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = stop(chroma)
    with monkeypatch.context() as patch:
        patch.setattr(process, "LIMIT", 0.5)
        with pytest.raises(ChromaEnded, match=r"did not answer within"):
            chroma.ids("entity")
    assert is_gone(pid)
    assert chroma.ids("entity") == set()


def test_a_process_that_does_not_close_in_time_is_killed_and_reported(
    chroma: ChromaProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = stop(chroma)
    monkeypatch.setattr(process, "_TIMEOUT", 0.5)
    with pytest.raises(ChromaEnded, match="did not end within"):
        chroma.close()
    assert is_gone(pid)
    assert chroma.ids("entity") == set()  # the fixture kills this process


def test_a_failure_includes_the_last_lines_of_the_process_output(
    chroma: ChromaProcess, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = ChromaProcess(exec, "import sys\nfor n in range(20_000): print('line', n, file=sys.stderr)\n1/0")
    with pytest.raises(ChromaEnded, match=r"ended with status 1.*ZeroDivisionError"):
        broken.ids("entity")
    assert "line 19999" in caplog.text
    assert "line 1000\n" not in caplog.text, "only the last lines are kept"
    with pytest.raises(ChromaFailed, match="KeyError: 'no such collection'"):
        chroma.ids("no such collection")


@pytest.fixture
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait long for the process to end or for the next attempt."""
    monkeypatch.setattr(chroma_follower, "TIMEOUT", 0.2)
    monkeypatch.setattr(chroma_follower, "PATIENCE", 0.2)
    monkeypatch.setattr(chroma_follower, "SERVER_TIMEOUT", 0.2)
    monkeypatch.setattr(process, "_TIMEOUT", 0.2)


def test_a_library_with_a_hanging_chroma_reports_its_state_and_closes(
    root: Path, short_timeouts: None
) -> None:
    library = open_library(root, embedder=Hashed())
    addresses = approved_with_caption(library, 1, 2)
    library.promote(addresses[:1])
    assert library.wait_for_chroma(60)
    pid = stop(library._follower._chroma)
    library.promote(addresses[1:])
    assert not library.wait_for_chroma(0)
    assert library.status().chroma_behind == 1
    assert library.status().chroma_fault == ""
    with pytest.warns(ChromaBehind, match="1 records behind; nothing is lost"):
        library.close()
    assert is_gone(pid)
    with open_reader(root, embedder=Hashed()) as reader:
        assert reader.status().chroma_behind == 1
    with open_library(root, embedder=Hashed()) as again:
        assert isinstance(again, Library)
        assert again.wait_for_chroma(60)
        assert again.status().chroma_behind == 0


def test_a_library_closes_although_its_follower_does_not_end(
    root: Path, short_timeouts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = open_library(root, embedder=Hashed())
    began, goes_on = threading.Event(), threading.Event()
    follower = library._follower

    def hang(_: ChromaProcess) -> None:
        follower._mark_dirty()
        began.set()
        goes_on.wait(60)

    monkeypatch.setattr(follower, "_drain", hang)
    library.promote(approved_with_caption(library, 1))
    assert began.wait(60)
    with pytest.warns(ChromaBehind):
        library.close()
    assert WriterLock(library.layout.lock).is_free()
    assert not follower.worker.close(timeout=0), "it is left"
    goes_on.set()
    assert follower.worker.close(timeout=60)
    with open_library(root, embedder=Hashed()) as again:
        assert isinstance(again, Library)
        assert again.catalog.meta("chroma_dirty"), "it is compared before it is used again"
        assert again.wait_for_chroma(60)
        assert again.check_chroma() == []


def test_a_library_closes_although_somebody_else_uses_chroma(root: Path, short_timeouts: None) -> None:
    library = open_library(root, embedder=Hashed())
    library.promote(approved_with_caption(library, 1))
    assert library.wait_for_chroma(60)
    with library._follower._using:
        closing = threading.Thread(target=library.close)
        closing.start()
        closing.join(60)
        assert not closing.is_alive()
    assert WriterLock(library.layout.lock).is_free()
    library._follower.close()


def test_a_library_reports_why_chroma_cannot_start_and_recovers_later(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 3600.0)
    with open_library(root, embedder=Hashed()) as library:
        assert isinstance(library, Library)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", "/bin/false")
            library.promote(approved_with_caption(library, 1))
            assert not library.wait_for_chroma(60)
            assert [one.worker for one in faults()] == ["updating the search index"]
            assert "ChromaEnded" in library.status().chroma_fault
        library.rebuild_chroma()
        assert library.wait_for_chroma(60)
        assert faults() == []


def test_deleting_a_session_does_not_wait_for_a_hanging_chroma(tmp_path: Path, short_timeouts: None) -> None:
    with Memory.open(tmp_path / "res", embedder=Bags(dimensions=16)) as memory:
        memory.lore.add_lore("peaks", "forge", "The dwarves forged the mountains.")
        assert memory.wait_for_chroma(60)
        assert memory._follower is not None
        pid = stop(memory._follower._chroma)
        memory.lore.add_lore("peaks", "well", "The well has no bottom.")
        assert not memory.wait_for_chroma(0)
        purged = threading.Thread(target=memory._follower.purge)
        purged.start()
        purged.join(60)
        assert not purged.is_alive()
        assert is_gone(pid)
        assert memory.wait_for_chroma(60)
        assert faults() == []


@pytest.mark.slow
@pytest.mark.usefixtures("eager_index", "comparison_in_own_process", "own_interpreter")
def test_a_dead_chroma_process_is_replaced_without_data_loss(
    root: Path, embedder: Hashed, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(root, embedder) as library:
        addresses = approved_with_caption(library, 1, 2, 3)
        library.promote(addresses[:1])
        assert library.wait_for_chroma(60)
        chroma = library._follower._chroma
        chroma._process.kill()
        chroma._process.wait(60)
        library.promote(addresses[1:])
        assert library.wait_for_chroma(60)
        assert "is rebuilt" not in caplog.text, "what it left was whole"
    chroma_agrees_with_the_sidecars(root, embedder)
