"""Second opinions: a share of people's decisions is asked again of another person, blind.

    asked           the decisions that one person is asked about
    answer          record what that person says; nothing moves by it
    opinions        every second opinion beside the first decision, with what settled it
    settle          decide for good where two people disagree
    agreement       how alike people decide, by pair, reason and month

Only the share is stored: what people say are events of the history, so that one undo takes each back.
"""

import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Literal, Self
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from store.catalog import history
from store.catalog.catalog import next_generation, writing_errors
from store.errors import InvalidRecord
from store.outcome import Outcome, Refusal
from store.permissions import AGENTS
from store.reading.reader import Reader
from store.records import COMMENTS, Record, Tier
from store.rules import past
from store.rules.learning import wilson
from store.rules.past import Decided as Decided
from store.rules.past import Said

if TYPE_CHECKING:
    from store.library import Library

DAYS = 90  # so old may a decision be that is asked again
FEW = 20  # second opinions that a figure needs
_A_DAY = 86_400  # seconds
_KEY = "second opinions"  # of the share, in `meta`
Settling = Literal["settle approve", "settle reject"]
_DRAWS = 2_000  # of the bootstrap
_SHARED_PASSWORD = " (shared password)"  # ends the names of those who logged in by it

_AMONG = "address IN (SELECT value FROM json_each(?))"
_ANSWERS = "('second approve', 'second reject')"
_OPINIONS = f"""
WITH gone AS MATERIALIZED (SELECT * FROM {history.UNDONE})
SELECT a.address, r.name, r.tier, a.decision, a.verb, a.reason, a.who, a.at,
    f.after ->> 'tier' AS first_tier, f.reason AS first_reason, f.who AS first_who, f.at AS first_at,
    s.verb AS settled, s.reason AS settled_reason, s.who AS settled_who, s.at AS settled_at
FROM history a JOIN records r ON r.address = a.address
JOIN history f ON f.id = (
    SELECT max(id) FROM history WHERE address = a.address AND id < a.id
    AND verb IN ('approve', 'reject', 'delete') AND before ->> 'tier' = 'pending' AND {past.PEOPLE})
LEFT JOIN history s ON s.id = (
    SELECT max(id) FROM history WHERE address = a.address AND id > a.id
    AND verb IN ('settle approve', 'settle reject') AND decision NOT IN gone)
WHERE a.verb IN {_ANSWERS} AND a.decision NOT IN gone AND f.decision NOT IN gone ORDER BY a.id DESC
"""
_DECIDED = (
    "SELECT address, decision FROM history WHERE at >= ? AND verb IN ('approve', 'reject', 'delete') "
    "AND before ->> 'tier' = 'pending'"
)
_ANSWERED = (  # by coin, the last answer that stands
    f"SELECT address, max(id) FROM history WHERE verb IN {_ANSWERS} "
    f"AND {_AMONG} AND decision NOT IN {history.UNDONE} GROUP BY address"
)
_ANSWERED_SINCE = (  # … of one coin, after an event
    "SELECT 1 FROM history h JOIN decisions d ON d.id = h.decision WHERE h.address = ? AND h.id > ? "
    f"AND h.verb IN {_ANSWERS} AND NOT ({history.IS_UNDONE})"
)


@dataclass(frozen=True, slots=True)
class Share:
    """How many decisions are asked again, and who said so."""

    percent: float  # 0: none
    actor: str = ""
    at: float = 0.0  # UNIX seconds


@dataclass(frozen=True, slots=True)
class Answer:
    """What one person said of a coin."""

    said: Said
    reason: str
    actor: str
    at: float  # UNIX seconds

    @property
    def sentence(self) -> str:
        """Such as "rejected by ann: copycat"."""
        return f"{self.said} by {self.actor}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True, slots=True)
class Opinion:
    """A decision that was asked again."""

    address: str
    name: str
    tier: Tier
    first: Answer
    second: Answer
    settled: Answer | None

    @property
    def agrees(self) -> bool:
        """Whether both would approve, or reject, whatever their reasons."""
        return self.first.said == self.second.said

    @property
    def is_open(self) -> bool:
        """Whether the two disagree, and nobody has decided since."""
        return not self.agrees and self.settled is None and past.said(self.tier) == self.first.said


def share(reader: Reader) -> Share:
    """How many decisions are asked again."""
    stored = reader.catalog.meta(_KEY)
    return Share(**json.loads(stored)) if stored else Share(0.0)


def set_share(library: "Library", percent: float, *, actor: str = "") -> Share:
    """Set how many percent of decisions are asked again, 0 for none. Raises InvalidRecord."""
    if not 0 <= percent <= 100:
        raise InvalidRecord("the share of decisions that is asked again is from 0 to 100 %")
    made = Share(percent, actor or library.actor_name, time.time())
    value = {"percent": made.percent, "actor": made.actor, "at": made.at}
    with writing_errors("the share of second opinions"), library.catalog.writing() as db:
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_KEY, json.dumps(value)])
        next_generation(db)  # pages show otherwise what they ask about
    return made


