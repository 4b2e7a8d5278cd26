"""Similar records, what they share, and how likely they are copies; and people's verdicts on them.

    Suspicion, suspects     what records share, from the catalog's derived rows
    Judgement               a verdict on a pair of similar records
    judge, undo_verdicts    give verdicts, and undo them

A pair that was judged is never asked about again. No file changes with a verdict, so that one transaction
gives it, or takes it back.
"""

import json
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, get_args

from store.catalog import history, picture_rows
from store.catalog.catalog import Catalog, next_generation
from store.catalog.confusables import spelling
from store.disk.sqlite import marks, not_written
from store.duplicates.fingerprints import NearPrint
from store.errors import InvalidRecord
from store.operations import DecisionIntent
from store.outcome import Outcome, Refusal
from store.records import Tier

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


def checked_verdict(name: str) -> Verdict:
    """The verdict of this name. Raises InvalidRecord if there is none."""
    for verdict in _SEEN_FROM_THERE:
        if verdict == name:
            return verdict
    raise InvalidRecord(f"there is no verdict {name!r}; there are {', '.join(_SEEN_FROM_THERE)}")


def record_verdict(
    db: sqlite3.Connection,
    decision: str,
    address: str,
    verdict: Verdict,
    other: str,
    *,
    actor: str,
    at: float,
) -> bool:
    """Store what `address` is to `other`; False if that is so already. Raises InvalidRecord."""
    checked_verdict(verdict)
    first, second = sorted((address, other))
    after = verdict if first == address else _SEEN_FROM_THERE[verdict]
    return _note_verdict(db, decision, first, second, after, actor=actor, at=at)


def reverse_verdict(
    db: sqlite3.Connection, decision: str, *, of: str, actor: str, at: float
) -> Iterator[tuple[str, str, bool]]:
    """Undo a decision's verdicts: both addresses of each pair, False if it was judged again since."""
    for row in db.execute("SELECT * FROM verdicts WHERE decision = ? ORDER BY id DESC", [of]).fetchall():
        first, second = row["first"], row["second"]
        is_current = _standing_verdict(db, first, second) == row["after"]
        if is_current:
            _note_verdict(db, decision, first, second, row["before"], actor=actor, at=at)
        yield first, second, is_current


def standing_verdicts(db: sqlite3.Connection, address: str) -> dict[str, Judgement]:
    """The current verdicts on this record and others, by the other's address."""
    latest = {past.other: past for past in reversed(all_verdicts(db, address))}
    return {other: past for other, past in latest.items() if past.verdict}


def all_verdicts(db: sqlite3.Connection, address: str) -> list[Judgement]:
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


def copies_by_verdict(db: sqlite3.Connection) -> dict[str, str]:
    """Every record that is a copy by its current verdicts, with the record that it is a copy of."""
    rows = db.execute(
        "SELECT first, second, after FROM verdicts v WHERE after IN ('copy of', 'copied by') AND id = "
        "(SELECT max(id) FROM verdicts WHERE first = v.first AND second = v.second)"
    )
    pairs = ((row["first"], row["second"], row["after"] == "copy of") for row in rows)
    return {first if is_first else second: second if is_first else first for first, second, is_first in pairs}


def _standing_verdict(db: sqlite3.Connection, first: str, second: str) -> str | None:
    row = db.execute(
        "SELECT after FROM verdicts WHERE first = ? AND second = ? ORDER BY id DESC LIMIT 1", [first, second]
    ).fetchone()
    return row[0] if row else None


def _note_verdict(
    db: sqlite3.Connection,
    decision: str,
    first: str,
    second: str,
    after: str | None,
    *,
    actor: str,
    at: float,
) -> bool:
    before = _standing_verdict(db, first, second)
    if before == after:
        return False
    db.execute(
        "INSERT INTO verdicts (decision, first, second, at, who, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [decision, first, second, at, actor, before, after],
    )
    return True


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
_MEASURED: tuple[Kind, ...] = ("near picture", "mirrored", "similar embedding")
_PICTURES: tuple[Kind, ...] = ("exact picture", *_MEASURED)
_NEAREST, _PER_BIT = 0.99, 0.007  # 56 differing bits: 0.6
_TURNED = 0.95  # mirrored: symmetrical logos mirror into each other now and then


