"""Errors outside a command are one sentence on the command line, never a traceback."""

import errno
import logging
import os
import threading

import pytest

from store.chroma.process import ChildProcess, ChromaEnded
from store.cli import main
from store.cli.plain_errors import print_plainly
from store.cli.terminal import Terminal


def test_warnings_and_thread_failures_are_printed_as_one_sentence_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> None:
        raise MemoryError

    def refuse() -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with print_plainly(Terminal()):
        try:
            refuse()
        except OSError:
            logging.getLogger("store.chroma.base_follower").warning("Chroma is behind", exc_info=True)
            logging.getLogger("store.jobs").warning(
                "it failed: [Errno 24] Too many open files", exc_info=True
            )
        thread = threading.Thread(target=fail, name="memedex-looks")
        thread.start()
        thread.join()

    printed = capsys.readouterr().err
    assert printed.splitlines() == [
        "Chroma is behind: [Errno 24] Too many open files",
        "it failed: [Errno 24] Too many open files",
        "memedex-looks stopped: there was not enough memory; what is done is kept",
    ]


def test_the_traceback_of_chromas_process_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with print_plainly(Terminal()):
        process = ChildProcess(_without_memory)
        with pytest.raises(ChromaEnded, match=r"it said: .*MemoryError"):
            process._call(NoCollections.close)
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence == "Chroma's process ended with status 1"


class NoCollections:
    def close(self) -> None: ...


def _without_memory() -> NoCollections:
    raise MemoryError


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("can't start new thread"), RuntimeError("Failed to allocate memory")],
)
def test_running_out_of_memory_is_printed_as_one_sentence(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("store.cli.maintenance.has_library", fail)
    assert main(["doctor"]) == 1
    assert capsys.readouterr().err == "doctor: there was not enough memory; what is done is kept\n"
