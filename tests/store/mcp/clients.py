"""The server on a real socket, and the official client that asks it."""

import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from store.mcp import transports
from store.mcp.access import Access
from store.mcp.tools import server

PROJECT = Path(__file__).resolve().parent.parent.parent.parent
PATIENCE = 120  # seconds
TOKEN = "a-token-of-the-test"
TOOLS = {
    "store_memory", "list_memory", "show_memory", "edit_memory", "remove_memory", "search_memory",
    "forget_memory", "undo_memory", "redo_memory", "export_memory", "assemble_memory", "ask_memory",
    "list_worlds", "list_sessions", "list_protocols", "list_tags",
    "query_lore", "query_memory", "search_documents", "search_transcripts", "find_events", "search_entries",
    "search_memecoins", "get_memecoin", "memecoin_examples", "generate_memecoin",
    "list_memecoins", "memecoin_history", "check_memecoin", "map_neighbourhoods",
    "approve_memecoins", "reject_memecoins", "tag_memecoins", "undo_memecoins",
}  # fmt: skip


@contextmanager
def serving(access: Access, *, port: int) -> Iterator[str]:
    """The server on a real socket, in a thread."""
    app = transports.application(server(access), port=port, token=TOKEN)
    running = uvicorn.Server(uvicorn.Config(app, host=transports.HOST, port=port, log_level="error"))
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        while not running.started:
            assert thread.is_alive()
        yield f"http://{transports.HOST}:{port}{transports.PATH}"
    finally:
        running.should_exit = True
        thread.join()


def run_in_thread(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Run this in its own thread: browser tests leave an event loop running in the main thread."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(anyio.run, ask).result()


def over_http(address: str, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    async def ask() -> list[Any]:
        with anyio.fail_after(PATIENCE):
            async with (
                create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"}) as client,
                Client(streamable_http_client(address, http_client=client)) as session,
            ):
                return await asked(session, calls)

    return run_in_thread(ask)


async def asked(session: Client, calls: tuple[tuple[str, dict[str, Any]], ...]) -> list[Any]:
    """The answer of each tool, or the text of its error."""
    answers: list[Any] = []
    for name, arguments in calls:
        result = await session.call_tool(name, arguments)
        text = result.content[0].text  # type: ignore[union-attr]
        answers.append(text if result.is_error else json.loads(text))
        assert result.is_error or result.structured_content == answers[-1], "both forms say the same"
    return answers
