"""How agents reach the tools: standard input and output, or HTTP on loopback with a token.

Every request has an answer, also one that cannot be read. HTTP serves no page of a browser.
"""

import hmac
import json
import re
import sys
from secrets import token_urlsafe
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_PARAMS, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_SURROGATE = re.compile("[\ud800-\udfff]")
HOST = "127.0.0.1"
PATH = "/mcp"


def serve_stdio(server: MCPServer[Any]) -> None:
    """Serve the agent that started this program until it closes standard input."""
    anyio.run(_serve, server)


async def _serve(server: MCPServer[Any]) -> None:
    lowlevel = server._lowlevel_server
    async with stdio_server() as (lines, answers), anyio.create_task_group() as tasks:
        into, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()

        async def read() -> None:
            async with into:
                async for message in lines:
                    if isinstance(message, Exception):  # mcp only logs it, and the agent would wait for ever
                        await answers.send(SessionMessage(refusal(message)))
                    else:
                        await into.send(message)

        tasks.start_soon(read)
        await lowlevel.run(messages, answers, lowlevel.create_initialization_options())


def refusal(error: Exception) -> JSONRPCError:
    """The answer to a line that is no message; it names the request if the line says which one."""
    line = error.errors()[0]["input"] if isinstance(error, ValidationError) else ""
    try:
        request = json.loads(line) if isinstance(line, str | bytes) else line
        place = _half_character(request, "")
    except (ValueError, RecursionError):
        return _refused(None, PARSE_ERROR, "this line is no JSON, or is nested too deeply")
    id = request.get("id") if isinstance(request, dict) else None
    known = id if isinstance(id, str | int) and not isinstance(id, bool) else None
    if place:
        reason = f"{place} holds an unpaired surrogate (such as \\ud83d, half an emoji): send both halves"
        return _refused(known, INVALID_PARAMS, reason)
    return _refused(known, PARSE_ERROR, "this is no message of JSON-RPC 2.0")


def _refused(id: str | int | None, code: int, message: str) -> JSONRPCError:
    if isinstance(id, str) and _SURROGATE.search(id):
        id = None
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=message))


def _half_character(value: Any, place: str) -> str:
    """Where the first unpaired surrogate is, such as `params.arguments.query`; "" if there is none."""
    if isinstance(value, str):
        return (place or "the message") if _SURROGATE.search(value) else ""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in pairs:
        own = f"{place}.{name}" if place else str(name)
        if _SURROGATE.search(own):
            return place or "a name"
        if found := _half_character(one, own):
            return found
    return ""


def serve_http(server: MCPServer[Any], *, port: int, token: str) -> None:
    """Serve until stopped; without a token one is generated and printed once on standard error."""
    import uvicorn

    if not token:
        token = token_urlsafe(24)
        print(f"token: {token}", file=sys.stderr)
    print(f"http://{HOST}:{port}{PATH}", file=sys.stderr, flush=True)
    uvicorn.run(application(server, port=port, token=token), host=HOST, port=port, log_level="warning")


def application(server: MCPServer[Any], *, port: int, token: str) -> ASGIApp:
    """The server as ASGI; requires the token, and our Host and Origin against DNS rebinding."""
    names = [f"{name}:{port}" for name in (HOST, "localhost")]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        host=HOST,
        transport_security=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )
    return _Guarded(app, token=token)


class _Guarded:
    """Refuses every request without the token."""

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = Headers(scope=scope).get("authorization", "").encode()
            if not hmac.compare_digest(given, self._wanted):
                refusal = PlainTextResponse(
                    "a token is needed: Authorization: Bearer …", 401, {"WWW-Authenticate": "Bearer"}
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)