def drawn(reader: Reader, *, among: Collection[str] | None = None, now: float | None = None) -> list[Decided]:
    """The decisions of the last 90 days that somebody is to be asked about again; `among` these coins alone.

    A hash of coin and decision draws them, and gives their order, which so says nothing of what was decided.
    """
    percent = share(reader).percent
    if not percent:
        return []
    since = (time.time() if now is None else now) - DAYS * _A_DAY
    which, named = ("TRUE", []) if among is None else (_AMONG, [json.dumps([*among])])
    rows = reader.catalog.rows(f"{_DECIDED} AND {which}", [since, *named])
    chosen = {row["address"] for row in rows if _draw(*row) < percent}
    if not chosen:
        return []
    answered = dict(map(tuple, reader.catalog.rows(_ANSWERED, [json.dumps([*chosen])])))
    left = [
        one
        for one in past.decided(reader, since=since, among=chosen)
        if _draw(one.address, one.decision) < percent
        and one.was == one.said
        and answered.get(one.address, 0) < one.event
    ]
    return sorted(left, key=lambda one: _draw(one.address, one.decision))


def asked(reader: Reader, who: str = "", *, among: Collection[str] | None = None) -> dict[str, Decided]:
    """What this person (else the reader's) is asked about again, by address; nothing for a viewer."""
    if not reader.catalog.actor.can_write:
        return {}
    person = _person(who or reader.actor_name)
    return {one.address: one for one in drawn(reader, among=among) if _person(one.actor) != person}


def as_decided(reader: Reader, one: Decided) -> Record:
    """The coin as it was in review, without captions and other people's comments, which may tell the rest."""
    text, record = reader.sidecar_text(one.before.sidecar_hash), reader.get(one.address)
    sidecar = json.loads(text) if text else record.sidecar
    me = _person(reader.actor_name)
    own = [said for said in record.comments if _person(str(said["who"])) == me]
    sidecar = {key: value for key, value in sidecar.items() if key not in ("caption", COMMENTS)}
    sidecar |= {COMMENTS: own} if own else {}
    return Record(sidecar, "pending", record.revision, one.before.image_hash)


def answer(
    library: "Library",
    addresses: Sequence[str],
    says: Said,
    *,
    reason: str = "",
    actor: str = "",
    decision: str | None = None,
) -> Outcome:
    """Record what a person says who was asked about these coins again; nothing moves by it.

    Coins are refused that the person is not asked about, or that somebody has answered since. Raises
    InvalidRecord for an agent.
    """
    who = actor or library.actor_name
    if fnmatch(who, AGENTS):
        raise InvalidRecord("a second opinion is a person's: log in to give it")
    first = {one.address: one for one in drawn(library)}
    mine = {address for address, one in first.items() if _person(one.actor) != _person(who)}

    def obstacle(db: sqlite3.Connection, address: str) -> str:
        if address not in first:
            return "nobody is asked about it again, or somebody has answered"
        if address not in mine:
            return "you decided it yourself: another person is asked"
        answered = db.execute(_ANSWERED_SINCE, [address, first[address].event]).fetchone()
        return "another person has just answered" if answered else ""

    return library.note(
        "second approve" if says == "approved" else "second reject",
        addresses, reason=reason, obstacle=obstacle, actor=actor, decision=decision,
    )  # fmt: skip


def opinions(reader: Reader) -> list[Opinion]:
    """Every decision that was asked again and stands, the latest answer first."""
    return [
        Opinion(
            row["address"], row["name"], row["tier"],
            Answer(past.said(row["first_tier"]), row["first_reason"], row["first_who"], row["first_at"]),
            Answer(_said(row["verb"]), row["reason"], row["who"], row["at"]),
            Answer(_said(row["settled"]), row["settled_reason"], row["settled_who"], row["settled_at"])
            if row["settled"] else None,
        )
        for row in reader.catalog.rows(_OPINIONS, past.OF_PEOPLE)
    ]  # fmt: skip


def settle(
    library: "Library",
    addresses: Sequence[str],
    says: Said,
    *,
    reason: str = "",
    actor: str = "",
    decision: str | None = None,
) -> Outcome:
    """Decide for good about coins on which two people disagree, as one decision.

    Those move that were decided otherwise at first. The co-pilot learns what is said here in place of that.
    """
    decision, outcome = decision or uuid4().hex, Outcome()
    with library.catalog.reading() as db:
        done = history.of_decision(db, decision, among=addresses)
    contested = {one.address: one for one in opinions(library) if one.is_open}
    moves, stays = list[str](), [*done]
    for address in dict.fromkeys(addresses):
        if address in contested:
            (stays if contested[address].first.said == says else moves).append(address)
        elif address not in done:
            outcome.refused.append(Refusal(address, "nobody disagrees about it, or it was settled"))
    verb: Settling = "settle approve" if says == "approved" else "settle reject"
    if stays:
        outcome.add(library.note(verb, stays, reason=reason, actor=actor, decision=decision))
    if moves:
        outcome.add(library.move(verb, moves, reason=reason, actor=actor, decision=decision))
    return outcome


