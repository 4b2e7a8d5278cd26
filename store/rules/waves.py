"""Waves: many coins of one family that arrived within an hour, to be settled as one decision.

find     the waves among what waits for review, the largest first
settle   a job that rejects the coins of one
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from store.catalog import families
from store.catalog.filters import Filter
from store.errors import InvalidRecord
from store.jobs import Job
from store.reading.reader import Reader
from store.records import Tier

if TYPE_CHECKING:
    from store.library import Library

LEAST = 10  # coins of a wave
WITHIN = 3_600.0  # seconds from the first to the last of them
REASON = "copycat"
_SURE = 0.6  # that a coin is like another, at least: a ticker alone says less
_RANK: dict[Tier, int] = {"library": 0, "approved": 0, "trash": 1, "pending": 2}


@dataclass(frozen=True, slots=True)
class Wave:
    """Coins in review that arrived together, and the coin of their family that was decided first."""

    of: str  # its address
    name: str
    since: float  # UNIX seconds: when the first arrived
    coins: tuple[str, ...]  # oldest arrival first, without that coin

    @property
    def sentence(self) -> str:
        """Such as "40 coins like Dogecoin"."""
        return f"{len(self.coins):,} coins like {self.name}"


_FRESH = f"""
SELECT r.address, r.image_hash, s.name_skeleton || char(31) || s.ticker_skeleton AS called,
    s.name_skeleton <> '' AND s.ticker_skeleton <> '' AS is_called
FROM suspicions found JOIN records r ON r.id = found.record JOIN spellings s ON s.record = r.id
WHERE r.tier = 'pending' AND found.sure >= {_SURE}
"""
_ALIKE = f"""
SELECT picture, other FROM lookalikes WHERE distance <= {families.NEAR}
    AND picture IN (SELECT value FROM json_each(:pictures))
UNION SELECT picture, other FROM likenesses WHERE sure >= {families.ALIKE}
    AND picture IN (SELECT value FROM json_each(:pictures))
"""


_ARRIVED = (
    "SELECT address, max(at) AS at FROM history WHERE verb = 'import' "
    "AND address IN (SELECT value FROM json_each(?)) GROUP BY address"
)


def find(reader: Reader) -> list[Wave]:
    """The waves among coins that wait for review and were compared with the others."""
    reader.catalog.actor.check_login()
    with reader.catalog.one_moment() as db:
        groups = [group for group in _groups(db, db.execute(_FRESH).fetchall()) if len(group) >= LEAST]
        arrivals = [db.execute(_ARRIVED, [json.dumps(group)]).fetchall() for group in groups]
    waves, known = [], list[tuple[sqlite3.Row, set[str]]]()
    for burst in chain.from_iterable(map(_bursts, arrivals)):
        came_first = burst[0]["address"]
        first, kin = next((one for one in known if came_first in one[1]), (None, set[str]()))
        if first is None:
            with reader.catalog.reading() as db:
                first = _decided_first(db, came_first)
            kin = set(reader.addresses(Filter(tier="pending", family=first["address"])))
            known.append((first, kin))
        coins = tuple(
            row["address"] for row in burst if row["address"] in kin and row["address"] != first["address"]
        )
        if len(coins) >= LEAST - 1:
            waves.append(Wave(first["address"], first["name"], burst[0]["at"], coins))
    return sorted(waves, key=lambda wave: -len(wave.coins))


def still_waiting(reader: Reader, wave: Wave) -> Wave:
    """The wave without coins that were decided since it was found."""
    rows = reader.catalog.rows(
        "SELECT address FROM records WHERE tier = 'pending' AND address IN (SELECT value FROM json_each(?))",
        [json.dumps(wave.coins)],
    )
    left = {row[0] for row in rows}
    return Wave(wave.of, wave.name, wave.since, tuple(one for one in wave.coins if one in left))


def settle(
    library: "Library",
    wave: Wave,
    *,
    leave: Collection[str] = (),
    decision: str | None = None,
    actor: str = "",
) -> Job:
    """Reject the coins of a wave, but for those to leave, as one decision. Raises InvalidRecord."""
    coins = [one for one in wave.coins if one not in set(leave)]
    if not coins:
        raise InvalidRecord(f"no coin of the wave like {wave.name} is left to reject")
    return library.jobs.start(
        "move", coins, name=f"Reject {len(coins):,} coins like {wave.name}"[:200],
        options={"verb": "reject", "reason": REASON}, decision=decision, actor=actor,
    )  # fmt: skip


def _groups(db: sqlite3.Connection, fresh: Sequence[sqlite3.Row]) -> list[list[str]]:
    """The coins, by address, in groups that share pictures, ones like them, or name and ticker."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []

    def join(one: str, other: str) -> None:
        pairs.append((numbers.setdefault(one, len(numbers)), numbers.setdefault(other, len(numbers))))

    for row in fresh:
        join(row["address"], row["image_hash"])
        if row["is_called"]:
            join(row["address"], row["called"])
    pictures = json.dumps([*{row["image_hash"] for row in fresh}])
    for picture, other in db.execute(_ALIKE, {"pictures": pictures}):
        join(picture, other)
    if not pairs:
        return []
    ends = ([one for one, _ in pairs], [other for _, other in pairs])
    links = coo_array(([1] * len(pairs), ends), shape=(len(numbers), len(numbers)))
    _, labels = connected_components(links, directed=False)
    groups = defaultdict(list)
    for row in fresh:
        groups[int(labels[numbers[row["address"]]])].append(row["address"])
    return [*groups.values()]


def _bursts(group: Iterable[sqlite3.Row]) -> Iterator[list[sqlite3.Row]]:
    """Those of these arrivals that came within an hour of each other, most first, in their order."""
    parts = [sorted(group, key=lambda row: row["at"])]
    while parts:
        part = parts.pop()
        best, start = (0, 0), 0
        for end, row in enumerate(part, 1):
            while row["at"] - part[start]["at"] > WITHIN:
                start += 1
            best = max(best, (end - start, -start))
        count, start = best[0], -best[1]
        if count >= LEAST:
            yield part[start : start + count]
            parts += part[:start], part[start + count :]


def _decided_first(db: sqlite3.Connection, address: str) -> sqlite3.Row:
    """Of the coin's family, the oldest that was approved, else rejected, else the oldest."""
    kin, of = families.select(address)
    rows = db.execute(f"SELECT address, name, tier, created_at FROM records WHERE id IN ({kin})", of)
    first: sqlite3.Row = min(
        rows.fetchall(), key=lambda row: (_RANK[row["tier"]], row["created_at"], row["address"])
    )
    return first
