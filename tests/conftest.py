"""Settings and fixtures of every test."""

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path
from weakref import WeakSet

import pytest
from argon2 import PasswordHasher
from hypothesis import settings

from store import sessions
from store.jobs import background_worker
from tests import known_pictures, known_tables  # noqa: F401  for what they do
from tests.forked_python import fork_or_start
from tests.length import repeated

MEMORY = Path("/dev/shm")
ROOM = 2 * 1024**3  # bytes, far more than the tests write

TESTS = Path(__file__).resolve().parent
# Slow files come first; otherwise one of two processes would wait for the other at the end.
FIRST = tuple(TESTS / name for name in ("browser", "store/cli", "store/writing", "store/chroma", "pages"))

# Reading pictures takes a third of a second each; tests of that ask for it.
os.environ.setdefault("MEMEDEX_READ_PICTURES", "0")

# The program flushes every write, which takes milliseconds on a disk and no time in memory.
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# The tests make few cycles of objects, and all modules are searched for them.
gc.set_threshold(20_000, 20, 20)

# No deadlines, since the machine may be busy.
settings.register_profile("memedex", deadline=None, max_examples=repeated(25, least=25))
settings.load_profile("memedex")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {folder: number for number, folder in enumerate(FIRST)}
    items.sort(key=lambda item: min(places.get(up, len(FIRST)) for up in item.path.parents))


@pytest.fixture(autouse=True)
def _ignore_workers_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers report failures for the whole process; one of an earlier test may still be failing."""
    monkeypatch.setattr(background_worker, "_all", WeakSet())


@pytest.fixture
def costly_passwords() -> None:
    """Passwords are hashed with as much memory and time as in production."""


@pytest.fixture(autouse=True)
def _cheap_passwords(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords that this process sets take a thousandth of the memory, in servers as well."""
    if "costly_passwords" not in request.fixturenames:
        monkeypatch.setattr(sessions, "_hasher", PasswordHasher(time_cost=1, memory_cost=64))


@pytest.fixture
def own_interpreter() -> None:
    """Python programs are started as users start them, with all their imports."""


@pytest.fixture(autouse=True)
def _fork_python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "linux" and "own_interpreter" not in request.fixturenames:
        monkeypatch.setattr(subprocess, "_fork_exec", fork_or_start)
