"""Fixtures for the tests of the store: coins, pictures, and libraries in temporary folders."""

import json
import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from PIL import Image

from store import demo
from store.chroma.collections import INDEX
from store.chroma.comparison import ask
from store.chroma.follower import ChromaFollower
from store.chroma.process import ServerAway
from store.disk.images import normalise
from store.embedding import open_embedder
from store.importing.candidate import Candidate
from store.library import Library
from store.runtime import open_library
from tests.store.hashed import Hashed
from tests.store.language_model_server import LanguageModelServer, running

CREATED_AT = 1_700_000_000
TAXONOMY = {"dog": "animals", "cat": "animals", "moon": "space"}


@cache
def picture(number: int) -> bytes:
    """A small PNG; equal numbers give equal pictures."""
    pixels = np.frombuffer(sha256(str(number).encode()).digest()[:27], np.uint8).reshape(3, 3, 3)
    file = BytesIO()
    Image.fromarray(pixels).resize((24, 24), Image.Resampling.NEAREST).save(file, "PNG")
    return file.getvalue()


@cache
def normal_picture(number: int) -> bytes:
    """The same picture as the library stores it."""
    return normalise(picture(number))


def address(number: int) -> str:
    """A valid coin address: Solana, EVM and local addresses in turn."""
    digest = sha256(f"coin {number}".encode()).hexdigest()
    if number % 3 == 0:
        return "So" + digest.replace("0", "x")[:40]
    return f"0x{digest[:40]}" if number % 3 == 1 else f"local-{digest[:32]}"


def coin(number: int, **more: Any) -> Candidate:
    """A coin to import; everything about it follows from its number."""
    sidecar = {
        "token_name": f"Coin {number}",
        "ticker": f"C{number}",
        "description": f"The coin number {number}.",
        "token_address": address(number),
        "created_at": CREATED_AT + number,
        "tags": ["dog"],
        **more,
    }
    return Candidate(f"coin {number}", sidecar, normal_picture(number))


def fresh_root(root: Path) -> Path:
    root.mkdir()
    (root / "taxonomy.json").write_text(json.dumps(TAXONOMY))
    return root


def written(text: str) -> dict[Any, str]:
    """A caption with the two required facets and one optional facet."""
    return {"entity": f"{text} entity", "context": f"{text} context", "visual": f"{text} visual"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "chroma_in_own_process" in getattr(item, "fixturenames", ()):  # its process imports for a second
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def embedder() -> Hashed:
    return Hashed()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A library folder that contains only a taxonomy."""
    return fresh_root(tmp_path / "res")


@pytest.fixture
def quick_root() -> Iterator[Path]:
    """A library folder in memory where that is possible.

    Some tests open a library hundreds of times, and an fsync takes milliseconds on a disk.
    """
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield fresh_root(Path(folder).resolve() / "res")


@pytest.fixture
def library(root: Path, embedder: Hashed) -> Iterator[Library]:
    """An open library; Chroma is updated as in production."""
    library = open_library(root, embedder=embedder)
    yield library
    library.close()


@pytest.fixture
def chroma_in_own_process() -> None:
    """Chroma runs in its own process, as in production."""


@pytest.fixture
def comparison_in_own_process() -> None:
    """Chroma is compared with SQLite in its own process: a broken index may crash its reader."""


def keep_chroma_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma is updated, and compared with SQLite, in this process."""
    monkeypatch.setattr(
        "store.chroma.follower.ChromaProcess", lambda make, *given, **named: make(*given, **named)
    )
    monkeypatch.setattr("store.chroma.follower.ask", _ask_in_process)


def _ask_in_process(faults: Callable[[], list[str]], *, begun: object) -> list[str]:
    """Answer as `ask` does, without another process."""
    try:
        return faults()
    except ServerAway:
        raise
    except Exception as error:  # noqa: BLE001  any error would end that process
        return [f"Chroma cannot be opened: {traceback.format_exception_only(error)[-1].strip()}"]


@pytest.fixture(autouse=True)
def _chroma_in_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run Chroma in this process for other tests: importing it again takes longer than the test."""
    if "chroma_in_own_process" in request.fixturenames:
        return
    keep_chroma_in_process(monkeypatch)
    if "comparison_in_own_process" in request.fixturenames:
        monkeypatch.setattr("store.chroma.follower.ask", ask)


@pytest.fixture
def closed_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what chromadb's clients leave open; in production their process ends."""
    import httpx

    made: list[httpx.Client] = []

    class Recorded(httpx.Client):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            made.append(self)

    monkeypatch.setattr(httpx, "Client", Recorded)
    yield
    for client in made:
        client.close()


@pytest.fixture
def without_chroma(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma is not updated: changes wait in its queue."""
    monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)


@pytest.fixture
def eager_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma writes its index files after every other vector, not after every thousandth."""
    monkeypatch.setitem(INDEX, "batch_size", 2)
    monkeypatch.setitem(INDEX, "sync_threshold", 2)


@pytest.fixture(scope="session")
def demo_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The demo library with the offline model; no test changes it."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    root = fresh_root(tmp_path_factory.mktemp("demo") / "res")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("store.chroma.follower.ChromaFollower.wake", lambda self: None)
        with FileLock(folder / "demo-library.lock"):  # one worker makes it for all
            if not (folder / "demo-library").exists():
                with open_library(root, embedder=open_embedder("offline")) as library:
                    demo.load(library)
                shutil.copytree(root, folder / "demo-library")
        shutil.copytree(folder / "demo-library", root, dirs_exist_ok=True)
        library = open_library(root, embedder=open_embedder("offline"))
    yield library
    library.close()


@pytest.fixture
def captioned(library: Library) -> Callable[..., list[str]]:
    """Coins that are approved and captioned, ready to be promoted."""

    def prepare(*numbers: int) -> list[str]:
        return approved_with_caption(library, *numbers)

    return prepare


@pytest.fixture
def three_addresses(library: Library, captioned: Callable[..., list[str]]) -> list[str]:
    """Three coins of the library."""
    addresses = captioned(1, 2, 3)
    library.promote(addresses)
    return addresses


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageModelServer]:
    """A server that answers as a language model; requests to it have a key."""
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    with running() as server:
        yield server


def approved_with_caption(library: Library, *numbers: int) -> list[str]:
    addresses = [address(number) for number in numbers]
    library.add(coin(number) for number in numbers)
    library.approve(addresses)
    for number in numbers:
        library.caption(address(number), caption=written(f"text {number}"))
    return addresses


def approved_with_own_words(library: Library, *numbers: int) -> list[str]:
    """`approved_with_caption`, each with a word of its own, so that no picture stands in."""
    addresses = approved_with_caption(library, *numbers)
    for number, one in zip(numbers, addresses, strict=True):
        word = "word" + str(number).translate(str.maketrans("0123456789", "bcdfghjklm"))
        library.caption(one, caption={"context": f"{word}, text {number} context"})
    return addresses


def create_in_tier(library: Library, tier: str, *numbers: int) -> list[str]:
    """Create captioned coins in this tier and return their addresses."""
    addresses = approved_with_caption(library, *numbers)
    if tier == "pending":
        library.send_back(addresses)
    elif tier == "library":
        library.promote(addresses)
    return addresses
