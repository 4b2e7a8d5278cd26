"""What the server offers and whom it refuses over HTTP."""

from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.browser.coins import FROG
from tests.store.mcp.clients import TOKEN, TOOLS, run_in_thread


def test_every_tool_says_what_it_answers_and_limits_what_it_takes(address: str) -> None:
    async def ask() -> tuple[list[Any], Any]:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"}) as client,
            Client(streamable_http_client(address, http_client=client)) as session,
        ):
            tools = (await session.list_tools()).tools
            return tools, await session.call_tool("get_memecoin", {"address": FROG.address})

    tools, coin = run_in_thread(ask)
    assert {tool.name for tool in tools} == TOOLS
    for tool in tools:
        assert tool.output_schema, tool.name
        assert tool.input_schema["additionalProperties"] is False
        for name, argument in tool.input_schema["properties"].items():
            assert _is_limited(argument), f"{tool.name}: {name}"
    assert [one.type for one in coin.content] == ["text", "image"]
    assert coin.structured_content["token_name"] == FROG.name


def _is_limited(schema: dict[str, Any]) -> bool:
    """Whether every text and list of this argument has a greatest length, every number a greatest value."""
    forms = [form for form in schema.get("anyOf", [schema]) if form.get("type") != "null"]
    needed = {"string": ("maxLength", "enum", "const"), "array": ("maxItems",), "integer": ("maximum",),
              "number": ("maximum",)}  # fmt: skip
    return all(
        form.get("type") not in needed or any(key in form for key in needed[form["type"]]) for form in forms
    )


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"}, 403),
    ],
    ids=["no token", "another token", "another Host", "another Origin"],
)
def test_unauthorised_requests_are_rejected(headers: dict[str, str], status: int, address: str) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepted = {"Accept": "application/json, text/event-stream"}
    answer = httpx.post(address, json=hello, headers={**accepted, **headers}, trust_env=False)
    assert answer.status_code == status
    assert "store_memory" not in answer.text
