"""Litestream as people run it: one process copies a database, another one follows the copy."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import eventually

PROGRAM = str(Path(sys.executable).parent / "litestream")


@contextmanager
def replicating(database: Path, copy: str) -> Iterator[None]:
    """Copy every commit of the database to this address, until the block ends."""
    with _running("replicate", str(database), copy):
        yield


@contextmanager
def following(copy: str, database: Path) -> Iterator[None]:
    """Follow the copy into this file; the block begins when the file is a replica."""
    database.parent.mkdir(parents=True, exist_ok=True)
    with _running("restore", "-f", "-follow-interval", "250ms", "-o", str(database), copy):
        assert eventually(database.with_name(f"{database.name}-txid").exists), "nothing was restored"
        yield


def restore(copy: str, database: Path) -> bool:
    """Restore the copy once into this file; whether there was one."""
    database.parent.mkdir(parents=True, exist_ok=True)
    return _run("restore", "-o", str(database), copy) == 0


def _run(*arguments: str) -> int:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=60, check=False).returncode


@contextmanager
def _running(*arguments: str) -> Iterator[None]:
    process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()  # it sends what is left first
        process.wait(30)
