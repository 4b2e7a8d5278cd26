"""The program in its own process: next to another one, at a terminal, and interrupted."""

import json
import os
import pty
import re
import subprocess
import sys
import termios
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.cli.terminal import plain
from store.embedding import open_embedder
from store.runtime import open_library
from tests.store.cli.program import (
    KEPT,
    PENDING,
    Run,
    environment,
    program,
    run_in_process,
    run_in_subprocess,
)
from tests.store.conftest import address, coin
from tests.store.invariants import holds

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return partial(run_in_subprocess, folder=tmp_path)


# -- next to another process -------------------------------------------------------------------------------


def test_writing_commands_exit_with_3_while_another_process_holds_the_library(run: Run, root: Path) -> None:
    verbs = (["approve", PENDING], ["undo"], ["promote", "--all"], ["import", "."], ["doctor", "--repair"])
    with open_library(root) as library, ThreadPoolExecutor() as at_once:
        before = library.counts()
        for verb, done in zip(verbs, at_once.map(lambda verb: run(*verb), verbs), strict=True):
            assert (done.returncode, done.stdout) == (3, ""), verb
            assert f"process {os.getpid()}" in done.stderr, verb
        assert library.counts() == before


@pytest.mark.parametrize(
    "verb",
    [["list", "--json"], ["show", KEPT], ["search", "dog"], ["history"], ["export", "out"], ["model"]],
    ids=" ".join,
)
def test_reading_commands_work_while_another_process_holds_the_library(
    run: Run, root: Path, verb: list[str]
) -> None:
    with open_library(root) as library:
        done = run(*verb)
        assert done.returncode == 0, done.stderr
        assert library.counts()["library"] == 2


def test_doctor_and_backup_work_while_another_process_holds_the_library(run: Run, root: Path) -> None:
    with open_library(root):
        doctor, backup = run("doctor"), run("backup", "copy")
        assert doctor.returncode == 0, doctor.stderr
        assert "all is well" in doctor.stderr
        assert backup.returncode == 0, backup.stderr
        assert run("restore-backup", "copy").returncode == 3


# -- as a program ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("own_interpreter")
def test_a_closed_pipe_ends_the_output_without_an_error(root: Path, tmp_path: Path) -> None:
    listing = subprocess.Popen(
        program("--root", root, "list", "--json"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert listing.stdout is not None
    listing.stdout.close()
    assert listing.stderr is not None
    assert listing.stderr.read() == b""
    listing.stderr.close()
    assert listing.wait() == 0


@pytest.mark.usefixtures("own_interpreter")
def test_text_in_every_script_is_accepted_and_printed_in_any_locale(
    run: Run, incoming: Path, tmp_path: Path
) -> None:
    name = "Доги 🐕‍🦺 犬 כלב / e\u0301toile\u200b / 𝕯𝖔𝖌𝖊 ₿"
    sidecar = {**coin(10).sidecar, "token_name": name}
    (incoming / f"{address(10)}.json").write_text(json.dumps(sidecar))
    plain_locale = {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    run_in_process("import", incoming, folder=tmp_path)
    run_in_process("approve", address(10), folder=tmp_path)
    run("caption", address(10), "--entity", name, "--context", name, **plain_locale)
    shown = json.loads(run("show", address(10), "--json", **plain_locale).stdout)
    assert (shown["token_name"], shown["caption"]["entity"]) == (name, name)
    assert plain(name) in run("list", **plain_locale).stdout


def test_list_does_not_import_models_chroma_or_pillow(root: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *program("--root", root, "list", "--json")[1:]],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "store" in loaded
    assert not loaded & {
        "chromadb", "torch", "onnxruntime", "PIL", "litellm", "open_clip", "streamlit", "rich", "tokenizers"
    }  # fmt: skip


# A bar is drawn ten times a second: on a busy machine the last operation can end between two drawings.
HELD_UNTIL_THE_BAR_WAS_READ = """
import sys
from store.cli import main
from store.writing.journal import Journal

def first(*given):
    Journal.perform = second
    return plain(*given)

def second(*given):
    Journal.perform = plain
    sys.stdin.readline()
    return plain(*given)

plain, Journal.perform = Journal.perform, first
sys.exit(main())
"""


def test_progress_is_shown_on_a_terminal_but_not_in_a_pipe(
    run: Run, folder_of_200_coins: Path, tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = program("--root", tmp_path / "other", "import", folder_of_200_coins)
    with subprocess.Popen(
        [sys.executable, "-c", HELD_UNTIL_THE_BAR_WAS_READ, *command[3:]],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stderr=theirs,
    ) as process:
        assert process.stdin
        os.close(theirs)
        seen, is_held = b"", True
        with suppress(OSError):  # the other end is closed
            while chunk := os.read(ours, 4096):
                seen += chunk
                if is_held and re.search(rb"import [^\r]*[1-9]\d*/", seen):
                    is_held = False
                    process.stdin.write(b"\n")
                    process.stdin.flush()
    os.close(ours)
    assert not is_held
    assert b"added 200" in seen
    assert run("import", folder_of_200_coins).stderr == "added 200, already there 0, refused 0\n"


# From outside, nobody can tell when an operation is done: on a busy machine a key can come after the last.
CTRL_C_AFTER_THE_FIRST_OPERATION = """
import os, signal, sys
from store.cli import main
from store.writing.journal import Journal

def perform(*given):
    Journal.perform = plain
    refused = plain(*given)
    os.kill(os.getpid(), signal.SIGINT)
    return refused

plain, Journal.perform = Journal.perform, perform
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell runs tests with &
sys.exit(main())
"""


def test_ctrl_c_keeps_the_coins_imported_so_far(folder_of_200_coins: Path, tmp_path: Path) -> None:
    root = tmp_path / "res"
    command = program("--root", root, "import", folder_of_200_coins, "--json")
    importing = subprocess.run(
        [sys.executable, "-c", CTRL_C_AFTER_THE_FIRST_OPERATION, *command[3:]],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert importing.returncode == 130, importing.stderr
    assert "what is done is kept" in importing.stderr
    added = json.loads(importing.stdout)["added"]
    assert 0 < len(added) < 200
    with open_library(root, embedder=open_embedder("offline")) as library:
        assert set(library.addresses(Filter())) == set(added)
        holds(open_library(root))
