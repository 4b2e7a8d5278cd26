"""Logins: who is logged in, until when, and which logins and sessions were ended.

Streamlit keeps a login as a signed cookie, and reads it only when a session starts. So its end is checked
here: in every run, and by every route.
"""

import json
import threading
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from starlette.requests import HTTPConnection
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import gather_user_info

from store.identity import current_user

Claims = Mapping[str, Any]  # what a login says of its person, as `st.user` has it

_TELLS_APART = ("provider", "iss", "sub", "email", "iat", "exp", "nonce", "sid")
_REMEMBERED = 40 * 86_400.0  # seconds; Streamlit's cookie lives for 31 days

_ended: dict[str, float] = {}  # sessions, and logins by their mark: when they were ended
_lock = threading.Lock()


def person(claims: Claims) -> str:
    """The login's e-mail address if there is a login, else the current user of this machine."""
    if not claims.get("is_logged_in"):
        return current_user()
    email, verified = claims.get("email"), claims.get("email_verified")
    if isinstance(email, str) and email and verified is not False:
        return email
    # Names can be chosen freely: in brackets none can be taken for somebody on the lists of people.
    return f"{claims.get('name') or 'somebody'} ({claims.get('sub') or 'unknown'})"


def mark(claims: Claims) -> str:
    """Identifies this login among all, also of the same person; "" without one.

    A login that does not say when it was made is identified by its person alone.
    """
    if not claims.get("is_logged_in"):
        return ""
    told = json.dumps([str(claims.get(name, "")) for name in _TELLS_APART])
    return sha256(told.encode()).hexdigest()[:32]


def expires(claims: Claims) -> float:
    """When the login expires, in UNIX seconds; infinite if it does not say."""
    given = claims.get("exp")
    if given is None:
        return float("inf")
    try:
        return float(given)
    except (TypeError, ValueError):
        return 0.0  # not a time in the future


def is_current(claims: Claims, *, session: str = "") -> bool:
    """Whether this login and its session are neither expired nor ended."""
    if not claims.get("is_logged_in") or not expires(claims) > time.time():
        return False
    return session not in _ended and mark(claims) not in _ended


def end(claims: Claims, *, session: str) -> None:
    """Log out: end this session and all others of the same login."""
    now = time.time()
    with _lock:
        for old in [name for name, at in _ended.items() if at < now - _REMEMBERED]:
            del _ended[old]
        if session:
            _ended[session] = now
        if claims.get("is_logged_in") and claims.get("iat") is not None:
            _ended[mark(claims)] = now


def has_ended(session: str) -> bool:
    """Whether somebody logged out in this session."""
    return session in _ended


def of_request(request: HTTPConnection) -> dict[str, Any]:
    """The claims of the login in a request's cookie; empty without one."""

    def cookie(name: str) -> bytes | None:
        raw = request.cookies.get(name)
        return decode_signed_value(get_cookie_secret(), name, raw.encode("latin-1")) if raw else None

    claims: dict[str, Any] = {}
    try:
        signed = get_cookie_with_chunks(cookie, USER_COOKIE_NAME)
        kept = json.loads(signed) if signed else None
    except (ValueError, UnicodeError):
        kept = None
    origin = request.headers.get("origin")
    if isinstance(kept, dict) and origin in (None, kept.get("origin")):
        claims = {name: value for name, value in kept.items() if name != "origin"}
    # As Streamlit does for its sessions: a proxy that was named in the settings says who it is.
    return {**claims, **gather_user_info(request.headers)}
