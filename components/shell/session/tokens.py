"""Tokens with which pages call the app's routes: each of one library, person, session and login.

Any web page may post to this machine; only ours can know a token. It names its person but does not replace
the login: each route checks that as well, and the token ends with it.
"""

import hmac
import json
import math
import threading
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from streamlit import runtime

from components.shell.session import login as shell_login
from components.shell.session import logins
from store import Reader
from store.errors import LoginEnded, NotPermitted

LIFETIME = 12 * 3600.0  # seconds at most; each run of a page gives it one that holds longer
_STEP = 3600.0  # seconds for which it stays the same: what changes with each run is sent with each
_AFTER_THE_END = 120.0  # seconds in which a page that was closed may still deliver what it had

_seen: dict[str, float] = {}  # by a clock that is never set: when a session was last there
_lock = threading.Lock()
_clock = time.monotonic


@dataclass(frozen=True, slots=True)
class Bearer:
    """The person and session that a token was given to."""

    actor: str
    session: str
    login: str = ""  # its mark; "" without one


def token(library: Reader) -> str:
    """A token for this run's page, or outside of a run for the current user."""
    session = shell_login.session()
    claims = shell_login.claims() if session else {}
    return signed(library, actor=library.actor_name, session=session, claims=claims)


def signed(library: Reader, *, actor: str, session: str = "", claims: logins.Claims | None = None) -> str:
    """A token of this person in this session; it ends with their login."""
    login = claims or {}
    until = time.time() // _STEP * _STEP + LIFETIME
    if login.get("is_logged_in"):
        until = min(until, logins.expires(login))
    _is_there(session)
    about = {
        "library": library.id, "who": actor, "session": session, "login": logins.mark(login), "until": until,
    }  # fmt: skip
    body = urlsafe_b64encode(json.dumps(about).encode()).decode()
    return f"{body}.{_signature(library, body)}"


def bearer(library: Reader, token: object, *, claims: logins.Claims) -> Bearer:
    """Whom this token was given to; `claims` are those of the login that came with it.

    Raises NotPermitted if this library did not make it, LoginEnded if it, its session or its login is over.
    """
    body, _, signature = token.partition(".") if isinstance(token, str) else ("", "", "")
    if not hmac.compare_digest(_signature(library, body).encode(), signature.encode("utf-8", "replace")):
        raise NotPermitted("this is not from a page of this library")
    about: dict[str, Any] = json.loads(urlsafe_b64decode(body))
    if about["library"] != library.id:
        raise NotPermitted("this is from a page of another library")
    actor, session = str(about["who"]), str(about["session"])
    if about["until"] <= time.time() or logins.has_ended(session, about["login"]) or not _is_there(session):
        raise LoginEnded("this page has expired; reload it")
    if about["login"] or shell_login.is_required():
        if not shell_login.is_permitted(claims, session=session):
            raise LoginEnded("the login of this page has ended; reload it and log in")
        if about["login"] != logins.mark(claims) or actor != logins.person(claims):
            raise NotPermitted("this page belongs to another user; reload it")
    return Bearer(actor, session, str(about["login"]))


def is_open(session: str) -> bool:
    """Whether this session's page is open now; without a session or a server, it is."""
    return not session or not runtime.exists() or runtime.get_instance().is_active_session(session)


def _is_there(session: str) -> bool:
    """Whether this session's page is open, or was a moment ago, when it may still have something to send."""
    now = _clock()
    with _lock:
        last = _seen.get(session, -math.inf)
        if is_open(session):
            for old in [one for one, at in _seen.items() if at < now - _AFTER_THE_END]:
                del _seen[old]
            _seen[session] = now
            return True
        return last > now - _AFTER_THE_END


def _signature(library: Reader, body: str) -> str:
    return hmac.new(library.secret, f"page {body}".encode("utf-8", "replace"), sha256).hexdigest()
