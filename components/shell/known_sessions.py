"""What the file of the sessions says, read at most once a second, since every request asks."""

import logging
import sqlite3
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from store.errors import MemedexError
from store.permissions import OPERATOR, Actor
from store.sessions import LoginSession, LoginSessions
from store.settings import settings

log = logging.getLogger(__name__)

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
_lock = threading.Lock()


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
    with _lock:
        _known = _KnownSessions(Path(), float("-inf"))


def record_seen(session: LoginSession) -> None:
    """Store that a login was seen, at most once a minute; it is valid without that, too."""
    with _lock:
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
    with _lock:
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
