"""Run the program in its own process or, faster, in this one."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess, run
from typing import Any
from unittest.mock import patch

from store.cli import main
from store.reading.reader import Reader
from store.settings import settings
from tests.store.conftest import address

PROJECT = Path(__file__).parents[3]
PENDING, APPROVED, CAPTIONED, KEPT, ALSO_KEPT = (address(number) for number in range(5))
NOWHERE = address(99)

Run = Callable[..., CompletedProcess[str]]


def environment(**more: str) -> dict[str, str]:
    """Our environment without the tester's settings; the only model is the one in the repository."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMEDEX_")}
    return {**own, "PYTHONPATH": str(PROJECT), "MEMEDEX_EMBEDDER": "offline", "MEMEDEX_USER": "ann", **more}


def program(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "store", *map(str, arguments)]


def run_in_subprocess(*arguments: object, folder: Path, **more: str) -> CompletedProcess[str]:
    """Run the program in its own process; its output is UTF-8 in any locale."""
    given = environment(**{"MEMEDEX_ROOT": str(folder / "res"), **more})
    return run(program(*arguments), cwd=folder, env=given, capture_output=True, encoding="utf-8")


def run_in_process(*arguments: object, folder: Path, **more: str) -> CompletedProcess[str]:
    """Run the program in this process, where the model is already loaded."""
    given = environment(**{"MEMEDEX_ROOT": str(folder / "res"), **more})
    answers, messages = _text_stream(), _text_stream()
    with _environment_of(folder, given), redirect_stdout(answers), redirect_stderr(messages):
        status = main([str(argument) for argument in arguments])
    return CompletedProcess(program(*arguments), status, _text_of(answers), _text_of(messages))


@contextmanager
def _environment_of(folder: Path, given: dict[str, str]) -> Iterator[None]:
    """Set the working directory and the environment that the program sees."""
    before = Path.cwd()
    os.chdir(folder)
    settings.cache_clear()
    try:
        with patch.dict(os.environ, given, clear=True):
            yield
    finally:
        os.chdir(before)
        settings.cache_clear()


def _text_stream() -> TextIOWrapper:
    return TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True)


def _text_of(stream: TextIOWrapper) -> str:
    assert isinstance(stream.buffer, BytesIO)
    return stream.buffer.getvalue().decode("utf-8")


def tier(root: Path, key: str) -> str:
    with Reader(root) as reader:
        return reader.get(key).tier


def caption(root: Path, key: str) -> dict[str, Any]:
    with Reader(root) as reader:
        return dict(reader.get(key).sidecar["caption"])
