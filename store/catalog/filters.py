"""A filter of records, and the conditions that it sets."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from store.catalog import blockers, coin_sets, families, history, words
from store.disk.sqlite import marks
from store.records import COMMENTS, Facet, Tier, as_stored

# Why a record `r` is in the trash: undo and redo bring it there without naming the reason again.
REJECTED_FOR = (
    "(SELECT h.reason FROM history h WHERE h.address = r.address AND h.after ->> 'tier' = 'trash' "
    "AND h.before ->> 'tier' IS NOT 'trash' AND h.verb NOT IN ('undo', 'redo') ORDER BY h.id DESC LIMIT 1)"
)
_FACET_VALUE = "coalesce((SELECT text ->> ? FROM sidecars WHERE hash = r.sidecar_hash), '')"

# Words of `dup:` and the kinds of findings (store/duplicates/findings.py) that each means.
LIKENESSES: Mapping[str, tuple[str, ...]] = {
    "exact": ("exact picture",),
    "near": ("near picture",),
    "mirrored": ("mirrored",),
    "similar": ("similar embedding",),
    "name": ("confusable name", "same name"),
    "ticker": ("confusable ticker", "same ticker"),
}


_MARKS = "_-()% "  # in names of fields that do not count …
_IN_PATHS = f'$."{_MARKS}'  # … and in the names of all keys that lead to one


def field_name(text: str) -> str:
    """The name of a field as filters and orders compare it: in lower case, without marks."""
    return text.lower().translate({ord(mark): None for mark in _MARKS})


def _compared(name: str, *, marks: str = _MARKS) -> str:
    """SQL of `field_name`."""
    for mark in marks:
        name = f"replace({name}, '{mark}', '')"
    return f"lower({name})"


# Numbers may be texts, as tables have them; a text that is none has no digits at its beginning. A field is
# named by its key at any depth, as `h24`, or by all keys that lead to it, as `volumeh24`.
_OF_FIELD = (
    "FROM sidecars s, json_tree(s.text) j WHERE s.hash = r.sidecar_hash AND "
    "(j.type IN ('integer', 'real') OR (j.type = 'text' AND ltrim(j.value) GLOB '[-+.0-9]*')) AND "
    f"? IN ({_compared('j.key')}, iif(j.path = '$', NULL, {_compared('j.fullkey', marks=_IN_PATHS)}))"
)
_NUMBER = f"EXISTS (SELECT 1 {_OF_FIELD} AND CAST(j.value AS REAL) {{sign}} ?)"
_COMMENTED = (  # any of these spellings, since SQLite lowers the letters of English alone
    f"EXISTS (SELECT 1 FROM sidecars s, json_each(s.text, '$.{COMMENTS}') c, json_each(?) typed "
    f"WHERE s.hash = r.sidecar_hash AND instr(s.text, '{COMMENTS}') "
    "AND instr(lower(iif(c.type = 'object', c.value ->> '$.text', NULL)), lower(typed.value)))"
)
LARGEST = f"(SELECT max(CAST(j.value AS REAL)) {_OF_FIELD})"  # of a field of a row `r` of records; else null


class FacetLength(NamedTuple):
    """A range of characters of one facet's text: at least and at most, None without a limit."""

    facet: Facet
    least: int | None = None
    most: int | None = None


class NumberLimit(NamedTuple):
    """A field of the sidecar, at any depth, that must be a number above or below another."""

    field: str  # compared in lower case, without signs
    sign: Literal[">", ">=", "<", "<="]
    number: float


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on records, all of which must hold. Times are UNIX seconds of `created_at`.

    A tag or category that ends in `*` matches all with this prefix; `*` alone, every one.
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
    likeness: tuple[str, ...] = ()  # what it shares with that record most surely: one of these (LIKENESSES)
    family: str = ""  # the address, ticker or name of one of its coins (store/catalog/families.py)
    coin_set: str = ""  # the id of a selection (store/catalog/coin_sets.py) that a record must be in
    source: str = ""  # what it was imported from
    unfit: str | None = None  # for the screen: "yes", "no", or why: "hand", "nudity", "word"
    faults: tuple[str, ...] = ()  # of the picture, all of these; "yes" is any
    language: str = ""  # letters of which the texts have (store/catalog/words.py)
    picture_texts: tuple[str, ...] = ()  # words in the picture, all of these
    comments: tuple[str, ...] = ()  # what people's comments contain, all of these; "": anything
    names: tuple[str, ...] = ()  # words in the name, all of these
    ticker: str = ""  # in any case of letters; with `*` at its end, the beginning …
    address: str = ""  # … as of the address
    rejected_for: str | None = None  # the reason, in any case of letters; "": rejected without one
    decided_by: str = ""  # who did anything to it except import it, and did not undo it …
    decided_since: int | None = None  # … at this UNIX second or later
    numbers: tuple[NumberLimit, ...] = ()  # what else is known of it, as `volume`
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


