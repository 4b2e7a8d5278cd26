"""The program as tests run it: in a process of its own, or, quicker, in this one."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess, run
from unittest.mock import patch

from store.cli import main
from store.settings import settings
from tests.store.conftest import address

PROJECT = Path(__file__).parents[3]
PENDING, APPROVED, CAPTIONED, KEPT, ALSO_KEPT = (address(number) for number in range(5))
NOWHERE = address(99)

Run = Callable[..., CompletedProcess[str]]


def environment(**more: str) -> dict[str, str]:
    """Ours without settings of whoever runs the tests; no model but the one in the repository."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMEDEX_")}
    return {**own, "PYTHONPATH": str(PROJECT), "MEMEDEX_EMBEDDER": "offline", "MEMEDEX_USER": "ann", **more}


def program(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "store", *map(str, arguments)]


def run_elsewhere(*arguments: object, folder: Path, **more: str) -> CompletedProcess[str]:
    """The program in a process of its own; its output is UTF-8 whatever the locale."""
    given = environment(**{"MEMEDEX_ROOT": str(folder / "res"), **more})
    return run(program(*arguments), cwd=folder, env=given, capture_output=True, encoding="utf-8")


def run_here(*arguments: object, folder: Path, **more: str) -> CompletedProcess[str]:
    """The same in this process, which knows the model already."""
    given = environment(**{"MEMEDEX_ROOT": str(folder / "res"), **more})
    answers, messages = _stream(), _stream()
    with _started(folder, given), redirect_stdout(answers), redirect_stderr(messages):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:  # argparse ends so for wrong usage
            status = int(end.code or 0)
    return CompletedProcess(program(*arguments), status, _written(answers), _written(messages))


@contextmanager
def _started(folder: Path, given: dict[str, str]) -> Iterator[None]:
    """Where and with which settings the program believes to have been started."""
    before = Path.cwd()
    os.chdir(folder)
    settings.cache_clear()
    try:
        with patch.dict(os.environ, given, clear=True):
            yield
    finally:
        os.chdir(before)
        settings.cache_clear()


def _stream() -> TextIOWrapper:
    return TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True)


def _written(stream: TextIOWrapper) -> str:
    assert isinstance(stream.buffer, BytesIO)
    return stream.buffer.getvalue().decode("utf-8")
