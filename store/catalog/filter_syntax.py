"""Lines of conditions, such as `tag:dog -tag:nsfw (category:animals OR moon*)`, as filters, and back."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import get_close_matches

from store.catalog.filter_conditions import CHANGES, DENIED, NO_REASON, TIER, Change, with_number, with_words
from store.catalog.filters import Filter
from store.catalog.query_grammar import (
    AllOf,
    AnyOf,
    Condition,
    Dialect,
    MarkedPart,
    Node,
    Not,
    Phrase,
    Word,
    is_starred,
    leaves,
    parse,
)
from store.catalog.query_grammar import written as written_tree

KEYS = (
    "tag", "category", "name", "ticker", "address", "before", "after", "has", "length", "words", "dup",
    "text", "unfit", "faults", "language", "source", "reason", "by", "decided", "set", "family", "comment",
)  # fmt: skip
_ALIKE = 0.6  # how near a key has to be to be meant, of 1
ME = "me"  # of `by:`: the current user
MAX_CONDITIONS = 200  # of a line: SQLite takes expressions of a limited depth
_NEED_VALUE = (
    "tag", "category", "name", "ticker", "address", "words", "text", "source", "reason", "by", "family",
    "comment",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """The filter of a line, what of it was not understood (`faults`), and corrections (`hints`)."""

    filter: Filter
    faults: list[str] = field(default_factory=list)
    hints: tuple[str, ...] = ()


def parsed(line: str, *, base: Filter | None = None, actor: str = ME) -> Line:
    """`base` narrowed by the line. Never raises: what is not understood is reported and left out.

    With faults, the filter lets more through than was meant, so nothing must be done to all that match.
    `actor` is the person meant by `by:me`.
    """
    read = parse(line)
    filter, faults = narrowed(base or Filter(), read.tree.items, actor=actor)
    return Line(filter, faults, (*read.faults, *read.hints))


def narrowed(base: Filter, items: Iterable[Node], *, actor: str = ME) -> tuple[Filter, list[str]]:
    """`base` with these conditions added, and what of them is not understood."""
    items = tuple(items)
    conditions = [leaf for item in items if not isinstance(item, Word) for leaf in leaves(item)]
    if len(conditions) > MAX_CONDITIONS:
        return base, [f"This line has more than {MAX_CONDITIONS} conditions."]
    faults: list[str] = []
    return _Narrowing(actor, base.tier is None, faults).all(base, items), faults


class _Narrowing:
    """Adds the conditions of a tree to a filter, and collects faults."""

    def __init__(self, actor: str, names_tier: bool, faults: list[str]) -> None:
        self._who = actor
        self._names_tier = names_tier  # a page about one tier has said it
        self._faults = faults

    def all(self, filter: Filter, items: Iterable[Node]) -> Filter:
        for item in items:
            narrowed = self._one(filter, item)
            if isinstance(narrowed, str):
                self._faults.append(narrowed)
            else:
                filter = narrowed
        return filter

    def _one(self, filter: Filter, item: Node) -> Filter | str:
        """The filter with one more condition, or the fault."""
        if isinstance(item, Word):
            return with_words(filter, item.text)
        if isinstance(item, Phrase):
            return with_words(filter, f'"{item.text}"')
        if isinstance(item, Condition):
            return self._condition(filter, item)
        if isinstance(item, Not) and isinstance(item.item, Condition) and item.item.key in DENIED:
            return self._condition(filter, item.item, changes=DENIED)
        if isinstance(item, Not):
            inner = self._inner(item.item)
            return filter if inner == Filter() else replace(filter, none_of=(*filter.none_of, inner))
        if isinstance(item, AnyOf):
            choice = tuple(map(self._inner, item.items))
            return filter if Filter() in choice else replace(filter, any_of=(*filter.any_of, choice))
        if isinstance(item, AllOf):
            return self.all(filter, item.items)
        return "A part with a weight, a sign or facets cannot be in parentheses or combined with OR."

    def _inner(self, item: Node) -> Filter:
        """The filter of a group, a negation or an alternative."""
        if any(isinstance(leaf, Condition) and leaf.key == TIER for leaf in leaves(item)):
            self._faults.append("tier: cannot be negated, in parentheses or combined with OR.")
            return Filter()
        inner = _Narrowing(self._who, names_tier=False, faults=self._faults)
        return inner.all(Filter(), (item,))

    def _condition(
        self, filter: Filter, item: Condition, *, changes: Mapping[str, Change] = CHANGES
    ) -> Filter | str:
        key, value = item.key, item.value
        if key not in KEYS and not (key == TIER and self._names_tier):
            meant = _meant(key, names_tier=self._names_tier)
            if not meant and (limited := with_number(filter, key, value)):
                return limited
            *others, last = (*KEYS, TIER) if self._names_tier else KEYS
            known = f"Did you mean {meant}:?" if meant else f"There are {', '.join(others)} and {last}."
            return f"Unknown filter '{key}'. {known}"
        if key in _NEED_VALUE and not value:
            return f"{key}: needs a value"
        if key == "by" and value == ME:
            value = self._who
        return changes[key](filter, value)


def corrected(line: str, *, names_tier: bool = False, tags: Iterable[str] = ()) -> str:
    """The line with every unknown key, and each tag that `tags` lack, replaced by the nearest if any is near.

    `names_tier` says whether the line may name a tier, as on the search page. Without `tags` these stay.
    """
    dialect: Dialect = "question" if names_tier else "filter"
    tree = parse(line, dialect).tree
    by_name = {tag.casefold(): tag for tag in tags}

    def better(condition: Condition) -> Condition:
        key = _meant(condition.key, names_tier=names_tier) or condition.key
        can_be_mended = key == "tag" and not is_starred(condition.value)
        value = _nearest(condition.value, by_name) if can_be_mended else None
        return replace(condition, key=key, value=value or condition.value)

    mended = _with_conditions(tree, better)
    return line if mended == tree else written_tree(mended, dialect)


def with_people(line: str, names: Callable[[str], str], dialect: Dialect = "filter") -> str:
    """The line with each person of `by:` under another name; unchanged if every name stays."""
    if "by:" not in line.casefold():
        return line
    tree = parse(line, dialect).tree

    def named(condition: Condition) -> Condition:
        return replace(condition, value=names(condition.value)) if condition.key == "by" else condition

    changed = _with_conditions(tree, named)
    return line if changed == tree else written_tree(changed, dialect)


def written(filter: Filter) -> str:
    """The line for this filter, without its tier; dates to the day."""
    return written_tree(AllOf(tuple(nodes(filter))))


def written_with_tier(filter: Filter) -> str:
    """The line for this filter on a page that shows all tiers."""
    tier = [Condition(TIER, filter.tier)] if filter.tier else []
    return written_tree(AllOf((*nodes(filter), *tier)))


def nodes(filter: Filter) -> list[Node]:
    """The conditions of a filter as parts of a tree, without its tier; dates to the day."""
    found: list[Node] = []
    for key, values in (
        ("tag", filter.tags),
        ("category", filter.categories),
        ("has", filter.having),
        ("text", filter.picture_texts),
        ("comment", tuple(text or "*" for text in filter.comments)),
        ("name", filter.names),
        ("ticker", (filter.ticker,) if filter.ticker else ()),
        ("address", (filter.address,) if filter.address else ()),
    ):
        found += [Condition(key, value) for value in values]
    for key, values in (
        ("tag", filter.without_tags),
        ("category", filter.without_categories),
        ("has", filter.lacking),
    ):
        found += [Not(Condition(key, value)) for value in values]
    if filter.since is not None:
        found.append(Condition("after", _day(filter.since)))
    if filter.until is not None:
        found.append(Condition("before", _day(filter.until + 1)))
    if filter.longer is not None:
        found.append(Condition("length", f">{filter.longer - 1}"))
    if filter.shorter is not None:
        found.append(Condition("length", f"<{filter.shorter + 1}"))
    for facet, least, most in filter.lengths:
        found += [Condition("length", f"{facet}>{least - 1}")] if least is not None else []
        found += [Condition("length", f"{facet}<{most + 1}")] if most is not None else []
    if filter.suspicious is not None:
        found.append(Condition("dup", "yes" if filter.suspicious else "no"))
    found += [Condition("dup", word) for word in filter.likeness]
    if filter.unfit:
        found.append(Condition("unfit", filter.unfit))
    found += [Condition("faults", fault) for fault in filter.faults]
    found += [Condition(field, f"{sign}{number:.15g}") for field, sign, number in filter.numbers]
    if filter.language:
        found.append(Condition("language", filter.language))
    if filter.source:
        found.append(Condition("source", filter.source))
    if filter.rejected_for is not None:
        found.append(Condition("reason", filter.rejected_for or NO_REASON))
    if filter.decided_by:
        found.append(Condition("by", filter.decided_by))
    if filter.decided_since is not None:
        found.append(Condition("decided", _day(filter.decided_since)))
    if filter.family:
        found.append(Condition("family", filter.family))
    if filter.coin_set:
        found.append(Condition("set", filter.coin_set))
    found += [AnyOf(tuple(map(_together, choice))) for choice in filter.any_of]
    found += [Not(_together(one)) for one in filter.none_of]
    return [*found, *parse(filter.words).tree.items]


def values(line: str, key: str, dialect: Dialect = "filter") -> list[str]:
    """The line's values for one key, such as `tag` or `-tag`, as far as they apply to all that it finds."""
    found = (item for item in parse(line, dialect).tree.items if _key(item) == key)
    return [leaf.value for item in found for leaf in leaves(item) if isinstance(leaf, Condition)]