@dataclass(frozen=True, slots=True)
class DuplicateFinding:
    """One thing that two records share."""

    kind: Kind
    confidence: float  # 0 to 1
    address: str
    other: str

    @property
    def is_measured(self) -> bool:
        """Whether the pictures were compared: two coins that share it may be more or less alike."""
        return self.kind in _MEASURED


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
    judgement: Judgement | None  # a person's verdict on the two; None: not judged yet

    @property
    def confidence(self) -> float:
        """Confidence from 0 to 1; several findings give more than the strongest of them."""
        return together(finding.confidence for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A record's badge: its strongest finding without a verdict, and the records it was found with."""

    kind: Kind
    confidence: float
    others: tuple[Suspect, ...] = ()


def together(certainties: Iterable[float]) -> float:
    """The confidence, 0 to 1, of several independent findings together."""
    return 1 - prod(1 - sure for sure in certainties)


def suspects(
    db: sqlite3.Connection,
    address: str,
    *,
    near: Iterable[NearPrint] | None = None,
    similar: Mapping[str, float] | None = None,
    among: Collection[str] | None = None,
) -> list[Suspect]:
    """Every other record that shares something with this one, most confident first.

    With `among`, only these. `near` are the similar pictures, if the catalog does not know them yet;
    `similar` are records whose pictures' vectors are close, with the confidence of that, in addition to those
    the catalog knows.
    """
    found: dict[str, tuple[sqlite3.Row, list[DuplicateFinding]]] = {}
    alike = {**_alike(db, address), **(similar or {})}
    if among is not None:
        alike = {other: sure for other, sure in alike.items() if other in among}
    for row, kind, sure in [*_shared(db, address, near, among), *_similar(db, alike)]:
        found.setdefault(row["address"], (row, []))[1].append(
            DuplicateFinding(kind, sure, address, row["address"])
        )
    verdicts_of_coin = standing_verdicts(db, address)
    texts = picture_rows.texts_at(db, [address, *found])
    result = [
        Suspect(
            address, other, row["shown"], row["shown_ticker"], row["tier"],
            tuple(sorted(findings, key=lambda finding: -finding.confidence)),
            _has_other_letters(texts, address, other, findings), verdicts_of_coin.get(other),
        )
        for other, (row, findings) in found.items()
    ]  # fmt: skip
    return sorted(result, key=lambda suspect: (-suspect.confidence, suspect.other))


def _has_other_letters(
    texts: Mapping[str, str], address: str, other: str, findings: Sequence[DuplicateFinding]
) -> bool:
    are_read = address in texts and other in texts and any(one.kind in _PICTURES for one in findings)
    return are_read and _letters(texts[address]) != _letters(texts[other])


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
    unjudged = _unjudged(db, address)
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
    return {
        row["address"]: Suspicion(row["kind"], row["sure"], tuple(_unjudged(db, row["address"])))
        for row in rows.fetchall()
    }


def _unjudged(db: sqlite3.Connection, address: str) -> list[Suspect]:
    return [suspect for suspect in suspects(db, address) if not suspect.judgement]


def _shared(
    db: sqlite3.Connection,
    address: str,
    near: Iterable[NearPrint] | None,
    among: Collection[str] | None,
) -> Iterator[tuple[sqlite3.Row, Kind, float]]:
    own = db.execute(
        "SELECT r.id, r.image_hash, s.* FROM records r JOIN spellings s ON s.record = r.id "
        "WHERE r.address = ?",
        [address],
    ).fetchone()
    if own is None:
        return
    chosen = None if among is None else json.dumps([*among])
    for row in _others(db, own, "r.image_hash = ?", own["image_hash"], chosen):
        yield row, "exact picture", _CERTAINTY["exact picture"]
    near = sorted(_near(db, own["image_hash"]) if near is None else near, key=lambda one: one.distance)
    prints = {one.image_hash: of_print(one) for one in near if one.image_hash != own["image_hash"]}
    pictures = "r.image_hash IN (SELECT value FROM json_each(?))"
    for row in _others(db, own, pictures, json.dumps([*prints]), chosen) if prints else ():
        yield row, *prints[row["image_hash"]]
    for what, same, confusable in _WORDS:
        if own[what]:
            for row in _others(db, own, f"s.{what}_skeleton = ?", own[f"{what}_skeleton"], chosen):
                kind = same if row[what] == own[what] else confusable
                yield row, kind, _CERTAINTY[kind]


def _others(
    db: sqlite3.Connection, own: sqlite3.Row, where: str, value: str, chosen: str | None
) -> list[sqlite3.Row]:
    only = "AND r.address IN (SELECT value FROM json_each(?))" if chosen is not None else f"LIMIT {MOST}"
    return db.execute(
        "SELECT r.address, r.image_hash, r.name AS shown, r.ticker AS shown_ticker, r.tier, s.name, s.ticker "
        f"FROM records r JOIN spellings s ON s.record = r.id WHERE {where} AND r.id <> ? {only}",
        [value, own["id"], *([chosen] if chosen is not None else [])],
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


def of_print(near: NearPrint) -> tuple[Kind, float]:
    """What kind of finding a similar picture is, and how sure, 0 to 1."""
    sure = _NEAREST - _PER_BIT * near.distance
    return ("mirrored", sure * _TURNED) if near.is_mirrored else ("near picture", sure)


def _raise(db: sqlite3.Connection, address: str, kind: Kind, sure: float) -> None:
    db.execute(
        "INSERT INTO suspicions SELECT id, :sure, :kind FROM records WHERE address = :address "
        "ON CONFLICT DO UPDATE SET sure = excluded.sure, kind = excluded.kind WHERE excluded.sure > sure",
        {"address": address, "kind": kind, "sure": sure},
    )


def judge(
    catalog: Catalog, address: str, verdict: Verdict, others: Iterable[str], *, decision: DecisionIntent
) -> Outcome:
    """Store the verdict on a record and each of the others; it replaces earlier verdicts of a pair."""
    outcome, others = Outcome(), list(dict.fromkeys(others))
    try:
        with catalog.writing() as db:
            now, is_new = time.time(), False
            for other in others:
                if reason := _obstacle(db, address, other):
                    outcome.refused.append(Refusal(other, reason))
                    continue
                is_new |= record_verdict(
                    db, decision.id, address, verdict, other, actor=decision.actor, at=now
                )
                outcome.done.append(other)
            if is_new:
                history.record_decision(db, decision.id, verb=decision.verb, actor=decision.actor, at=now)
                _settle(db, [address, *outcome.done])
                outcome.decision = decision.id
    except (OSError, sqlite3.Error) as error:
        return _refused(others, error)
    return outcome


def undo_verdicts(catalog: Catalog, decision: DecisionIntent, outcome: Outcome) -> bool:
    """Restore the verdicts before the decision that this one reverses; False if the disk refused.

    Verdicts given since stay and are reported.
    """
    assert decision.reverses
    touched: dict[str, None] = {}
    refused = []
    try:
        with catalog.writing() as db:
            now = time.time()
            for first, second, is_done in reverse_verdict(
                db, decision.id, of=decision.reverses, actor=decision.actor, at=now
            ):
                if is_done:
                    touched |= {first: None, second: None}
                else:
                    reason = f"it was judged again with {second} since; {decision.verb} would lose that"
                    refused.append(Refusal(first, reason))
            if touched:
                history.record_decision(db, decision.id, verb=decision.verb, actor=decision.actor, at=now)
                history.record_reversal(db, decision.id, of=decision.reverses)
                _settle(db, touched)
    except (OSError, sqlite3.Error) as error:
        outcome.refused += _refused([decision.reverses], error).refused
        return False
    outcome.refused += refused
    if touched:
        outcome.done += touched
        outcome.decision = decision.id
    return True


def _refused(items: Iterable[str], error: Exception) -> Outcome:
    return Outcome(refused=[Refusal(item, str(not_written(error, str(error)))) for item in items])


def _obstacle(db: sqlite3.Connection, address: str, other: str) -> str:
    if address == other:
        return "a record is not compared with itself"
    for one in (address, other):
        if not db.execute("SELECT 1 FROM records WHERE address = ?", [one]).fetchone():
            return f"no record has the address {one}"
    return ""


def _settle(db: sqlite3.Connection, addresses: Iterable[str]) -> None:
    next_generation(db)
    for address in dict.fromkeys(addresses):
        weigh(db, address)