@dataclass(frozen=True, slots=True)
class FilterCondition:
    """One condition on a row `r` of records: SQL, or in its place selects of row numbers, or filters."""

    sql: str = ""
    values: tuple[Any, ...] = ()
    selects: tuple[str, ...] = ()  # each "column FROM table WHERE …": a record in one of them passes …
    choices: tuple[Filter, ...] = ()  # … or a record that passes one of these
    denied: bool = False  # of selects and choices: what is in none of them passes
    is_own: bool = True  # whether it changes only together with the generation of the record, …
    reads_words: bool = False  # … or of a text in its picture
    is_listed: bool = False  # whether an index alone has the answer

    def where(self, *, of_few: bool = False) -> SqlCondition:
        """As SQL; `of_few` asks about each row instead of making a list of all that pass."""
        if self.choices:
            made = [conditions(one, of_few=of_few) for one in self.choices]
            either = " OR ".join(f"({where})" for where, _ in made)
            return f"{'NOT ' * self.denied}({either})", [value for _, values in made for value in values]
        if not self.selects:
            return self.sql, [*self.values]
        rows = (f"SELECT {one}{f' AND {one.split()[0]} = r.id' if of_few else ''}" for one in self.selects)
        return f"r.id {'NOT ' * self.denied}IN ({' UNION ALL '.join(rows)})", [*self.values]


def conditions(filter: Filter, *, of_few: bool = False) -> SqlCondition:
    """SQL for the rows `r` of records that match, and its values; `of_few` suits a few rows."""
    made = [one.where(of_few=of_few) for one in parts(filter)]
    return " AND ".join(["TRUE", *(sql for sql, _ in made)]), [value for _, own in made for value in own]


def parts(filter: Filter) -> list[FilterCondition]:
    """The conditions of a filter, all of which must hold."""
    return [*_comparisons(filter), *_words(filter), *_labels(filter), *_facets(filter), *_findings(filter),
            *_choices(filter)]  # fmt: skip


def _comparisons(filter: Filter) -> Iterator[FilterCondition]:
    """Conditions on one value each; None asks nothing."""
    length = "coalesce((SELECT length(caption) FROM words WHERE rowid = r.id), 0)"
    imported = "r.address IN (SELECT address FROM history WHERE verb = 'import' AND reason = ?)"
    for sql, value, is_listed in (
        ("r.tier = ?", filter.tier, True),
        ("r.created_at >= ?", filter.since, True),
        ("r.created_at <= ?", filter.until, True),
        ("r.captioned = ?", filter.captioned, True),
        ("r.generation <= ?", filter.unchanged_since, True),
        (f"{length} >= ?", filter.longer, False),
        (f"{length} <= ?", filter.shorter, False),
        (imported, filter.source or None, False),
    ):
        if value is not None:
            yield FilterCondition(sql, (value,), is_listed=is_listed)


def _words(filter: Filter) -> Iterator[FilterCondition]:
    by_words = "rowid FROM words WHERE words MATCH ?"
    words = filter.words.strip()
    sign = words.strip('"')
    if sign and not re.search(r"\w", sign):  # full text has no words for an emoji
        yield FilterCondition("(instr(r.ticker, ?) OR instr(r.name, ?))", (sign, sign))
    elif words:
        asked = f"{{name ticker description caption picture}} : ({matching(words)})"
        meant = as_stored(sign)
        selects = (by_words, "id FROM records WHERE address = ?")
        yield FilterCondition(values=(asked, meant), selects=selects, reads_words=True, is_listed=True)
    for column, texts in (("picture", filter.picture_texts), ("name", filter.names)):
        for text in texts:
            asked = f"{{{column}}} : ({matching(text)})"
            yield FilterCondition(values=(asked,), selects=(by_words,), reads_words=True, is_listed=True)
    for text in filter.comments:
        spellings = [text, text.lower(), text.capitalize(), text.upper()]
        yield FilterCondition(_COMMENTED, (json.dumps(spellings),))
    for column, text in (("ticker", filter.ticker), ("address", filter.address)):
        if text:
            compared, value = ("GLOB", f"{_globbed(text[:-1])}*") if text.endswith("*") else ("=", text)
            yield FilterCondition(f"lower(r.{column}) {compared} lower(?)", (value,))


def _globbed(text: str) -> str:
    """The text as a pattern that matches nothing else."""
    return re.sub(r"([*?[])", r"[\1]", text)


