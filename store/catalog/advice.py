"""Rows of the co-pilot: the versions of what it learned, and what it says of coins in review."""

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_KEPT = 20  # versions whose learner is kept
_BLIND = 20  # one coin in so many is always left to a person by a rule that acts by itself


@dataclass(frozen=True, slots=True)
class Version:
    """What was learned at one time."""

    version: int
    at: float  # UNIX seconds
    decisions: int  # that it learned from
    newest: int  # event of the history up to which it looked
    model: str  # whose vectors it reads
    scored: tuple[tuple[float, bool], ...]  # of the latest decisions: the score, and whether it was approved
    waiting: int = 0  # coins that waited for it
    apart: float = 0.5  # how surely these are told from what it was measured on: 0.5 not at all, 1 always


@dataclass(frozen=True, slots=True)
class Advice:
    """How likely a person approves a coin, 0 to 1, as was said at one time."""

    score: float
    at: float  # UNIX seconds
    version: int  # that said so

    @property
    def is_good(self) -> bool:
        """Whether it says that a person approves it."""
        return self.score >= 0.5

    @property
    def sure(self) -> float:
        """How sure it is of that, 0.5 to 1."""
        return max(self.score, 1 - self.score)


def is_blind(address: str) -> bool:
    """Whether a coin always goes to a person, who is not told what a rule would do: the measure of rules."""
    return zlib.crc32(address.encode()) % _BLIND == 0


def latest(db: sqlite3.Connection) -> Version | None:
    """The version in use; None before the first."""
    row = db.execute("SELECT * FROM copilots ORDER BY version DESC LIMIT 1").fetchone()
    if row is None:
        return None
    scored = tuple((float(score), bool(approved)) for score, approved in json.loads(row["scored"]))
    return Version(
        row["version"], row["at"], row["decisions"], row["newest"], row["model"], scored,
        row["waiting"], row["apart"],
    )  # fmt: skip


def versions(db: sqlite3.Connection) -> list[tuple[int, float, int]]:
    """Number, time (UNIX seconds) and decisions of each version, the newest first."""
    rows = db.execute("SELECT version, at, decisions FROM copilots ORDER BY version DESC")
    return [(row["version"], row["at"], row["decisions"]) for row in rows]


def first_at(db: sqlite3.Connection) -> float | None:
    """When the first version was learned, in UNIX seconds; None before."""
    found: float | None = db.execute("SELECT min(at) FROM copilots").fetchone()[0]
    return found


def learner(db: sqlite3.Connection, version: int) -> bytes:
    """What a version learned."""
    return bytes(db.execute("SELECT learner FROM copilots WHERE version = ?", [version]).fetchone()[0])


def store_version(db: sqlite3.Connection, made: Version, learned: bytes) -> None:
    """Store a version; of those long past only the figures stay."""
    scored = json.dumps([[round(score, 6), int(approved)] for score, approved in made.scored])
    db.execute(
        "INSERT INTO copilots VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            made.version, made.at, made.decisions, made.newest, made.model, scored, learned, made.waiting,
            made.apart,
        ],
    )  # fmt: skip
    db.execute("UPDATE copilots SET learner = x'' WHERE version <= ?", [made.version - _KEPT])


def decided_after(db: sqlite3.Connection, event: int) -> int:
    """How many times coins were approved or rejected after this event of the history, by anybody."""
    query = "SELECT count(*) FROM history WHERE id > ? AND verb IN ('approve', 'reject', 'delete')"
    return int(db.execute(query, [event]).fetchone()[0])


def unadvised(db: sqlite3.Connection, version: int, *, after: int, most: int) -> list[sqlite3.Row]:
    """So many coins in review after this row number, of which it said nothing since they changed."""
    return db.execute(
        "SELECT r.id, r.address, r.generation, r.sidecar_hash, r.image_hash FROM records r "
        "LEFT JOIN advice a ON a.address = r.address WHERE r.tier = 'pending' "
        "AND (a.address IS NULL OR a.version <> ? OR a.generation <> r.generation) "
        "AND r.id > ? AND r.id NOT IN (SELECT record FROM unexamined) ORDER BY r.id LIMIT ?",
        [version, after, most],
    ).fetchall()


def store(
    db: sqlite3.Connection, version: int, found: Iterable[tuple[str, int, float]], *, at: float
) -> None:
    """Store what a version says: address, generation and score of each coin."""
    db.executemany(
        "INSERT OR REPLACE INTO advice VALUES (?, ?, ?, ?, ?)",
        [(address, version, generation, at, score) for address, generation, score in found],
    )


def of(db: sqlite3.Connection, addresses: Collection[str]) -> dict[str, Advice]:
    """What was said of each of these coins, by their addresses."""
    rows = db.execute(
        "SELECT a.address, a.score, a.at, a.version "
        "FROM json_each(?) one CROSS JOIN advice a ON a.address = one.value",
        [json.dumps([*addresses])],
    )
    return {row["address"]: Advice(row["score"], row["at"], row["version"]) for row in rows}
