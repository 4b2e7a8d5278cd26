"""A prepared library to back up."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.chroma.follower import ChromaFollower
from store.library import Library
from store.runtime import open_library
from tests.store.conftest import address, approved_with_caption, coin, fresh_root
from tests.store.hashed import Hashed


def reopen(root: Path) -> Library:
    return open_library(root, embedder=Hashed())


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with records in every tier, an undone decision and a draft; created once per session."""
    root = fresh_root(tmp_path_factory.mktemp("backed up") / "res")
    with reopen(root) as library:
        addresses = approved_with_caption(library, *range(6))
        library.promote(addresses[:3])
        library.add(coin(number) for number in range(6, 10))
        library.reject([address(6)], reason="a copy")
        library.degrade(addresses[2:3])
        library.undo()
        library.drafts.save(address(4), {"visual": "still think"})
        assert library.wait_for_chroma()
    return root


@pytest.fixture
def source(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """A copy of that library for one test; Chroma is updated only when something changes."""
    with monkeypatch.context() as opening:
        opening.setattr(ChromaFollower, "wake", lambda self: None)
        library = reopen(Path(shutil.copytree(made, tmp_path / "res")))
    yield library
    library.close()
