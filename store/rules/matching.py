"""The coins that rules mean now: found by their lines, compared with coins like them, and shared out.

A coin that is held for a person, or in an exception, belongs to no rule; one that was not compared with the
others yet waits until it was.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from store.catalog import advice
from store.catalog.filters import Filter, conditions
from store.disk.sqlite import marks
from store.duplicates import findings
from store.lru import LruCache
from store.reading.reader import Reader
from store.rules.rule import HELD, Act, Rule

RUN = "rule run "  # in `meta`: the rule of each decision that one made
NOW = 2**62  # an event of the history that is later than any
_SIZES = ("marketcap", "mcap", "usdmarketcap", "marketcapusd", "fdv")
_HOLDERS = ("holders", "holdercount", "holderscount", "numholders")
_DECIDED = ("approve", "reject", "delete", "return", "restore", "promote", "degrade", "undo", "redo")
_WAY: Mapping[Act, str] = {"reject": "out", "approve": "in", "keep": "in", "hold": "hold"}
_FEW = 500  # coins that are asked about one by one


@dataclass(frozen=True, slots=True)
class Match:
    """A coin that a rule means, the coins like it that its comparison names, and what is done with it."""

    address: str
    others: tuple[str, ...] = ()
    do: Act | None = None  # of the co-pilot, which says so for each coin; else the rule does …
    sure: float = 0.0  # … and how sure it is, 0.5 to 1


@dataclass(frozen=True, slots=True)
class Meeting:
    """Coins that two rules mean: which of them has them, or that neither does."""

    rule: str
    coins: tuple[str, ...]
    is_contrary: bool  # one would reject what the other approves
    goes_first: bool  # whether the other rule has them
    is_open: bool  # whether people have them, since neither rule goes first


@dataclass(frozen=True, slots=True)
class Facts:
    """What two coins of a pair are compared by; None: unknown."""

    created_at: float
    size: float | None
    holders: float | None
    approved_at: float | None


_measured: LruCache[str, tuple[float, float | None, float | None]] = LruCache(16_384)


def found(reader: Reader, rule: Rule, *, among: Collection[str] | None = None) -> list[Match]:
    """The coins that the rule means now, whatever other rules say; of `among` alone, if given."""
    if not rule.is_usable:
        return []
    chosen = _passing(reader, replace(rule.filter, none_of=(*rule.filter.none_of, *_left_alone(rule))), among)
    leave = set(rule.exceptions)
    if chosen and asks_for_copies(rule):
        leave |= _not_compared(reader, chosen)
    chosen = [address for address in chosen if address not in leave]
    if rule.do == "judge":
        return _judged(reader, rule, chosen)
    if not rule.other:
        return [Match(address) for address in chosen]
    with reader.catalog.one_moment() as db:
        alike = with_likenesses(db, chosen)
        pairs = (Match(one, compared(db, rule, one)) for one in chosen if one in alike)
        matches = [match for match in pairs if match.others]
    return _best(matches) if rule.do == "keep" else matches


def _judged(reader: Reader, rule: Rule, chosen: Collection[str]) -> list[Match]:
    """What the co-pilot settles of these coins by the promise that is the rule's, without blind ones.

    A promise is about the scores of its own version: coins wait until that has looked at them.
    """
    with reader.catalog.one_moment() as db:
        version = advice.latest(db)
        said = advice.of(db, chosen) if version else {}
    if not version:
        return []
    promised = rule.promised(version)
    return [
        Match(address, do="approve" if one.is_good else "reject", sure=one.sure)
        for address in chosen
        if (one := said.get(address)) and one.version == version.version
        if promised.settles(one.score) and not advice.is_blind(address)
    ]


def _passing(reader: Reader, filter: Filter, among: Collection[str] | None) -> list[str]:
    if among is None:
        return reader.addresses(filter)
    if len(among) > _FEW:
        asked = set(among)
        return [address for address in reader.addresses(filter) if address in asked]
    where, values = conditions(filter, of_few=True)  # as for the cards of a page, with many rules
    rows = "json_each(?) one CROSS JOIN records r ON r.address = one.value"
    found = reader.catalog.rows(
        f"SELECT r.address FROM {rows} WHERE {where}", [json.dumps([*among]), *values]
    )
    return [row[0] for row in found]


def shared_out(
    reader: Reader, rule: Rule, rules: Iterable[Rule], matches: list[Match]
) -> tuple[list[Match], list[Meeting]]:
    """What of its matches the rule has after the others, and where it meets them."""
    mine, taken, meetings = ways(rule, matches), set[str](), []
    for other in rules:
        if other.name == rule.name or not mine:
            continue
        theirs = ways(other, found(reader, other, among=mine)) if other.do != "tag" else {}
        goes_first = other.priority > rule.priority
        for is_contrary in (False, True):
            both = {one for one, way in theirs.items() if (mine[one] != way) == is_contrary}
            is_open = is_contrary and other.priority == rule.priority
            if goes_first or is_open:
                taken |= both
            if both:
                meetings.append(Meeting(other.name, tuple(sorted(both)), is_contrary, goes_first, is_open))
    return [match for match in matches if match.address not in taken], meetings


def ways(rule: Rule, matches: Iterable[Match]) -> dict[str, str]:
    """Where each coin would go; a tag sends it nowhere."""
    found = {match.address: _WAY.get(match.do or rule.do, "") for match in matches}
    return {address: way for address, way in found.items() if way}


def left_to_the_rule(reader: Reader, rule: Rule, matches: Iterable[Match]) -> list[Match]:
    """Those that a rule may settle by itself: undecided by anybody, and not blind."""
    left = [one for one in matches if not advice.is_blind(one.address)]
    rows = reader.catalog.rows(
        "SELECT DISTINCT h.address FROM json_each(?) one CROSS JOIN history h ON h.address = one.value "
        f"WHERE h.verb IN ({marks(_DECIDED)}) OR h.decision IN (SELECT substr(key, 10) FROM meta "
        "WHERE key GLOB ? AND value ->> '$.rule' = ?)",
        [json.dumps([one.address for one in left]), *_DECIDED, f"{RUN}*", rule.name],
    )
    decided = {row[0] for row in rows}
    return [one for one in left if one.address not in decided]


_OWN_EVENTS = (
    "SELECT h.* FROM meta m JOIN history h ON h.decision = substr(m.key, 10) "
    "WHERE m.key GLOB ? AND m.value ->> '$.rule' = ?"
)


def own_events(reader: Reader, rule: Rule, *, since: float) -> list[sqlite3.Row]:
    """What the rule did to coins since a moment, as events of the history."""
    return reader.catalog.rows(f"{_OWN_EVENTS} AND h.at >= ?", [f"{RUN}*", rule.name, since])


def asks_for_copies(rule: Rule) -> bool:
    """Whether it means only coins that were compared with the others."""
    return (
        bool(rule.other) or rule.do == "judge" or rule.level == "by itself" or "dup:" in rule.when.casefold()
    )


def compared(db: sqlite3.Connection, rule: Rule, address: str, *, before: int = NOW) -> tuple[str, ...]:
    """The coins like this one that are what the rule's comparison says, as of an event of the history."""
    own, others = None, []
    for other in pairs(db, address, sure=rule.sure, before=before):
        own = own or facts(db, address, before)
        theirs = facts(db, other, before)
        if own and theirs and holds(rule, own, theirs):
            others.append(other)
    return tuple(others)


