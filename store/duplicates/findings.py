"""Who looks like whom, by what, and how sure that is; asked of the catalog's derived rows."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, get_args

from store.duplicates import verdicts
from store.duplicates.names import spelling
from store.duplicates.neighbours import Near
from store.duplicates.verdicts import Judgement
from store.records import Tier

Kind = Literal[
    "exact picture", "near picture", "mirrored", "confusable name", "same name", "similar embedding",
    "confusable ticker", "same ticker",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST = 200  # others of one kind: a ticker that everybody uses says little

# How likely two coins that share this, and nothing else, are one coin or a copy. Pictures: measured
# (docs/duplicates.md); names and tickers: a changed letter is on purpose, the same word may be chance.
_CERTAINTY: dict[Kind, float] = {
    "exact picture": 1.0,
    "confusable name": 0.8,
    "same name": 0.7,
    "confusable ticker": 0.5,
    "same ticker": 0.4,
}
_WORDS: tuple[tuple[str, Kind, Kind], ...] = (
    ("name", "same name", "confusable name"),
    ("ticker", "same ticker", "confusable ticker"),
)
_NEAREST, _PER_BIT = 0.99, 0.007  # 56 differing bits: 0.6
_TURNED = 0.95  # mirrored: symmetrical logos mirror into each other now and then


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that two records share."""

    kind: Kind
    sure: float  # 0 to 1
    address: str
    other: str


