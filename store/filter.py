"""Which records are meant: a filter, and what it says in SQL."""

import re
from dataclasses import dataclass
from typing import Any

from store import troubles
from store.records import Facet, Tier

_FACET_TEXT = "(SELECT trim(coalesce(text ->> ?, '')) FROM sidecars WHERE hash = r.sidecar_hash)"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which records; every part given must hold. Times are UNIX seconds of `created_at`."""

    tier: Tier | None = None
    words: str = ""
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    without_categories: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    captioned: bool | None = None
    unchanged_since: int | None = None  # a generation: what was added or changed after it does not pass
    having: tuple[Facet, ...] = ()  # facets that must be written
    lacking: tuple[Facet, ...] = ()
    longer: int | None = None  # characters of the whole caption, at least …
    shorter: int | None = None  # … and at most
    troubled: bool | None = None  # approved, and could not go on (store/troubles.py)
    suspicious: bool | None = None  # looks like another record, and nobody has said yet what it is to it
    source: str = ""  # what it was imported from
    decided_by: str = ""  # somebody who did anything to it but import it, and did not take it back …
    decided_since: int | None = None  # … at this UNIX second or later

    @property
    def is_open(self) -> bool:
        """Whether everything passes, but for the tier."""
        return self == Filter(tier=self.tier)


def conditions(filter: Filter) -> tuple[str, list[Any]]:
    """SQL that holds for the rows `r` of records that pass, and its values."""
    parts: list[str] = ["TRUE"]
    values: list[Any] = []
    if filter.tier:
        parts.append("r.tier = ?")
        values.append(filter.tier)
    for kind, having, labels in (
        ("tag", "IN", filter.tags),
        ("category", "IN", filter.categories),
        ("tag", "NOT IN", filter.without_tags),
        ("category", "NOT IN", filter.without_categories),
    ):
        for label in labels:
            parts.append(f"r.id {having} (SELECT record FROM labels WHERE kind = ? AND label = ?)")
            values += [kind, label]
    if filter.since is not None:
        parts.append("r.created_at >= ?")
        values.append(filter.since)
    if filter.until is not None:
        parts.append("r.created_at <= ?")
        values.append(filter.until)
    for word, facets in (("<>", filter.having), ("=", filter.lacking)):
        for facet in facets:
            parts.append(f"{_FACET_TEXT} {word} ''")
            values.append(f"$.caption.{facet}")
    for sign, length in ((">=", filter.longer), ("<=", filter.shorter)):
        if length is not None:
            parts.append(f"(SELECT length(caption) FROM words WHERE rowid = r.id) {sign} ?")
            values.append(length)
    if filter.captioned is not None:
        parts.append("r.captioned = ?")
        values.append(int(filter.captioned))
    if filter.unchanged_since is not None:
        parts.append("r.generation <= ?")
        values.append(filter.unchanged_since)
    if filter.troubled is not None:
        parts.append(troubles.STANDING if filter.troubled else f"NOT {troubles.STANDING}")
    if filter.suspicious is not None:
        parts.append(f"r.id {'IN' if filter.suspicious else 'NOT IN'} (SELECT record FROM suspicions)")
    if filter.source:
        parts.append("r.address IN (SELECT address FROM history WHERE verb = 'import' AND reason = ?)")
        values.append(filter.source)
    if filter.decided_by or filter.decided_since is not None:
        whose = "h.who = ? AND " if filter.decided_by else ""
        parts.append(
            "r.address IN (SELECT h.address FROM history h LEFT JOIN decisions d ON d.id = h.decision "
            f"WHERE {whose}h.at >= ? AND h.verb NOT IN ('import', 'undo') AND NOT coalesce(d.reversed, 0))"
        )
        values += [filter.decided_by] if filter.decided_by else []
        values.append(filter.decided_since or 0)
    if filter.words.strip():
        parts.append("r.id IN (SELECT rowid FROM words WHERE words MATCH ?)")
        values.append(matching(filter.words))
    return " AND ".join(parts), values


def matching(words: str) -> str:
    """Every word as the beginning of one, what is quoted as it stands; nothing typed is an FTS5 operator."""
    asked = []
    for quoted, loose in re.findall(r'"([^"]*)"|([^"]+)', words):
        found = re.findall(r"\w+", quoted or loose)
        asked += [f'"{" ".join(found)}"'] if quoted and found else [f'"{word}"*' for word in found]
    return " ".join(asked) or '""'
