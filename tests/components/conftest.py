"""A library of a few pending coins, and the app's own routes without a browser."""

import asyncio
import os
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from components.editor import messages as editor_messages
from components.grid import coin as grid_coin
from components.grid import decisions, deferred_cards, tags
from components.map import requests as map_requests
from components.shell.page import forms, job_bar, palette
from components.shell.server import former_addresses, messages, monitoring, pictures
from components.shell.session import login, resources
from store.chroma.follower import ChromaFollower
from store.library import Library
from store.runtime import open_library
from store.settings import settings
from tests.store.conftest import coin, fresh_root
from tests.store.hashed import Hashed

COINS = 6


@pytest.fixture(autouse=True)
def _without_chroma(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma is off: opening it takes longer than the rest of a test."""
    monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)


@pytest.fixture(autouse=True)
def _own_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept beside the library lies in the test's folder, not in the program's."""
    monkeypatch.setattr(settings(), "root", tmp_path / "res")


@pytest.fixture
def node() -> str:
    """The path of Node.js; a test that needs it is skipped without, or fails if it is required."""
    if found := shutil.which("node"):
        return found
    reason = "no Node.js was found (Debian: apt install nodejs)"
    if os.environ.get("MEMEDEX_REQUIRE_NODE") == "1":
        pytest.fail(f"{reason}, and MEMEDEX_REQUIRE_NODE=1 asks for the JavaScript's tests", pytrace=False)
    pytest.skip(reason)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = open_library(fresh_root(tmp_path / "res"), embedder=Hashed())
    library.add(coin(number) for number in range(COINS))
    yield library
    library.close()


class Client:
    """Sends requests to the routes, as a browser would."""

    def __init__(self) -> None:
        modules = (former_addresses, pictures, monitoring, login)
        kinds = (
            decisions.KIND, forms.KIND, grid_coin.KIND, deferred_cards.KIND, tags.KIND, job_bar.KIND,
            palette.KIND, *map_requests.KINDS, *editor_messages.KINDS,
        )  # fmt: skip
        routes = [route for module in modules for route in module.routes()]
        self._app = Starlette(routes=[*routes, *messages.routes(*kinds)])

    def get(self, address: str, **more: Any) -> httpx.Response:
        return self._ask("GET", address, **more)

    def post(self, address: str, *, content: str | bytes, **more: Any) -> httpx.Response:
        return self._ask("POST", address, content=content, **more)

    def _ask(
        self, method: str, address: str, *, cookies: Mapping[str, str] | None = None, **more: Any
    ) -> httpx.Response:
        async def ask() -> httpx.Response:
            asker = httpx.AsyncClient(
                transport=httpx.ASGITransport(self._app),
                base_url="http://memedex",
                cookies=dict(cookies or {}),
            )
            async with asker as client:
                return await client.request(method, address, **more)

        # In a separate thread: after browser tests, this thread already has an event loop.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(ask())).result()


@pytest.fixture
def client(library: Library, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(resources, "library_of_routes", lambda: library)
    return Client()
