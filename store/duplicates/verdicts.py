"""People's verdicts on pairs of similar records; never asked again, undone like any decision."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from store.errors import InvalidRecord

Verdict = Literal["different", "copy of", "copied by", "better than", "worse than"]

# What the second is to the first, when the first is this to the second.
_SEEN_FROM_THERE: dict[Verdict, Verdict] = {
    "different": "different",
    "copy of": "copied by",
    "copied by": "copy of",
    "better than": "worse than",
    "worse than": "better than",
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """One verdict on two records, and who gave it; None: an earlier one was undone."""

    address: str
    verdict: Verdict | None  # what `address` is to `other`
    other: str
    created_at: float  # UNIX seconds
    actor: str
    decision: str
    is_undone: bool

    def seen_from(self, address: str) -> "Judgement":
        """The same verdict from the other record's side."""
        if address == self.address:
            return self
        verdict = self.verdict and _SEEN_FROM_THERE[self.verdict]
        return Judgement(
            address, verdict, self.address, self.created_at, self.actor, self.decision, self.is_undone
        )


def checked(name: str) -> Verdict:
    """The verdict of this name. Raises InvalidRecord if there is none."""
    for verdict in _SEEN_FROM_THERE:
        if verdict == name:
            return verdict
    raise InvalidRecord(f"there is no verdict {name!r}; there are {', '.join(_SEEN_FROM_THERE)}")


def record(
    db: sqlite3.Connection,
    decision: str,
    address: str,
    verdict: Verdict,
    other: str,
    *,
    actor: str,
    at: float,
) -> bool:
    """Store what `address` is to `other`; False if that is the current verdict.

    Raises InvalidRecord for an unknown verdict.
    """
    checked(verdict)
    first, second = sorted((address, other))
    after = verdict if first == address else _SEEN_FROM_THERE[verdict]
    return _note(db, decision, first, second, after, actor=actor, at=at)


def reverse(
    db: sqlite3.Connection, decision: str, *, of: str, actor: str, at: float
) -> Iterator[tuple[str, str, bool]]:
    """Undo a decision's verdicts: both addresses of each pair, False if it was judged again since."""
    for row in db.execute("SELECT * FROM verdicts WHERE decision = ? ORDER BY id DESC", [of]).fetchall():
        first, second = row["first"], row["second"]
        stands = _standing(db, first, second) == row["after"]
        if stands:
            _note(db, decision, first, second, row["before"], actor=actor, at=at)
        yield first, second, stands


def standing(db: sqlite3.Connection, address: str) -> dict[str, Judgement]:
    """The current verdicts on this record and others, by the other's address."""
    latest = {past.other: past for past in reversed(all_of(db, address))}
    return {other: past for other, past in latest.items() if past.verdict}


def all_of(db: sqlite3.Connection, address: str) -> list[Judgement]:
    """Every verdict ever given on this record, newest first."""
    rows = db.execute(
        "SELECT v.*, coalesce(d.reversed, 0) AS reversed FROM verdicts v LEFT JOIN decisions d "
        "ON d.id = v.decision WHERE v.first = ? OR v.second = ? ORDER BY v.id DESC",
        [address, address],
    )
    return [
        Judgement(
            row["first"], row["after"], row["second"], row["at"], row["who"], row["decision"],
            bool(row["reversed"]),
        ).seen_from(address)
        for row in rows
    ]  # fmt: skip


def copies(db: sqlite3.Connection) -> dict[str, str]:
    """Every record that is a copy by its current verdicts, with the record that it is a copy of."""
    rows = db.execute(
        "SELECT first, second, after FROM verdicts v WHERE after IN ('copy of', 'copied by') AND id = "
        "(SELECT max(id) FROM verdicts WHERE first = v.first AND second = v.second)"
    )
    pairs = ((row["first"], row["second"], row["after"] == "copy of") for row in rows)
    return {first if is_first else second: second if is_first else first for first, second, is_first in pairs}


def _standing(db: sqlite3.Connection, first: str, second: str) -> str | None:
    row = db.execute(
        "SELECT after FROM verdicts WHERE first = ? AND second = ? ORDER BY id DESC LIMIT 1", [first, second]
    ).fetchone()
    return row[0] if row else None


def _note(
    db: sqlite3.Connection,
    decision: str,
    first: str,
    second: str,
    after: str | None,
    *,
    actor: str,
    at: float,
) -> bool:
    before = _standing(db, first, second)
    if before == after:
        return False
    db.execute(
        "INSERT INTO verdicts (decision, first, second, at, who, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [decision, first, second, at, actor, before, after],
    )
    return True