def pairs(db: sqlite3.Connection, address: str, *, sure: float, before: int = NOW) -> list[str]:
    """The coins outside the trash that are like this one, as of an event of the history."""
    return [one.other for one in suspects(db, address, before=before) if one.confidence >= sure]


def suspects(db: sqlite3.Connection, address: str, *, before: int = NOW) -> list[findings.Suspect]:
    """The coins like this one that were there, outside the trash, and not judged different."""
    return [one for one, tier in in_any_tier(db, address, before=before) if tier != "trash"]


def in_any_tier(
    db: sqlite3.Connection, address: str, *, before: int = NOW
) -> Iterator[tuple[findings.Suspect, str]]:
    """The coins like this one that were there and not judged different, each with its tier then."""
    for one in findings.suspects(db, address):
        if before == NOW:
            is_apart, tier = one.judgement is not None and one.judgement.verdict == "different", one.tier
        else:
            then = _state(db, one.other, before)
            if then is None:
                continue
            tier, is_apart = then["tier"], _was_apart(db, address, one.other, before)
        if not is_apart:
            yield one, tier


def _was_apart(db: sqlite3.Connection, one: str, other: str, before: int) -> bool:
    first, second = sorted((one, other))
    row = db.execute(
        "SELECT after FROM verdicts WHERE first = ? AND second = ? "
        "AND at < (SELECT at FROM history WHERE id = ?) ORDER BY id DESC LIMIT 1",
        [first, second, before],
    ).fetchone()
    return row is not None and row[0] == "different"


