"""Logins: who is logged in, until when, and which logins and sessions were ended.

Streamlit keeps a login as a signed cookie, and reads it only when a session starts. So its end is checked
here: in every run, and by every route.
"""

import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.requests import HTTPConnection
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import gather_user_info

from store import OPERATOR, Actor, MemedexError, current_user
from store.sessions import LoginSession, LoginSessions
from store.settings import settings

log = logging.getLogger(__name__)

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


def actor(name: str, claims: Claims, *, is_logged_in: Callable[[], bool] = lambda: True) -> Actor:
    """The person with the permissions of this login, if there is one."""
    given = dict(claims) if claims.get("is_logged_in") else None
    return Actor(name, is_logged_in=is_logged_in, claims=given, via="page")


def mark(claims: Claims) -> str:
    """Identifies this login among all, also of the same person; "" without one.

    A login that does not say when it was made is identified by its person alone.
    """
    if not claims.get("is_logged_in"):
        return ""
    identity = json.dumps([str(claims.get(name, "")) for name in _TELLS_APART])
    return sha256(identity.encode()).hexdigest()[:32]


def expires(claims: Claims) -> float:
    """When the login expires, in UNIX seconds; infinite if it does not say."""
    expiry = claims.get("exp")
    if expiry is None:
        return float("inf")
    try:
        return float(expiry)
    except (TypeError, ValueError):
        return 0.0  # not a time in the future


def is_current(claims: Claims, *, session: str = "") -> bool:
    """Whether this login and its session are neither expired nor ended."""
    if not claims.get("is_logged_in") or not expires(claims) > time.time():
        return False
    return not has_ended(session, mark(claims))


def end(claims: Claims, *, session: str) -> None:
    """Log out: end this session and all others of the same login."""
    now = time.monotonic()
    with _lock:
        for old in [name for name, at in _ended.items() if at < now - _REMEMBERED]:
            del _ended[old]
        if session:
            _ended[session] = now
        if not claims.get("is_logged_in") or claims.get("iat") is None:
            return
        _ended[mark(claims)] = now
    try:
        sessions().end_login(mark(claims), ended_by=person(claims))
    except (MemedexError, OSError, sqlite3.Error) as error:
        log.warning("a logout is known to this server only until it is restarted: %s", error)
    invalidate()


def has_ended(session: str, login: str) -> bool:
    """Whether somebody logged out in this session, or this login was ended in any tab or process."""
    return session in _ended or bool(login and (login in _ended or login in ended()))


def record(claims: Claims, *, address: str, browser: str) -> None:
    """List this login among the sessions."""
    if claims.get("iat") is None:  # it cannot be told from another login of the same person
        return
    now, until = time.time(), expires(claims)
    record_seen(
        LoginSession(
            login=mark(claims),
            person=person(claims),
            provider=str(claims.get("provider") or ""),
            address=address,
            browser=browser,
            began=_seconds(claims["iat"], otherwise=now),
            seen=now,
            expires=until if until < float("inf") else None,
        )
    )


def _seconds(seconds: object, *, otherwise: float) -> float:
    return float(seconds) if isinstance(seconds, int | float) else otherwise


def of_request(request: HTTPConnection) -> dict[str, Any]:
    """The claims of the login in a request's cookie; empty without one."""

    def cookie(name: str) -> bytes | None:
        raw = request.cookies.get(name)
        return decode_signed_value(get_cookie_secret(), name, raw.encode("latin-1")) if raw else None

    claims: dict[str, Any] = {}
    try:
        signed = get_cookie_with_chunks(cookie, USER_COOKIE_NAME)
        stored_claims = json.loads(signed) if signed else None
    except (ValueError, UnicodeError):
        stored_claims = None
    origin = request.headers.get("origin")
    if isinstance(stored_claims, dict) and origin in (None, stored_claims.get("origin")):
        claims = {name: value for name, value in stored_claims.items() if name != "origin"}
    # As Streamlit does for its sessions: a proxy that was named in the settings says who it is.
    return {**claims, **gather_user_info(request.headers)}


# What the file of the sessions says is read at most once a second, since every request asks.
_FRESH = 1.0  # seconds
_SEEN_EVERY = 60.0  # seconds between two notes that a login was seen


@dataclass(frozen=True, slots=True)
class _KnownSessions:
    root: Path
    read_at: float
    ended: frozenset[str] = frozenset()
    has_password: bool = False


_known = _KnownSessions(Path(), float("-inf"))
_seen: dict[str, float] = {}  # logins, and when they were noted
_known_lock = threading.Lock()


def sessions(actor: Actor = OPERATOR) -> LoginSessions:
    """The sessions of this server's root."""
    return LoginSessions(settings().root, actor=actor)


def ended() -> frozenset[str]:
    """The marks of the logins that were ended, by anybody and anywhere."""
    return _read().ended


def has_password() -> bool:
    """Whether people can log in by a shared password."""
    return _read().has_password


def invalidate() -> None:
    """Read the file at the next question: something was changed here."""
    global _known
    with _known_lock:
        _known = _KnownSessions(Path(), float("-inf"))


def record_seen(session: LoginSession) -> None:
    """Store that a login was seen, at most once a minute; it is valid without that, too."""
    with _known_lock:
        if _seen.get(session.login, 0.0) > session.seen - _SEEN_EVERY:
            return
        for old in [login for login, at in _seen.items() if at < session.seen - _SEEN_EVERY]:
            del _seen[old]
        _seen[session.login] = session.seen
    try:
        sessions().record(session)
    except (MemedexError, OSError, sqlite3.Error) as error:
        log.warning("a login is not listed among the sessions: %s", error)


def _read() -> _KnownSessions:
    global _known
    root, now = settings().root, time.monotonic()
    with _known_lock:
        if _known.root == root and now < _known.read_at + _FRESH:
            return _known
        before = _known if _known.root == root else _KnownSessions(root, now)
        try:
            file = LoginSessions(root)
            _known = _KnownSessions(root, now, ended=file.ended(), has_password=file.has_password)
        except (MemedexError, OSError, sqlite3.Error) as error:
            log.warning("ended sessions cannot be read; those known before stay ended: %s", error)
            _known = _KnownSessions(root, now, ended=before.ended, has_password=before.has_password)
        return _known
