"""A command that opens a library, is interrupted, or fails: its folder, its progress, its errors."""

import errno
import json
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.chroma.process import ChildProcess, ChromaEnded
from store.cli import main
from store.cli.call import print_plainly
from store.cli.terminal import Terminal
from store.progress import Progress
from tests.store.cli.program import APPROVED, KEPT, PENDING, Run
from tests.store.conftest import address, coin, picture


def test_a_mistyped_root_creates_no_library(run: Run, tmp_path: Path) -> None:
    done = run("--root", tmp_path / "rse", "approve", PENDING)
    assert done.returncode == 1
    assert "there is no library in" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_reading_says_that_there_is_no_library(run: Run, tmp_path: Path) -> None:
    done = run("list", "--root", tmp_path / "rse")
    assert f"there is no library in {tmp_path / 'rse'}" in done.stderr


@pytest.mark.parametrize("verb", [["list"], ["history"], ["search", "dog"]])
def test_reading_without_a_library_returns_and_creates_nothing(
    run: Run, tmp_path: Path, verb: list[str]
) -> None:
    done = run(*verb, "--json")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert (answer["hits"] if isinstance(answer, dict) else answer) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["list", "demo", "index", "run"])
def test_a_root_that_is_a_file_is_refused(run: Run, tmp_path: Path, verb: str) -> None:
    file = tmp_path / "coins.zip"
    file.touch()
    done = run("--root", file, verb)
    message = f"{verb}: {file} is a file; --root names the folder of a library\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)


def test_a_root_of_links_in_a_circle_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    done = run("--root", tmp_path / "a", "index")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"index: Too many levels of symbolic links: {tmp_path / 'a'}\n"


@pytest.mark.parametrize("verb", ["list", "doctor", "index", "run"])
def test_a_root_that_cannot_be_looked_at_is_named(run: Run, tmp_path: Path, verb: str) -> None:
    root = tmp_path / ("x" * 300)
    done = run("--root", root, verb)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{verb}: File name too long: {root}\n"


@pytest.mark.parametrize("verb", ["list", "undo"])
def test_progress_is_shown_while_manually_added_files_are_read(
    verb: str, run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "memecoins" / "pending" / f"{address(7)}.json").write_text(json.dumps(coin(7).sidecar))
    (root / "memecoins" / "pending" / f"{address(7)}.jpg").write_bytes(picture(7))
    seen: list[tuple[str, int, int]] = []

    def watched(self: Terminal, work: Callable[[Progress], Any]) -> Any:
        progress = Progress()
        result = work(progress)
        seen.append((progress.what, progress.done, progress.total))
        return result

    monkeypatch.setattr(Terminal, "watch", watched)
    run(verb)
    assert ("looking at the files", 1, 1) in seen


def test_ctrl_c_while_opening_a_library_cancels_the_command(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Terminal, work: Callable[[Progress], Any]) -> Any:
        self.was_interrupted = True
        return work(Progress())

    with monkeypatch.context() as patch:
        patch.setattr(Terminal, "watch", interrupted)
        assert run("delete", KEPT).returncode == 130
    assert json.loads(run("show", KEPT, "--json").stdout)["tier"] == "library"


def test_root_is_accepted_before_and_after_the_command(run: Run, root: Path, tmp_path: Path) -> None:
    elsewhere = {"MEMEDEX_ROOT": str(tmp_path / "empty")}
    assert len(json.loads(run("--root", root, "list", "--json", **elsewhere).stdout)) == 5
    assert len(json.loads(run("list", "--root", root, "--json", **elsewhere).stdout)) == 5
    assert json.loads(run("list", "--json", **elsewhere).stdout) == []


def test_a_random_sample_is_listed(run: Run, root: Path) -> None:
    def listed(*options: str) -> list[str]:
        found = json.loads(run("--root", root, "list", "--json", *options).stdout)
        return [one["token_address"] for one in found]

    every, three = listed(), listed("--sample", "3")
    assert len({*three}) == 3
    assert {*three} < {*every}
    assert listed("--sample", "3") == three
    assert {*listed("--sample", "99")} == {*every}


def test_an_evm_address_may_be_written_in_capitals(run: Run, root: Path) -> None:
    assert APPROVED.startswith("0x")
    shown = run("show", f"0x{APPROVED[2:].upper()}", "--json")
    assert json.loads(shown.stdout)["token_address"] == APPROVED


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
            logging.getLogger("store.chroma.follower").warning("Chroma is behind", exc_info=True)
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
            process.call(NoCollections.close)
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
