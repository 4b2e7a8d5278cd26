"""POST /login: log in by the shared password, on a server without another login.

The answer sets the cookie that Streamlit reads, so that everything else is as after any login.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit import config
from streamlit.auth_util import get_secrets_auth_section
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from components.shell import javascript, known_sessions, logins
from components.shell.base_path import base_path
from components.shell.client_address import counted_address
from store.sessions import LONGEST_WAIT, PASSWORD, Tries

LIFETIME = 7 * 86_400  # seconds of a login
LONGEST_NAME = 60  # characters
_SECRET = "server.cookieSecret"
_DEVICE = "memedex_device"  # the cookie of a browser from which somebody has logged in …
_REMEMBERED = 30 * 86_400  # … and its seconds: its tries do not wait for those of strangers

tries = Tries()

_HERE = Path(__file__).resolve().parent
_form = st.components.v2.component(
    "memedex.password",
    html='<form class="memedex-password"></form>',
    css=(_HERE / "password.css").read_text("utf-8"),
    js=javascript.component(_HERE / "password.js"),
)


def address() -> str:
    """Where the form is sent."""
    return f"{base_path()}/login"


def routes() -> list[Route]:
    """The route, for the app."""
    return [Route(address(), serve, methods=["POST"])]


def form() -> None:
    """The fields for name and password; the page is loaded again once they are accepted."""
    _form(key="memedex-password", data={"url": address(), "longest": LONGEST_NAME})


def keep_secret() -> None:
    """Sign cookies with a stored secret, so that logins by password outlast a restart."""
    if (
        known_sessions.has_password()
        and not config.is_manually_set(_SECRET)
        and not get_secrets_auth_section()
    ):
        config.set_option(_SECRET, known_sessions.sessions().cookie_secret(), "memedex")


async def serve(request: Request) -> Response:
    """Set the cookie of a login if the password is right; after wrong ones a try waits for its turn."""
    if not await run_in_threadpool(known_sessions.has_password):
        return PlainTextResponse("no password is set", 404)
    try:
        sent = json.loads(await request.body())
        name, password = " ".join(sent["name"].split()), sent["password"] + ""
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return PlainTextResponse("not a name and a password", 400)
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        return PlainTextResponse(f"Type your name, at most {LONGEST_NAME} characters.", 400)
    device = _device(request)
    place = device or counted_address(request.scope)
    wait = tries.turn(place, is_known=bool(device))
    if wait > LONGEST_WAIT:
        seconds = int(wait) + 1
        headers = {"Retry-After": str(seconds)}
        return PlainTextResponse(f"Too many tries. Try again in {seconds} s.", 429, headers=headers)
    await asyncio.sleep(wait)
    if not await run_in_threadpool(known_sessions.sessions().is_password, password):
        return PlainTextResponse("This is not the password.", 401)
    tries.succeeded(place)
    return await run_in_threadpool(_logged_in, request, name, device or secrets.token_hex(16))


def _device(request: Request) -> str:
    """The number of a browser from which somebody has logged in before; "" of any other."""
    sent = request.cookies.get(_DEVICE, "")
    known = decode_signed_value(get_cookie_secret(), _DEVICE, sent.encode("utf-8", "replace"))
    return known.decode() if known else ""


def _logged_in(request: Request, name: str, device: str) -> Response:
    now = int(time.time())
    origin = request.headers.get("origin") or f"{request.url.scheme}://{request.headers.get('host')}"
    claims: Mapping[str, Any] = {
        "is_logged_in": True, "provider": PASSWORD, "name": name, "sub": "shared password",
        "iat": now, "exp": now + LIFETIME, "nonce": secrets.token_hex(16),
    }  # fmt: skip
    client = request.client.host if request.client else ""
    logins.record(claims, address=client, browser=request.headers.get("user-agent", ""))
    signed = create_signed_value(
        get_cookie_secret(), USER_COOKIE_NAME, json.dumps({**claims, "origin": origin})
    )
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    known = create_signed_value(get_cookie_secret(), _DEVICE, device)
    for cookie, value, lifetime in ((USER_COOKIE_NAME, signed, LIFETIME), (_DEVICE, known, _REMEMBERED)):
        response.set_cookie(
            cookie,
            value.decode(),
            max_age=lifetime,
            path=base_path() or "/",
            httponly=True,
            samesite="lax",
            secure=origin.startswith("https:"),
        )
    return response
