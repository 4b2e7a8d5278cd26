"""Similar records, what they share, and how likely they are copies; from the catalog's derived rows."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, get_args

from store.catalog import picture_rows
from store.catalog.confusables import spelling
from store.disk.sqlite_values import marks
from store.duplicates import verdicts
from store.duplicates.neighbours import NearPrint
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
MEASURED: tuple[Kind, ...] = ("near picture", "mirrored", "similar embedding")
_PICTURES: tuple[Kind, ...] = ("exact picture", *MEASURED)
_NEAREST, _PER_BIT = 0.99, 0.007  # 56 differing bits: 0.6
_TURNED = 0.95  # mirrored: symmetrical logos mirror into each other now and then


@dataclass(frozen=True, slots=True)
class DuplicateFinding:
    """One thing that two records share."""

    kind: Kind
    confidence: float  # 0 to 1
    address: str
    other: str


@dataclass(frozen=True, slots=True)
class Suspect:
    """Another record that may be the same coin or a copy, with everything that the two share."""

    address: str
    other: str
    name: str
    ticker: str
    tier: Tier
    findings: tuple[DuplicateFinding, ...]  # the surest first
    has_other_letters: bool  # whether the pictures are alike, and the text in them is not
    judgement: Judgement | None  # what was said of the two; None: nobody was asked yet

    @property
    def confidence(self) -> float:
        """Confidence from 0 to 1; several findings give more than the strongest of them."""
        return together(finding.confidence for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A record's badge: its strongest finding without a verdict."""

    kind: Kind
    confidence: float


def together(certainties: Iterable[float]) -> float:
    """The confidence, 0 to 1, of several independent findings together."""
    return 1 - prod(1 - sure for sure in certainties)


def suspects(
    db: sqlite3.Connection,
    address: str,
    *,
    near: Iterable[NearPrint] | None = None,
    similar: Mapping[str, float] | None = None,
) -> list[Suspect]:
    """Every other record that shares something with this one, most confident first.

    `near` are the similar pictures, if the catalog does not know them yet; `similar` are records whose
    pictures' vectors are close, with the confidence of that, beside those the catalog knows.
    """
    found: dict[str, tuple[sqlite3.Row, list[DuplicateFinding]]] = {}
    alike = {**_alike(db, address), **(similar or {})}
    for row, kind, sure in [*_shared(db, address, near), *_similar(db, alike)]:
        found.setdefault(row["address"], (row, []))[1].append(
            DuplicateFinding(kind, sure, address, row["address"])
        )
    verdicts_of_coin = verdicts.standing(db, address)
    result = [
        Suspect(
            address, other, row["shown"], row["shown_ticker"], row["tier"],
            tuple(sorted(findings, key=lambda finding: -finding.confidence)),
            _has_other_letters(db, address, other, findings), verdicts_of_coin.get(other),
        )
        for other, (row, findings) in found.items()
    ]  # fmt: skip
    return sorted(result, key=lambda suspect: (-suspect.confidence, suspect.other))


def _has_other_letters(
    db: sqlite3.Connection, address: str, other: str, findings: Sequence[DuplicateFinding]
) -> bool:
    if not any(finding.kind in _PICTURES for finding in findings):
        return False
    mine, theirs = picture_rows.text_at(db, address), picture_rows.text_at(db, other)
    return mine is not None and theirs is not None and _letters(mine) != _letters(theirs)


def _letters(text: str) -> str:
    """Letters and digits alone: a program reads the same line now and then with another space or dot."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def called(db: sqlite3.Connection, name: str, ticker: str) -> dict[str, list[str]]:
    """Records outside the trash that read as this name or ticker, with which of the two."""
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
    """Store a record's suspicion, and update the records that it makes suspicious."""
    row = db.execute("SELECT id FROM records WHERE address = ?", [address]).fetchone()
    if row is None:
        return
    unjudged = [suspect for suspect in suspects(db, address) if not suspect.judgement]
    db.execute("DELETE FROM suspicions WHERE record = ?", [row["id"]])
    if unjudged:
        worst = unjudged[0]
        _raise(db, address, worst.findings[0].kind, worst.confidence)
    for suspect in unjudged:
        _raise(db, suspect.other, suspect.findings[0].kind, suspect.confidence)


def suspicions(db: sqlite3.Connection, addresses: Sequence[str]) -> dict[str, Suspicion]:
    """The badges of those of these records that have one."""
    rows = db.execute(
        "SELECT r.address, s.kind, s.sure FROM records r JOIN suspicions s ON s.record = r.id "
        f"WHERE r.address IN ({marks(addresses)})",
        list(addresses),
    )
    return {row["address"]: Suspicion(row["kind"], row["sure"]) for row in rows}


def _shared(
    db: sqlite3.Connection, address: str, near: Iterable[NearPrint] | None
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


def _near(db: sqlite3.Connection, image_hash: str) -> list[NearPrint]:
    rows = db.execute("SELECT * FROM lookalikes WHERE picture = ?", [image_hash])
    return [NearPrint(row["other"], row["distance"], bool(row["mirrored"])) for row in rows]


def _alike(db: sqlite3.Connection, address: str) -> dict[str, float]:
    """The records whose pictures the model finds like this record's, with the confidence of each."""
    rows = db.execute(
        "SELECT r.address, l.sure FROM records own JOIN likenesses l ON l.picture = own.image_hash "
        "JOIN records r ON r.image_hash = l.other WHERE own.address = ? AND r.id <> own.id",
        [address],
    )
    return dict(rows.fetchall())


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


def _of(near: NearPrint) -> tuple[Kind, float]:
    sure = _NEAREST - _PER_BIT * near.distance
    return ("mirrored", sure * _TURNED) if near.is_mirrored else ("near picture", sure)


def _raise(db: sqlite3.Connection, address: str, kind: Kind, sure: float) -> None:
    db.execute(
        "INSERT INTO suspicions SELECT id, :sure, :kind FROM records WHERE address = :address "
        "ON CONFLICT DO UPDATE SET sure = excluded.sure, kind = excluded.kind WHERE excluded.sure > sure",
        {"address": address, "kind": kind, "sure": sure},
    )
