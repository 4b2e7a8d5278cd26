"""What people said about two records that look alike: never asked again, taken back like any decision."""

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
    """One verdict about two records, and who gave it; None: an earlier one was taken back."""

    address: str
    verdict: Verdict | None  # what `address` is to `other`
    other: str
    at: float  # UNIX seconds
    who: str
    decision: str
    is_undone: bool

    def seen_from(self, address: str) -> "Judgement":
        """The same, told of the other record."""
        if address == self.address:
            return self
        verdict = self.verdict and _SEEN_FROM_THERE[self.verdict]
        return Judgement(address, verdict, self.address, self.at, self.who, self.decision, self.is_undone)


def note(
    db: sqlite3.Connection, decision: str, address: str, verdict: Verdict, other: str, *, who: str, at: float
) -> bool:
    """Write down what `address` is to `other`; False when that is what stands already."""
    if verdict not in _SEEN_FROM_THERE:
        raise InvalidRecord(f"there is no verdict {verdict!r}; there are {', '.join(_SEEN_FROM_THERE)}")
    first, second = sorted((address, other))
    after = verdict if first == address else _SEEN_FROM_THERE[verdict]
    return _note(db, decision, first, second, after, who=who, at=at)


def reverse(
    db: sqlite3.Connection, decision: str, *, of: str, who: str, at: float
) -> Iterator[tuple[str, str, bool]]:
    """Take back what a decision said: both addresses of each pair, False if it was judged anew since."""
    for row in db.execute("SELECT * FROM verdicts WHERE decision = ? ORDER BY id DESC", [of]).fetchall():
        first, second = row["first"], row["second"]
        stands = _standing(db, first, second) == row["after"]
        if stands:
            _note(db, decision, first, second, row["before"], who=who, at=at)
        yield first, second, stands


def standing(db: sqlite3.Connection, address: str) -> dict[str, Judgement]:
    """What is said of this record and each other one, by the other's address."""
    latest = {told.other: told for told in reversed(all_of(db, address))}
    return {other: told for other, told in latest.items() if told.verdict}


def all_of(db: sqlite3.Connection, address: str) -> list[Judgement]:
    """Everything that was ever said of this record, newest first."""
    return [told.seen_from(address) for told in _events(db, "v.first = ? OR v.second = ?", address, address)]


def of_decision(db: sqlite3.Connection, decision: str) -> list[Judgement]:
    """What one decision said."""
    return _events(db, "v.decision = ?", decision)


def _events(db: sqlite3.Connection, where: str, *values: str) -> list[Judgement]:
    rows = db.execute(
        "SELECT v.*, coalesce(d.reversed, 0) AS reversed FROM verdicts v "
        f"LEFT JOIN decisions d ON d.id = v.decision WHERE {where} ORDER BY v.id DESC",
        values,
    )
    return [
        Judgement(
            row["first"], row["after"], row["second"], row["at"], row["who"], row["decision"],
            bool(row["reversed"]),
        )
        for row in rows
    ]  # fmt: skip


def _standing(db: sqlite3.Connection, first: str, second: str) -> str | None:
    row = db.execute(
        "SELECT after FROM verdicts WHERE first = ? AND second = ? ORDER BY id DESC LIMIT 1", [first, second]
    ).fetchone()
    return row[0] if row else None


def _note(
    db: sqlite3.Connection, decision: str, first: str, second: str, after: str | None, *, who: str, at: float
) -> bool:
    before = _standing(db, first, second)
    if before == after:
        return False
    db.execute(
        "INSERT INTO verdicts (decision, first, second, at, who, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [decision, first, second, at, who, before, after],
    )
    return True
