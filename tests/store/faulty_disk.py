"""Real faults of the system under a test: a full disk, no file handles, a changed clock."""

import os
import resource
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SIZE = "24m"  # of the small disk: some coins, and SQLite's logs


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of its own, mounted at this folder; skips the test where that is not permitted."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(folder)]
    if os.name != "posix" or os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a disk can only be mounted by root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Leave not a byte free on this disk for the duration of the block."""
    filler = disk / "somebody else's"
    try:
        with filler.open("wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                _fill(file.fileno(), size)
        yield
    finally:
        filler.unlink()


def _fails(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True).returncode != 0


def _fill(file: int, size: int) -> None:
    try:
        while os.write(file, b"x" * size) == size:
            pass
    except OSError:
        return


@contextmanager
def no_file_handles() -> Iterator[None]:
    """Let this process open no further file for the duration of the block."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def clock_set(seconds: float) -> Iterator[None]:
    """Set the clock of this process forward, or back, for the duration of the block."""
    now, now_ns = time.time, time.time_ns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: now() + seconds)
        patch.setattr(time, "time_ns", lambda: now_ns() + int(seconds * 1e9))
        yield


@contextmanager
def not_writable(*folders: Path) -> Iterator[None]:
    """Let nobody write to these folders, not even root, for the duration of the block."""
    for folder in folders:
        folder.chmod(0o555)
        if (
            os.geteuid() == 0
            and subprocess.run(["chattr", "+i", str(folder)], capture_output=True).returncode
        ):
            pytest.skip("root may write everywhere here")
    try:
        yield
    finally:
        for folder in folders:
            if os.geteuid() == 0:
                subprocess.run(["chattr", "-i", str(folder)], check=True)
            folder.chmod(0o755)


@contextmanager
def read_only(disk: Path) -> Iterator[None]:
    """Mount this disk for reading only for the duration of the block; nothing on it may be open to write."""
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
