"""Libraries in memory, which are opened again after changes from outside."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.chroma.follower import ChromaFollower
from store.library import Library
from store.runtime import open_library
from tests.store.conftest import approved_with_caption, coin, fresh_root
from tests.store.hashed import Hashed
from tests.store.writing.cases import APPROVED, CAPTIONED, PROMOTED, TRASH


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


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with records in every tier; a template that each test copies."""
    root = fresh_root(tmp_path_factory.mktemp("prepared") / "res")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChromaFollower, "wake", lambda self: None)
        with open_library(root, embedder=Hashed()) as library:
            library.add(coin(number) for number in (0, 1, 2, 3, 8, 20))
            library.approve([*APPROVED, TRASH[0]])
            approved_with_caption(library, 4, 5, 6, 7, 9)
            library.promote([*PROMOTED, TRASH[1]])
            library.reject([TRASH[0]])
            library.delete([TRASH[1]])
            library.drafts.save(CAPTIONED[0], {"entity": "being typed"})
    return root
