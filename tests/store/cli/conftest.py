"""A library with records in three tiers, folders to import, and the program to run on them."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from store.embedding import open_embedder
from store.runtime import open_library
from tests.store.cli.program import ALSO_KEPT, APPROVED, CAPTIONED, KEPT, Run, run_in_process
from tests.store.conftest import address, coin, fresh_root, picture


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the program on the library in tmp_path/res."""
    return partial(run_in_process, folder=tmp_path)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with records in three tiers, made once."""
    root = fresh_root(tmp_path_factory.mktemp("made") / "res")
    with open_library(root, embedder=open_embedder("offline")):
        library = open_library(root)
        library.add((coin(number) for number in range(5)), actor="ann")
        library.approve([APPROVED, CAPTIONED, KEPT, ALSO_KEPT], actor="ann")
        captions = {
            CAPTIONED: {"entity": "a frog on a lily pad", "context": "the lazy frog meme"},
            KEPT: {"entity": "a dog in a space suit", "context": "to the moon", "visual": "pixel art"},
            ALSO_KEPT: {"entity": "a bank of marble", "context": "old money"},
        }
        for key, caption in captions.items():
            library.caption(key, caption=caption, actor="ann")
        library.promote([KEPT, ALSO_KEPT], actor="ann")
        assert library.wait_for_chroma()
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A copy of that library, for this test alone."""
    return Path(shutil.copytree(made, tmp_path / "res"))


@pytest.fixture
def incoming(tmp_path: Path) -> Path:
    """A folder with two coins to import and one whose picture is invalid."""
    folder = tmp_path / "incoming"
    folder.mkdir()
    for number in (10, 11, 12):
        (folder / f"{address(number)}.json").write_text(json.dumps(coin(number).sidecar))
        (folder / f"{address(number)}.png").write_bytes(picture(number) if number < 12 else b"text")
    return folder


@pytest.fixture(scope="session")
def folder_of_200_coins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Coins to import, all with one picture."""
    folder = tmp_path_factory.mktemp("folder_of_200_coins")
    for number in range(200):
        sidecar = coin(0, token_address=address(number)).sidecar
        (folder / f"{address(number)}.json").write_text(json.dumps(sidecar))
        (folder / f"{address(number)}.png").write_bytes(picture(0))
    return folder