@dataclass(frozen=True, slots=True)
class Suspect:
    """Another record that may be the same coin or a copy, with everything the two share."""

    address: str
    other: str
    name: str
    ticker: str
    tier: Tier
    findings: tuple[Finding, ...]  # the surest first
    judgement: Judgement | None  # what was said of the two; None: nobody was asked yet

    @property
    def sure(self) -> float:
        """0 to 1; what agrees in several ways is surer than the surest of them."""
        return together(finding.sure for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What a badge says of a record: its surest finding that nobody judged yet."""

    kind: Kind
    sure: float


def together(certainties: Iterable[float]) -> float:
    """0 to 1: how sure several independent findings are, taken as one."""
    return 1 - prod(1 - sure for sure in certainties)


def suspects(
    db: sqlite3.Connection,
    address: str,
    *,
    near: Iterable[Near] | None = None,
    similar: Mapping[str, float] | None = None,
) -> list[Suspect]:
    """Every other record that shares something with this one, the surest first.

    `near` are the pictures that look like its own, where the catalog does not know them yet; `similar` other
    records whose picture's embedding is, and how sure that makes it.
    """
    found: dict[str, tuple[sqlite3.Row, list[Finding]]] = {}
    for row, kind, sure in [*_shared(db, address, near), *_similar(db, similar or {})]:
        found.setdefault(row["address"], (row, []))[1].append(Finding(kind, sure, address, row["address"]))
    said = verdicts.standing(db, address)
    result = [
        Suspect(
            address, other, row["shown"], row["shown_ticker"], row["tier"],
            tuple(sorted(findings, key=lambda finding: -finding.sure)), said.get(other),
        )
        for other, (row, findings) in found.items()
    ]  # fmt: skip
    return sorted(result, key=lambda suspect: (-suspect.sure, suspect.other))


def called(db: sqlite3.Connection, name: str, ticker: str) -> dict[str, list[str]]:
    """The records, but for the trash, that read as this name or ticker, with which of the two it is."""
    spelt = spelling(name, ticker)
    found: dict[str, list[str]] = {}
    for what, plain, skeleton in (
        ("name", spelt.name, spelt.name_skeleton),
        ("ticker", spelt.ticker, spelt.ticker_skeleton),
    ):
        rows = db.execute(
            "SELECT r.address FROM records r JOIN spellings s ON s.record = r.id "
            f"WHERE s.{what}_skeleton = ? AND ? <> '' AND r.tier <> 'trash' LIMIT {MOST}",
            [skeleton, plain],
        )
        for row in rows:
            found.setdefault(row["address"], []).append(what)
    return found


def weigh(db: sqlite3.Connection, address: str) -> None:
    """Write down how suspicious a record is now, and let those it makes more suspicious know."""
    row = db.execute("SELECT id FROM records WHERE address = ?", [address]).fetchone()
    if row is None:
        return
    unjudged = [suspect for suspect in suspects(db, address) if not suspect.judgement]
    db.execute("DELETE FROM suspicions WHERE record = ?", [row["id"]])
    if unjudged:
        worst = unjudged[0]
        _raise(db, address, worst.findings[0].kind, worst.sure)
    for suspect in unjudged:
        _raise(db, suspect.other, suspect.findings[0].kind, suspect.sure)


def suspicions(db: sqlite3.Connection, addresses: Sequence[str]) -> dict[str, Suspicion]:
    """What a badge says of each of these records that has one."""
    marks = ", ".join("?" * len(addresses))
    rows = db.execute(
        "SELECT r.address, s.kind, s.sure FROM records r JOIN suspicions s ON s.record = r.id "
        f"WHERE r.address IN ({marks})",
        list(addresses),
    )
    return {row["address"]: Suspicion(row["kind"], row["sure"]) for row in rows}


def _shared(
    db: sqlite3.Connection, address: str, near: Iterable[Near] | None
) -> Iterator[tuple[sqlite3.Row, Kind, float]]:
    own = db.execute(
        "SELECT r.id, r.image_hash, s.* FROM records r JOIN spellings s ON s.record = r.id "
        "WHERE r.address = ?",
        [address],
    ).fetchone()
    if own is None:
        return
    for row in _others(db, own, "r.image_hash = ?", own["image_hash"]):
        yield row, "exact picture", _CERTAINTY["exact picture"]
    for one in _near(db, own["image_hash"]) if near is None else near:
        if one.image_hash != own["image_hash"]:
            kind, sure = _of(one)
            for row in _others(db, own, "r.image_hash = ?", one.image_hash):
                yield row, kind, sure
    for what, same, confusable in _WORDS:
        if own[what]:
            for row in _others(db, own, f"s.{what}_skeleton = ?", own[f"{what}_skeleton"]):
                kind = same if row[what] == own[what] else confusable
                yield row, kind, _CERTAINTY[kind]


def _others(db: sqlite3.Connection, own: sqlite3.Row, where: str, value: str) -> list[sqlite3.Row]:
    return db.execute(
        "SELECT r.address, r.name AS shown, r.ticker AS shown_ticker, r.tier, s.name, s.ticker "
        f"FROM records r JOIN spellings s ON s.record = r.id WHERE {where} AND r.id <> ? LIMIT {MOST}",
        [value, own["id"]],
    ).fetchall()


def _near(db: sqlite3.Connection, image_hash: str) -> list[Near]:
    rows = db.execute("SELECT * FROM lookalikes WHERE picture = ?", [image_hash])
    return [Near(row["other"], row["distance"], bool(row["mirrored"])) for row in rows]


def _similar(
    db: sqlite3.Connection, similar: Mapping[str, float]
) -> Iterator[tuple[sqlite3.Row, Kind, float]]:
    for other, sure in similar.items():
        row = db.execute(
            "SELECT address, name AS shown, ticker AS shown_ticker, tier FROM records WHERE address = ?",
            [other],
        ).fetchone()
        if row:
            yield row, "similar embedding", sure


def _of(near: Near) -> tuple[Kind, float]:
    sure = _NEAREST - _PER_BIT * near.distance
    return ("mirrored", sure * _TURNED) if near.is_mirrored else ("near picture", sure)


def _raise(db: sqlite3.Connection, address: str, kind: Kind, sure: float) -> None:
    db.execute(
        "INSERT INTO suspicions SELECT id, :sure, :kind FROM records WHERE address = :address "
        "ON CONFLICT DO UPDATE SET sure = excluded.sure, kind = excluded.kind WHERE excluded.sure > sure",
        {"address": address, "kind": kind, "sure": sure},
    )
