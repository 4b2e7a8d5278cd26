"""A filter of records, and its SQL."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from store.catalog import blockers
from store.records import Facet, Tier

_FACET_TEXT = "(SELECT trim(coalesce(text ->> ?, '')) FROM sidecars WHERE hash = r.sidecar_hash)"


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on records, all of which must hold. Times are UNIX seconds of `created_at`.

    A tag or category that ends in `*` matches all with this prefix.
    """

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
    troubled: bool | None = None  # approved, and could not go on (store/catalog/blockers.py)
    suspicious: bool | None = None  # looks like another record, and nobody has said yet what it is to it
    source: str = ""  # what it was imported from
    decided_by: str = ""  # somebody who did anything to it but import it, and did not take it back …
    decided_since: int | None = None  # … at this UNIX second or later
    any_of: tuple[tuple["Filter", ...], ...] = ()  # of each of these, one at least must pass
    none_of: tuple["Filter", ...] = ()  # and none of these

    def among(self, tiers: Iterable[Tier]) -> "Filter":
        """The same filter for these tiers instead of its own."""
        return replace(self, tier=None, any_of=(*self.any_of, tuple(Filter(tier=tier) for tier in tiers)))

    @property
    def is_open(self) -> bool:
        """Whether it has no condition besides the tier."""
        return self == Filter(tier=self.tier)


def conditions(filter: Filter) -> tuple[str, list[Any]]:
    """SQL for the rows `r` of records that match, and its values."""
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
            is_start = len(label) > 1 and label.endswith("*")
            meant = "label >= ? AND label < ?" if is_start else "label = ?"
            parts.append(f"r.id {having} (SELECT record FROM labels WHERE kind = ? AND {meant})")
            values += [kind, label[:-1], f"{label[:-1]}\U0010ffff"] if is_start else [kind, label]
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
        parts.append(blockers.STANDING if filter.troubled else f"NOT {blockers.STANDING}")
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
        values.append(f"{{name ticker description caption}} : ({matching(filter.words)})")
    for choice in filter.any_of:
        made = [conditions(one) for one in choice]
        parts.append(f"({' OR '.join(f'({where})' for where, _ in made)})")
        values += [value for _, given in made for value in given]
    for one in filter.none_of:
        where, given = conditions(one)
        parts.append(f"NOT ({where})")
        values += given
    return " AND ".join(parts), values


def matching(words: str) -> str:
    """An FTS5 query: every word as a prefix, quoted text as a phrase; nothing typed is an operator.

    A `*` at the end of quoted text makes its last word a prefix.
    """
    asked = []
    for quoted, loose in re.findall(r'"([^"]*)"|([^"]+)', words):
        found = re.findall(r"\w+", quoted or loose)
        if quoted and found:
            asked.append(f'"{" ".join(found)}"{"*" if quoted.endswith("*") else ""}')
        else:
            asked += [f'"{word}"*' for word in found]
    return " ".join(asked) or '""'
