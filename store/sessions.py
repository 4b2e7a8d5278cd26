"""Logins of a root's dashboard, and its shared password (argon2id) with how many tries there are.

`LoginSessions` are in `sessions.sqlite3` next to the library, not in it: backups do not contain them, and a
restored library revives no login. Each use opens the file for a moment, since the command line may write too.
"""

import contextlib
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from store.disk.sqlite import connect
from store.disk.sqlite_identity import identify
from store.errors import ForeignFile, InvalidRecord, UnknownSession
from store.permissions import OPERATOR, Actor

SHORTEST = 10  # characters
FREE = 5  # wrong passwords from one address that cost no time …
SLOWEST = 12.0  # … each further one twice as long as the one before, from a second up to this: 7,200 a day
FREE_OF_ALL = 60  # of all addresses together …
EACH_OF_ALL = 1.0  # … and then one each second: 86,400 a day
LONGEST_WAIT = 30.0  # seconds in a queue; later tries are told to come again
_FORGOTTEN = 900.0  # seconds without a try of this address
_LONGEST_PASSWORD = 1_000  # characters; no person types more

_hasher = PasswordHasher()  # RFC 9106's second recommendation: 64 MiB, three passes
_one_at_a_time = threading.Lock()  # each takes 64 MiB
PASSWORD = "password"  # the provider of logins by the shared password

_SESSIONS_ID = int.from_bytes(b"Mmds", "big")
_KEPT = 40 * 86_400.0  # seconds; Streamlit's cookie lives for 31 days
_LONGEST = 300  # characters of what a browser says about itself
_SCHEMA = f"""
CREATE TABLE sessions (
    login TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    provider TEXT NOT NULL,
    address TEXT NOT NULL,
    browser TEXT NOT NULL,
    began REAL NOT NULL,
    seen REAL NOT NULL,
    expires REAL,
    ended REAL,
    ended_by TEXT NOT NULL DEFAULT ''
);
CREATE TABLE named (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA application_id = {_SESSIONS_ID};
PRAGMA user_version = 1;
"""
_END = """
INSERT INTO sessions (login, person, provider, address, browser, began, seen, ended, ended_by)
VALUES (?, ?, '', '', '', ?, ?, ?, ?)
ON CONFLICT (login) DO UPDATE SET
    ended = coalesce(ended, excluded.ended),
    ended_by = CASE WHEN ended IS NULL THEN excluded.ended_by ELSE ended_by END
"""


def hash_password(text: str) -> str:
    """The stored hash of a password, with its own salt."""
    with _one_at_a_time:
        return _hasher.hash(text)


def matches_hash(password_hash: str, text: str) -> bool:
    """Whether this password matches the hash; the time it takes does not depend on how near it is."""
    if len(text) > _LONGEST_PASSWORD:
        return False
    try:
        with _one_at_a_time:
            return _hasher.verify(password_hash, text)
    except (VerificationError, InvalidHashError):
        return False


@dataclass(slots=True)
class _Tries:
    """The tries from one address since the last right one."""

    count: int = 0
    free_at: float = 0.0  # when the next one has its turn


