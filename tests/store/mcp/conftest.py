"""A library of four coins and the demo memory, served to agents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.chroma.follower import ChromaFollower
from store.mcp.access import Access
from store.memory import demo
from store.memory.memory import Memory
from store.runtime import LibraryRuntime, open_library, open_reader
from tests.browser.coins import COINS
from tests.store.hashed import Hashed
from tests.store.mcp.clients import serving
from tests.store.memory.bags import Bags


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of four coins and the demo memory, with models that need no weights."""
    root = tmp_path_factory.mktemp("agents") / "res"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChromaFollower, "wake", lambda self: None)
        with open_library(root, embedder=Hashed()) as library:
            library.add([coin.candidate() for coin in COINS])
            library.approve([coin.address for coin in COINS])
            library.promote([coin.address for coin in COINS])
        with Memory.open(root, embedder=Bags()) as memory:
            demo.load(memory)
    return root


@pytest.fixture
def access(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Access]:
    monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)
    monkeypatch.setattr("store.mcp.access.open_embedder", lambda name: Bags())
    monkeypatch.setattr("store.embedding.active_model.open_embedder", lambda name: Hashed())
    opened = Access(
        root, actor="agent", open_reader=open_reader, carry_out=LibraryRuntime.carry_out_for_agents
    )
    yield opened
    opened.close()


@pytest.fixture
def address(access: Access) -> Iterator[str]:
    from tests.ports import free_port

    with serving(access, port=free_port()) as address:
        yield address
