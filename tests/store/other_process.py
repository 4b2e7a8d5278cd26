"""Another process with the library of a test."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2]


HEAD = """
import os, sys
from store.errors import LibraryInUse, ReadOnly
from store.runtime import open_library, open_reader
from store.catalog.filters import Filter
from store.search.query import Part, Query
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
root = sys.argv[1]
"""


@contextmanager
def other_process(root: Path, source: str) -> Iterator[subprocess.Popen[str]]:
    """Run these lines in another Python process, which ends with the block."""
    command = [sys.executable, "-c", HEAD + source, str(root)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=PROGRAM) as process:
        try:
            yield process
        finally:
            process.kill()


def output_of(root: Path, source: str) -> str:
    """What another process printed; its exit status must be 0."""
    with other_process(root, source) as process:
        answer, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        return answer.strip()
