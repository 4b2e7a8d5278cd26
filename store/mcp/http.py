"""Streamable HTTP on loopback for clients that have the token, and for no page of a browser."""

import hmac
import sys
from secrets import token_urlsafe
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
PATH = "/mcp"


def serve(server: MCPServer[Any], *, port: int, token: str) -> None:
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
