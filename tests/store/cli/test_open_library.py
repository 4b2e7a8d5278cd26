"""Opening a library: its folder, its progress, and Ctrl-C."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.cli.terminal import Terminal
from store.progress import Progress
from store.reading.reader import Reader
from tests.store.cli.program import KEPT, PENDING, Run
from tests.store.conftest import address, coin, picture


def tier(root: Path, key: str) -> str:
    with Reader(root) as reader:
        return reader.get(key).tier


# -- list and show -----------------------------------------------------------------------------------------


def test_a_mistyped_root_creates_no_library(run: Run, tmp_path: Path) -> None:
    done = run("--root", tmp_path / "rse", "approve", PENDING)
    assert done.returncode == 1
    assert "there is no library in" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_reading_says_that_there_is_no_library(run: Run, tmp_path: Path) -> None:
    done = run("list", "--root", tmp_path / "rse")
    assert f"there is no library in {tmp_path / 'rse'}" in done.stderr


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


# -- export, doctor, model, backup -------------------------------------------------------------------------


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


# -- usage and output --------------------------------------------------------------------------------------


def test_root_is_accepted_before_and_after_the_command(run: Run, root: Path, tmp_path: Path) -> None:
    elsewhere = {"MEMEDEX_ROOT": str(tmp_path / "empty")}
    assert len(json.loads(run("--root", root, "list", "--json", **elsewhere).stdout)) == 5
    assert len(json.loads(run("list", "--root", root, "--json", **elsewhere).stdout)) == 5
    assert json.loads(run("list", "--json", **elsewhere).stdout) == []