def _labels(filter: Filter) -> Iterator[FilterCondition]:
    """Tags and categories that a record must have, or must not have."""
    for kind, denied, labels in (
        ("tag", False, filter.tags),
        ("category", False, filter.categories),
        ("tag", True, filter.without_tags),
        ("category", True, filter.without_categories),
    ):
        for label in labels:
            is_start = label.endswith("*")
            meant = "label >= ? AND label < ?" if is_start else "label = ?"
            values = (label[:-1], f"{label[:-1]}\U0010ffff") if is_start else (label,)
            select = f"record FROM labels WHERE kind = ? AND {meant}"
            yield FilterCondition(values=(kind, *values), selects=(select,), denied=denied, is_listed=True)


def _facets(filter: Filter) -> Iterator[FilterCondition]:
    """Facets that must be written, or must not be, and how long they are."""
    for sign, facets in (("<>", filter.having), ("=", filter.lacking)):
        for facet in facets:
            yield FilterCondition(f"trim({_FACET_VALUE}) {sign} ''", (f"$.caption.{facet}",))
    for facet, least, most in filter.lengths:
        for sign, characters in ((">=", least), ("<=", most)):
            if characters is not None:
                yield FilterCondition(f"length({_FACET_VALUE}) {sign} ?", (f"$.caption.{facet}", characters))


def _findings(filter: Filter) -> Iterator[FilterCondition]:
    """Findings about a record, by the library or a person."""
    if filter.troubled is not None:
        yield FilterCondition(f"{'NOT ' * (not filter.troubled)}{blockers.STANDING}", is_own=False)
    if filter.suspicious is not None:
        select = "record FROM suspicions WHERE TRUE"
        yield FilterCondition(selects=(select,), denied=not filter.suspicious, is_own=False, is_listed=True)
    if filter.likeness:
        kinds = [kind for word in filter.likeness for kind in LIKENESSES[word]]
        select = f"record FROM suspicions WHERE kind IN ({marks(kinds)})"
        yield FilterCondition(values=tuple(kinds), selects=(select,), is_own=False, is_listed=True)
    if filter.unfit:
        of_kind = filter.unfit not in ("yes", "no")
        select = f"record FROM unfit WHERE {'kind = ?' if of_kind else 'TRUE'}"
        values, denied = ((filter.unfit,) if of_kind else ()), filter.unfit == "no"
        yield FilterCondition(values=values, selects=(select,), denied=denied, is_own=False, is_listed=True)
    for field, sign, number in filter.numbers:
        yield FilterCondition(_NUMBER.format(sign=sign), (field, number))
    for fault in filter.faults:
        meant = "fault <> ''" if fault == "yes" else "fault = ?"
        within = f"r.image_hash IN (SELECT image_hash FROM picture_faults WHERE {meant})"
        yield FilterCondition(within, () if fault == "yes" else (fault,), is_own=False)
    if filter.family:
        kin, of = families.select(filter.family)
        among = (f"record FROM ({kin}) WHERE TRUE",)
        yield FilterCondition(values=tuple(of), selects=among, is_own=False, is_listed=True)
    if filter.coin_set:
        sql, chosen = coin_sets.condition(filter.coin_set)
        yield FilterCondition(sql, tuple(chosen), is_own=False)
    if filter.language:
        written, letters = words.written_in(filter.language)
        denied = filter.language == words.LATIN
        yield FilterCondition(values=tuple(letters), selects=(written,), denied=denied, is_listed=True)
    if filter.rejected_for is not None:
        rejected = f"(r.tier = 'trash' AND coalesce({REJECTED_FOR}, '') = ? COLLATE NOCASE)"
        yield FilterCondition(rejected, (filter.rejected_for,))
    if filter.decided_by or filter.decided_since is not None:
        whose = "h.who = ? AND " if filter.decided_by else ""
        yield FilterCondition(
            f"r.address IN (SELECT h.address FROM history h WHERE {whose}h.at >= ? "
            f"AND h.verb NOT IN ('import', 'undo') AND h.decision NOT IN {history.UNDONE})",
            (*([filter.decided_by] if filter.decided_by else []), filter.decided_since or 0),
            is_own=False,
        )


def _choices(filter: Filter) -> Iterator[FilterCondition]:
    """Filters of which one must pass, or none."""
    for choices, denied in (
        *((one, False) for one in filter.any_of),
        *(((one,), True) for one in filter.none_of),
    ):
        inner = [part for choice in choices for part in parts(choice)]
        yield FilterCondition(
            choices=choices,
            denied=denied,
            is_own=all(part.is_own for part in inner),
            reads_words=any(part.reads_words for part in inner),
            is_listed=all(part.is_listed for part in inner),
        )


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