class Tries:
    """Slows tries down, by address and all together; each waits its turn, also with the right password."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._by_address: dict[str, _Tries] = {}
        self._all_free_at = float("-inf")  # earlier by the tries of all that are free
        self._lock = threading.Lock()

    def turn(self, address: str, *, is_known: bool = False) -> float:
        """Count a try of this address; returns the seconds after which it has its turn.

        If they are more than LONGEST_WAIT, the try is not counted and has no turn. `is_known`: the address is
        a browser with an earlier login; it does not wait for strangers.
        """
        now = self._clock()
        with self._lock:
            for old in [each for each, its in self._by_address.items() if its.free_at < now - _FORGOTTEN]:
                del self._by_address[old]
            own = self._by_address.get(address) or _Tries()
            at = max(now, own.free_at)
            if not is_known:
                at = max(at, self._all_free_at)
            if at - now > LONGEST_WAIT:
                return at - now
            own.count += 1
            own.free_at = at + (min(SLOWEST, 2.0 ** min(own.count - FREE, 10)) if own.count >= FREE else 0.0)
            self._by_address[address] = own
            if not is_known:
                self._all_free_at = max(self._all_free_at, now - FREE_OF_ALL * EACH_OF_ALL) + EACH_OF_ALL
        return at - now

    def succeeded(self, address: str) -> None:
        """Forget the tries of an address that knows the password."""
        with self._lock:
            self._by_address.pop(address, None)


@dataclass(frozen=True, slots=True)
class LoginSession:
    """One login in one browser; times in UNIX seconds."""

    login: str  # identifies it among all
    person: str
    provider: str
    address: str
    browser: str
    began: float
    seen: float
    expires: float | None = None
    ended: float | None = None
    ended_by: str = ""

    @property
    def id(self) -> str:
        """What people call it by; too short to guess a login from."""
        return self.login[:8]

    def is_over(self, now: float) -> bool:
        """Whether it was ended or has expired."""
        return self.ended is not None or (self.expires is not None and self.expires <= now)


class LoginSessions:
    """The logins of a root's dashboard, and its shared password."""

    def __init__(self, root: Path, *, actor: Actor = OPERATOR) -> None:
        self.path = root / "sessions.sqlite3"
        self._actor = actor

    def record(self, session: LoginSession) -> None:
        """Store a login, or that it was seen again; one that has ended stays so."""
        with self._writing() as db:
            db.execute("DELETE FROM sessions WHERE max(seen, coalesce(ended, 0)) < ?", [session.seen - _KEPT])
            db.execute(
                "INSERT INTO sessions (login, person, provider, address, browser, began, seen, expires) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (login) DO UPDATE SET "
                "person = excluded.person, address = excluded.address, browser = excluded.browser, "
                "seen = excluded.seen, expires = excluded.expires",
                [
                    session.login, session.person, session.provider, session.address,
                    session.browser[:_LONGEST], session.began, session.seen, session.expires,
                ],
            )  # fmt: skip

    def all(self) -> list[LoginSession]:
        """Every login of the last 40 days, latest first. Raises NotPermitted unless an administrator."""
        self._actor.permit_administration()
        with self._reading() as db:
            rows = db.execute("SELECT * FROM sessions ORDER BY seen DESC").fetchall() if db else []
        return [LoginSession(**dict(row)) for row in rows]

    def end(self, id: str) -> LoginSession:
        """End the login with this id, in all its tabs; returns it. Raises UnknownSession or NotPermitted."""
        found = [one for one in self.all() if id and one.login.startswith(id)]
        if len(found) != 1:
            raise UnknownSession(f"no session has the id {id!r}" if not found else f"{id!r} names several")
        (session,) = found
        self.end_login(session.login, ended_by=self._actor.name)
        return session

    def end_all(self) -> int:
        """End every login; returns how many. Raises NotPermitted unless an administrator."""
        active = [one for one in self.all() if not one.is_over(time.time())]
        for session in active:
            self.end_login(session.login, ended_by=self._actor.name)
        return len(active)

    def end_login(self, login: str, *, ended_by: str) -> None:
        """End a login by its full mark, which only its own browser knows: a logout."""
        now = time.time()
        with self._writing() as db:
            db.execute(_END, [login, ended_by, now, now, now, ended_by])

    def ended(self) -> frozenset[str]:
        """The marks of the logins that were ended."""
        with self._reading() as db:
            rows = db.execute("SELECT login FROM sessions WHERE ended IS NOT NULL") if db else []
            return frozenset(row[0] for row in rows)

    @property
    def has_password(self) -> bool:
        """Whether people can log in by a shared password."""
        return bool(self._named("password"))

    def set_password(self, text: str) -> None:
        """Let people log in by this password, nobody by ""; ends earlier logins. Raises InvalidRecord."""
        self._actor.permit_administration()
        if text and len(text) < SHORTEST:
            raise InvalidRecord(f"a password has at least {SHORTEST} characters")
        hashed = hash_password(text) if text else ""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO named VALUES ('password', ?)", [hashed])
            db.execute(
                "UPDATE sessions SET ended = ?, ended_by = ? WHERE provider = ? AND ended IS NULL",
                [time.time(), self._actor.name, PASSWORD],
            )

    def is_password(self, text: str) -> bool:
        """Whether this is the shared password; takes as long for a wrong one."""
        return matches_hash(self._named("password"), text)

    def cookie_secret(self) -> str:
        """What signs the cookies of logins by the password, the same after a restart."""
        with self._writing() as db:
            db.execute("INSERT OR IGNORE INTO named VALUES ('cookie secret', ?)", [secrets.token_hex(32)])
        return self._named("cookie secret")

    def _named(self, name: str) -> str:
        with self._reading() as db:
            row = db.execute("SELECT value FROM named WHERE name = ?", [name]).fetchone() if db else None
        return str(row[0]) if row else ""

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """The file, or None if there is none: looking leaves no trace."""
        if not self._is_made():
            yield None
            return
        with closing(connect(self.path)) as db:
            yield db

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        is_new = not self._is_made()
        if is_new and not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                self.path.touch(mode=0o600, exist_ok=False)  # it holds the secret of the cookies
        with closing(connect(self.path)) as db:
            db.execute("BEGIN IMMEDIATE")
            if is_new and not db.execute("PRAGMA user_version").fetchone()[0]:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    db.execute(statement)
            yield db
            db.execute("COMMIT")

    def _is_made(self) -> bool:
        found = identify(self.path)
        if found is not None and found.application_id != _SESSIONS_ID:
            raise ForeignFile(
                f"{self.path} is {found.summary}; move it away, Memedex keeps its sessions there"
            )
        return found is not None
