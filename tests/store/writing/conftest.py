"""Libraries in memory, which are opened again after changes from outside."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.library import Library
from store.runtime import open_library
from tests.store.hashed import Hashed


@pytest.fixture
def root(quick_root: Path) -> Path:
    return quick_root


@pytest.fixture
def reopen(library: Library, root: Path, embedder: Hashed) -> Callable[[], Library]:
    """A function that closes the library and opens it again."""

    def again() -> Library:
        open_library(root).close()
        return open_library(root, embedder=embedder)

    return again


@pytest.fixture
def close_library_at_end(library: Library, root: Path, embedder: Hashed) -> Any:
    yield
    open_library(root, embedder=embedder).close()


def edit(path: Path, **changes: object) -> None:
    sidecar = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in sidecar.items() if value is not None}))