def edited(line: str, key: str, new: Iterable[str], dialect: Dialect = "filter") -> str:
    """The line with these values for one key, otherwise unchanged."""
    others = [item for item in parse(line, dialect).tree.items if _key(item) != key]
    conditions = [Condition(key.removeprefix("-"), value) for value in new]
    items = (*others, *(map(Not, conditions) if key.startswith("-") else conditions))
    return written_tree(AllOf(items), dialect)


def cleared(line: str, dialect: Dialect = "filter") -> str:
    """The line without filters; texts, pictures and examples of a query stay."""
    asks = (Word, Phrase, MarkedPart) if dialect == "question" else ()
    terms = tuple(item for item in parse(line, dialect).tree.items if isinstance(item, asks))
    return line if terms == parse(line, dialect).tree.items else written_tree(AllOf(terms), dialect)


def _with_conditions(tree: AllOf, change: Callable[[Condition], Condition]) -> AllOf:
    """The tree with every condition changed, also those that are denied or in parentheses."""

    def changed(node: Node) -> Node:
        if isinstance(node, Condition):
            return change(node)
        if isinstance(node, Not):
            return Not(changed(node.item))
        if isinstance(node, AllOf | AnyOf):
            return replace(node, items=tuple(map(changed, node.items)))
        return node

    return AllOf(tuple(map(changed, tree.items)))


def _together(filter: Filter) -> Node:
    """A filter in parentheses."""
    found = nodes(filter)
    return found[0] if len(found) == 1 else AllOf(tuple(found))


def _key(item: Node) -> str:
    if isinstance(item, Not) and isinstance(item.item, Condition):
        return f"-{item.item.key}"
    return item.key if isinstance(item, Condition) else ""


def _nearest(tag: str, by_name: Mapping[str, str]) -> str | None:
    """The known tag that an unknown one resembles; None for a known one."""
    name = tag.casefold()
    near = [] if name in by_name else get_close_matches(name, by_name, n=1, cutoff=_ALIKE)
    return by_name[near[0]] if near else None


def _meant(key: str, *, names_tier: bool) -> str | None:
    """The known key that an unknown one resembles; None for a known one."""
    known = (*KEYS, TIER) if names_tier else KEYS
    is_known = key in (*KEYS, TIER)
    return None if is_known else next(iter(get_close_matches(key, known, n=1, cutoff=_ALIKE)), None)


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
