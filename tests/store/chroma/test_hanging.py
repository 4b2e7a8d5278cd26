"""A Chroma that hangs or dies keeps nobody waiting for ever: it is ended, says why, and is replaced."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.chroma import base_follower, process
from store.chroma.collections import Collections, made_with
from store.chroma.process import ChromaEnded, ChromaFailed, ChromaProcess
from store.jobs import background_worker
from store.jobs.background_worker import faults
from store.library import Library
from store.memory.memory import Memory
from store.runtime import open_library, open_reader
from tests.store.conftest import approved_with_caption
from tests.store.hashed import Hashed
from tests.store.memory.bags import Bags

pytestmark = [pytest.mark.usefixtures("chroma_apart"), pytest.mark.kills]


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[ChromaProcess]:
    chroma = ChromaProcess(Collections, tmp_path / "chroma", {"entity": made_with("hashed")})
    assert chroma.ids("entity") == set()
    yield chroma
    chroma.kill()
    with pytest.raises(ChromaEnded):
        chroma.close()


def stop(chroma: ChromaProcess | None) -> int:
    assert chroma is not None
    assert chroma._process is not None
    os.kill(chroma._process.pid, signal.SIGSTOP)
    return chroma._process.pid


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_stopped_process_is_ended_and_the_next_question_has_another(
    chroma: ChromaProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = stop(chroma)
    with monkeypatch.context() as patch:
        patch.setattr(process, "LIMIT", 0.5)
        with pytest.raises(ChromaEnded, match=r"did not answer within"):
            chroma.ids("entity")
    assert is_gone(pid)
    assert chroma.ids("entity") == set()


def test_one_that_does_not_end_when_asked_to_is_ended_and_that_is_said(
    chroma: ChromaProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = stop(chroma)
    monkeypatch.setattr(process, "_PATIENCE", 0.5)
    with pytest.raises(ChromaEnded, match="did not end within"):
        chroma.close()
    assert is_gone(pid)
    assert chroma.ids("entity") == set()  # the fixture ends this one


def test_what_it_said_last_goes_with_the_failure_however_much_it_said(
    chroma: ChromaProcess, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = ChromaProcess(exec, "import sys\nfor n in range(20_000): print('line', n, file=sys.stderr)\n1/0")
    with pytest.raises(ChromaEnded, match=r"ended with status 1.*ZeroDivisionError"):
        broken.anything()
    assert "line 19999" in caplog.text
    assert "line 1000\n" not in caplog.text, "only the last lines are kept"
    with pytest.raises(ChromaFailed, match="no_such_verb"):
        chroma.no_such_verb()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an end nor the next try is waited for."""
    monkeypatch.setattr(base_follower, "PATIENCE", 0.2)
    monkeypatch.setattr(process, "_PATIENCE", 0.2)


def test_a_library_whose_chroma_hangs_shows_its_state_at_once_and_closes(root: Path, impatient: None) -> None:
    library = open_library(root, embedder=Hashed())
    addresses = approved_with_caption(library, 1, 2)
    library.promote(addresses[:1])
    assert library.wait_for_chroma(60)
    pid = stop(library._follower._chroma)
    library.promote(addresses[1:])
    assert not library.wait_for_chroma(0)
    assert library.status().chroma_behind == 1
    assert library.status().chroma_fault == ""
    library.close()
    assert is_gone(pid)
    with open_reader(root, embedder=Hashed()) as reader:
        assert reader.status().chroma_behind == 1
    with open_library(root, embedder=Hashed()) as again:
        assert isinstance(again, Library)
        assert again.wait_for_chroma(60)
        assert again.status().chroma_behind == 0


def test_a_library_whose_chroma_cannot_start_says_why_and_goes_on_when_it_can(
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


def test_forgetting_a_session_does_not_wait_for_a_chroma_that_hangs(tmp_path: Path, impatient: None) -> None:
    with Memory.open(tmp_path / "res", embedder=Bags(dimensions=16)) as memory:
        memory.lore.add_lore("peaks", "forge", "The dwarves forged the mountains.")
        assert memory.wait_for_chroma(60)
        assert memory._follower is not None
        pid = stop(memory._follower._chroma)
        memory.lore.add_lore("peaks", "well", "The well has no bottom.")
        assert not memory.wait_for_chroma(0)
        purged = threading.Thread(target=memory._purge_sessions)
        purged.start()
        purged.join(60)
        assert not purged.is_alive()
        assert is_gone(pid)
        assert memory.wait_for_chroma(60)
        assert faults() == []