@dataclass(frozen=True, slots=True)
class Agreement:
    """How alike people decided, of one pair, reason or month."""

    of: str
    opinions: int
    agreed: int
    alpha: float | None  # at most 1; None: too few, or all were decided alike, so that it says nothing
    interval: tuple[float, float] | None  # of 95 %

    @property
    def missing(self) -> int:
        """How many more second opinions it needs."""
        return max(0, FEW - self.opinions)

    @property
    def share(self) -> float:
        """The share that was decided alike, 0 to 1."""
        return self.agreed / self.opinions if self.opinions else 0.0

    @property
    def sentence(self) -> str:
        """The figures in words."""
        low, high = (100 * one for one in wilson(self.agreed, self.opinions))
        said = f"{self.agreed:,} of {self.opinions:,} alike"
        if self.missing:
            return f"{said}; {self.missing:,} more second opinions are needed to say how well people agree"
        said += f" ({low:.0f} to {high:.0f} %)"
        if self.alpha is None or self.interval is None:
            return f"{said}; all were decided in one way, which tells nothing of agreement"
        return f"{said}; alpha {self.alpha:.2f} ({self.interval[0]:.2f} to {self.interval[1]:.2f})"

    @classmethod
    def among(cls, of: str, found: Sequence[tuple[str, str]], *, counted: Sequence[tuple[str, str]]) -> Self:
        """The agreement of these pairs of values; how many of them are `counted`, and are equal."""
        alike = sum(one == other for one, other in counted)
        if len(counted) < FEW:
            return cls(of, len(counted), alike, None, None)
        values = sorted({value for pair in found for value in pair})
        table = np.zeros((len(values), len(values)))
        for one, other in found:
            table[values.index(one), values.index(other)] += 1
        if len(values) < 2:
            return cls(of, len(counted), alike, None, None)
        return cls(of, len(counted), alike, float(alpha(table)), interval(table))


@dataclass(frozen=True, slots=True)
class Agreements:
    """How alike people decide."""

    whole: Agreement
    people: tuple[Agreement, ...]  # "ann · ben"
    reasons: tuple[Agreement, ...]  # of rejections: one reason against everything else
    months: tuple[Agreement, ...]  # of the second opinions, the latest first


def agreement(found: Sequence[Opinion]) -> Agreements:
    """How alike people decide, by these second opinions."""

    def by(name: Callable[[Opinion], str]) -> list[Agreement]:
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in found:
            groups.setdefault(name(one), []).append((one.first.said, one.second.said))
        return [Agreement.among(of, pairs, counted=pairs) for of, pairs in groups.items()]

    said = [(one.first.said, one.second.said) for one in found]
    given = [(_reason(one.first), _reason(one.second)) for one in found]
    reasons = []
    for reason in {reason for pair in given for reason in pair if reason}:
        pairs = [("" if one != reason else one, "" if other != reason else other) for one, other in given]
        reasons.append(Agreement.among(reason, pairs, counted=[pair for pair in pairs if any(pair)]))
    people = by(lambda one: " · ".join(sorted((one.first.actor, one.second.actor), key=str.casefold)))
    months = by(lambda one: time.strftime("%Y-%m", time.gmtime(one.second.at)))
    return Agreements(
        Agreement.among("", said, counted=said),
        tuple(sorted(people, key=lambda one: (-one.opinions, one.of))),
        tuple(sorted(reasons, key=lambda one: (-one.opinions, one.of))),
        tuple(sorted(months, key=lambda one: one.of, reverse=True)),
    )


def alpha(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Krippendorff's alpha for nominal values, of how often (…, k, k) the first said i and the second j.

    α = 1 - Dₒ/Dₑ (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability"): with two values a coin
    Dₒ is the share of coins with two different ones; Dₑ = 1 - Σ n_c (n_c - 1) / (n (n - 1)) is that of all
    pairs among the n values, n_c of each. NaN where there is one value alone.
    """
    coins = table.sum(axis=(-2, -1))
    of, all_values = table.sum(axis=-1) + table.sum(axis=-2), 2 * coins
    expected = 1 - (of * (of - 1)).sum(axis=-1) / (all_values * (all_values - 1))
    observed = 1 - np.trace(table, axis1=-2, axis2=-1) / coins
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def interval(table: NDArray[np.float64]) -> tuple[float, float]:
    """Where alpha lies by 95 of 100: the coins drawn 2,000 times with replacement, by one seed."""
    coins = int(table.sum())
    shares = table.ravel() / coins
    again = np.random.default_rng(0).multinomial(coins, shares, size=_DRAWS)
    low, high = np.nanpercentile(alpha(again.reshape(_DRAWS, *table.shape).astype(np.float64)), [2.5, 97.5])
    return float(low), float(high)


def _reason(answer: Answer) -> str:
    return "" if answer.said == "approved" else answer.reason or "no reason"


def _said(verb: str) -> Said:
    return "rejected" if verb.endswith("reject") else "approved"


def _draw(address: str, decision: str) -> float:
    """From 0 to 100, the same for ever."""
    return zlib.crc32(f"{address} {decision}".encode()) % 10_000 / 100


def _person(name: str) -> str:
    """One name for one person, however they logged in."""
    return name.casefold().removesuffix(_SHARED_PASSWORD)