def facts(db: sqlite3.Connection, address: str, before: int = NOW) -> Facts | None:
    """What is known of a coin as of an event of the history; None if it was not there."""
    state: Mapping[str, Any] | None = _state(db, address, before)
    if state is None and before == NOW:  # taken in without an event, as after a salvage
        row = db.execute("SELECT tier, sidecar_hash FROM records WHERE address = ?", [address]).fetchone()
        state = dict(row) if row else None
    if state is None:
        return None
    approved = None
    if state["tier"] in ("approved", "library"):
        (approved,) = db.execute(
            "SELECT min(at) FROM history WHERE address = ? AND id < ? "
            "AND after ->> 'tier' IN ('approved', 'library')",
            [address, before],
        ).fetchone()
    return Facts(*_measures(db, state["sidecar_hash"]), approved)


def _measures(db: sqlite3.Connection, sidecar_hash: str) -> tuple[float, float | None, float | None]:
    """When a coin was created, its size and its holders, by the hash of its sidecar."""
    found = _measured.get(sidecar_hash)
    if found is None:
        row = db.execute("SELECT text FROM sidecars WHERE hash = ?", [sidecar_hash]).fetchone()
        sidecar = json.loads(row[0]) if row else {}
        known = dict(numbers(sidecar))
        found = (
            float(sidecar.get("created_at") or 0),
            next((known[name] for name in _SIZES if name in known), None),
            next((known[name] for name in _HOLDERS if name in known), None),
        )
        if row:
            _measured[sidecar_hash] = found
    return found


def holds(rule: Rule, own: Facts, other: Facts) -> bool:
    """Whether the other coin is what the rule's comparison says; False where a number is unknown."""
    match rule.other:
        case "older":
            return other.created_at < own.created_at
        case "younger":
            return own.created_at < other.created_at
        case "larger":
            return _more(other.size, own.size)
        case "smaller":
            return _more(own.size, other.size)
        case "more holders":
            return _more(other.holders, own.holders)
        case "fewer holders":
            return _more(own.holders, other.holders)
        case "approved before":
            return _before(other.approved_at, own.approved_at)
        case "not approved before":
            return _before(own.approved_at, other.approved_at)
        case "":
            return True


def _more(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and one > other


def _before(one: float | None, other: float | None) -> bool:
    return one is not None and (other is None or one < other)


def numbers(value: Any, name: str = "") -> Iterable[tuple[str, float]]:
    """The numbers of a sidecar by their plain names, at any depth; texts that are numbers count."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, "".join(sign for sign in str(key).lower() if sign.isalnum()))
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            yield name, float(value)
        except ValueError:
            return


def _state(db: sqlite3.Connection, address: str, before: int) -> dict[str, Any] | None:
    row = db.execute(
        "SELECT after FROM history WHERE address = ? AND id < ? ORDER BY id DESC LIMIT 1", [address, before]
    ).fetchone()
    state: dict[str, Any] | None = json.loads(row[0]) if row and row[0] else None
    return state


def _left_alone(rule: Rule) -> list[Filter]:
    """Coins that wait for a person, and those that carry the tags already."""
    done = [Filter(tags=rule.tags)] if rule.do == "tag" else []
    return [Filter(tags=(HELD,)), *done]


def _not_compared(reader: Reader, among: Collection[str]) -> set[str]:
    rows = reader.catalog.rows(
        "SELECT r.address FROM json_each(?) one CROSS JOIN records r ON r.address = one.value "
        "WHERE r.id IN (SELECT record FROM unexamined)",
        [json.dumps([*among])],
    )
    return {row[0] for row in rows}


def with_likenesses(db: sqlite3.Connection, among: Collection[str]) -> set[str]:
    """Those of these coins that look like another, by what was found or by a verdict."""
    rows = db.execute(
        "SELECT r.address FROM json_each(?) one CROSS JOIN records r ON r.address = one.value "
        "WHERE r.id IN (SELECT record FROM suspicions) OR r.address IN (SELECT first FROM verdicts) "
        "OR r.address IN (SELECT second FROM verdicts)",
        [json.dumps([*among])],
    )
    return {row[0] for row in rows}


def _best(matches: list[Match]) -> list[Match]:
    """Without coins that another one is kept in place of."""
    given_up = {other for match in matches for other in match.others}
    return [match for match in matches if match.address not in given_up]
