"""A filter of records, and its SQL."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from store.catalog import blockers, coin_sets, scripts
from store.records import Facet, Tier, is_evm

# Why a record `r` is in the trash: undo and redo bring it there without naming the reason again.
REJECTED_FOR = (
    "(SELECT h.reason FROM history h WHERE h.address = r.address AND h.after ->> 'tier' = 'trash' "
    "AND h.before ->> 'tier' IS NOT 'trash' AND h.verb NOT IN ('undo', 'redo') ORDER BY h.id DESC LIMIT 1)"
)
_FACET_VALUE = "(SELECT coalesce(text ->> ?, '') FROM sidecars WHERE hash = r.sidecar_hash)"
_FACET_TEXT = f"trim({_FACET_VALUE})"


class FacetLength(NamedTuple):
    """A range of characters of one facet's text: at least and at most, None without a limit."""

    facet: Facet
    least: int | None = None
    most: int | None = None


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
    lengths: tuple[FacetLength, ...] = ()  # of single facets, one for each at most
    troubled: bool | None = None  # approved, and could not go on (store/catalog/blockers.py)
    suspicious: bool | None = None  # looks like another record, and nobody has said yet what it is to it
    coin_set: str = ""  # the id of a selection (store/catalog/coin_sets.py) that a record must be in
    source: str = ""  # what it was imported from
    unfit: str | None = None  # for the screen: "yes", "no", or why: "hand", "nudity", "word"
    language: str = ""  # letters of which the texts have (store/catalog/scripts.py)
    picture_texts: tuple[str, ...] = ()  # words that stand in the picture, each of these
    rejected_for: str | None = None  # the reason, in any case of letters; "": rejected without one
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


SqlCondition = tuple[str, list[Any]]  # SQL for a row `r` of records, and its values


def conditions(filter: Filter) -> SqlCondition:
    """SQL for the rows `r` of records that match, and its values."""
    parts = [*_comparisons(filter), *_labels(filter), *_facets(filter), *_findings(filter), *_choices(filter)]
    where = " AND ".join(["TRUE", *(sql for sql, _ in parts)])
    return where, [value for _, values in parts for value in values]


def _comparisons(filter: Filter) -> list[SqlCondition]:
    """Conditions on one value each; None asks nothing."""
    length = "(SELECT length(caption) FROM words WHERE rowid = r.id)"
    imported = "r.address IN (SELECT address FROM history WHERE verb = 'import' AND reason = ?)"
    address = filter.words.strip().strip('"')
    words = [f"{{name ticker description caption picture}} : ({matching(filter.words)})"]
    words += [address.lower() if is_evm(address) else address]
    by_words = "r.id IN (SELECT rowid FROM words WHERE words MATCH ?)"
    compared: tuple[tuple[str, str | int | None], ...] = (
        ("r.tier = ?", filter.tier),
        ("r.created_at >= ?", filter.since),
        ("r.created_at <= ?", filter.until),
        (f"{length} >= ?", filter.longer),
        (f"{length} <= ?", filter.shorter),
        ("r.captioned = ?", filter.captioned),
        ("r.generation <= ?", filter.unchanged_since),
        (imported, filter.source or None),
    )
    by_words_or_address = f"{by_words[:-1]} UNION ALL SELECT id FROM records WHERE address = ?)"
    in_words = [(by_words_or_address, words)] if filter.words.strip() else []
    in_pictures = ((by_words, f"{{picture}} : ({matching(text)})") for text in filter.picture_texts)
    return [(sql, [value]) for sql, value in (*compared, *in_pictures) if value is not None] + in_words


def _labels(filter: Filter) -> Iterator[SqlCondition]:
    """Tags and categories that a record must have, or must not have."""
    for kind, having, labels in (
        ("tag", "IN", filter.tags),
        ("category", "IN", filter.categories),
        ("tag", "NOT IN", filter.without_tags),
        ("category", "NOT IN", filter.without_categories),
    ):
        for label in labels:
            is_start = len(label) > 1 and label.endswith("*")
            meant = "label >= ? AND label < ?" if is_start else "label = ?"
            values = [label[:-1], f"{label[:-1]}\U0010ffff"] if is_start else [label]
            yield (
                f"r.id {having} (SELECT record FROM labels WHERE kind = ? AND {meant})",
                [kind, *values],
            )


def _facets(filter: Filter) -> Iterator[SqlCondition]:
    """Facets that must be written, or must not be, and how long they are."""
    for sign, facets in (("<>", filter.having), ("=", filter.lacking)):
        for facet in facets:
            yield f"{_FACET_TEXT} {sign} ''", [f"$.caption.{facet}"]
    for facet, least, most in filter.lengths:
        for sign, characters in ((">=", least), ("<=", most)):
            if characters is not None:
                yield f"length({_FACET_VALUE}) {sign} ?", [f"$.caption.{facet}", characters]


def _findings(filter: Filter) -> Iterator[SqlCondition]:
    """What the library or a person found out about a record."""
    if filter.troubled is not None:
        yield blockers.STANDING if filter.troubled else f"NOT {blockers.STANDING}", []
    if filter.suspicious is not None:
        yield f"r.id {'IN' if filter.suspicious else 'NOT IN'} (SELECT record FROM suspicions)", []
    if filter.unfit in ("yes", "no"):
        yield f"r.id {'IN' if filter.unfit == 'yes' else 'NOT IN'} (SELECT record FROM unfit)", []
    elif filter.unfit:
        yield "r.id IN (SELECT record FROM unfit WHERE kind = ?)", [filter.unfit]
    if filter.coin_set:
        yield coin_sets.condition(filter.coin_set)
    if filter.language:
        yield scripts.condition(filter.language)
    if filter.rejected_for is not None:
        yield (
            f"(r.tier = 'trash' AND coalesce({REJECTED_FOR}, '') = ? COLLATE NOCASE)",
            [filter.rejected_for],
        )
    if filter.decided_by or filter.decided_since is not None:
        whose = "h.who = ? AND " if filter.decided_by else ""
        yield (
            "r.address IN (SELECT h.address FROM history h LEFT JOIN decisions d ON d.id = h.decision "
            f"WHERE {whose}h.at >= ? AND h.verb NOT IN ('import', 'undo') AND NOT coalesce(d.reversed, 0))",
            [*([filter.decided_by] if filter.decided_by else []), filter.decided_since or 0],
        )


def _choices(filter: Filter) -> Iterator[SqlCondition]:
    """Filters of which one must pass, or none."""
    for choice in filter.any_of:
        made = [conditions(one) for one in choice]
        yield (
            f"({' OR '.join(f'({where})' for where, _ in made)})",
            [value for _, values in made for value in values],
        )
    for one in filter.none_of:
        where, values = conditions(one)
        yield f"NOT ({where})", values


def matching(words: str) -> str:
    """An FTS5 query: every word as a prefix, quoted text as a phrase; nothing typed is an operator.

    A `*` at the end of quoted text makes its last word a prefix.
    """
    terms = []
    for quoted, loose in re.findall(r'"([^"]*)"|([^"]+)', words):
        found = re.findall(r"\w+", quoted or loose)
        if quoted and found:
            terms.append(f'"{" ".join(found)}"{"*" if quoted.endswith("*") else ""}')
        else:
            terms += [f'"{word}"*' for word in found]
    return " ".join(terms) or '""'
