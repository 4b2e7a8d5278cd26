"""A question as one line: `2 × "shiba in space" + picture − "text overlay" tag:dog after:2025-01`.

    line    = words | term { ("+" | "−") term }, with conditions (catalog/filter_syntax.py) anywhere between
    term    = [number "×"] [facet {"," facet} ":"] [number "×"] source
    source  = "text" in quotes | picture[:name or address] | like:address | words up to the next sign or ";"

`-` means `−`, `*` or `x` means `×`, and a number has a point or a comma. Words alone are one text about
all facets, and what is quoted or ends in `*` among them has to stand in name, ticker or text as well; nothing
quoted is a condition. `entity: frog; visual: pixel art` gives each facet a text of its own. OR, NOT and
parentheses filter; plain words in them must be there as well where other parts filter.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

from store.catalog import filter_syntax
from store.catalog.filters import Filter
from store.catalog.query_grammar import (
    NUMBER,
    AllOf,
    AnyOf,
    Condition,
    MarkedPart,
    Node,
    Not,
    Phrase,
    Source,
    Token,
    Word,
    is_starred,
    leaves,
    parse,
    tokens,
)
from store.catalog.query_grammar import written as written_tree
from store.records import FACETS, Facet
from store.search.query import MAX_PARTS
from store.vectors.weights import MAX_WEIGHT


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a query as it is written; a picture by its name, "" for an uploaded one."""

    source: Source
    text: str
    weight: float = 1.0
    facets: tuple[Facet, ...] = FACETS


@dataclass(frozen=True, slots=True)
class Question:
    """The parts and the filter of a line, and what of it was not understood.

    With `filter_faults`, which are among the faults, the filter lets more through than was meant. `hints` are
    corrections.
    """

    terms: tuple[Term, ...]
    filter: Filter
    faults: tuple[str, ...] = field(default=(), compare=False)
    filter_faults: tuple[str, ...] = field(default=(), compare=False)
    hints: tuple[str, ...] = field(default=(), compare=False)


def read(line: str, *, base: Filter | None = None, actor: str = filter_syntax.ME) -> Question:
    """Parse a line. Never raises: what is not understood is reported and left out.

    `actor` is the person meant by `by:me`.
    """
    parsed = parse(line, "question")
    items = parsed.tree.items
    is_expression = _is_expression(items)
    faults = list(parsed.faults)
    terms: list[Term] = []
    words: list[str] = []
    conditions: list[Node] = []
    for item in items:
        if isinstance(item, Phrase) and is_expression:
            terms.append(Term("text", item.text))
        elif isinstance(item, MarkedPart) and not is_expression and item == _PICTURE:
            words.append("picture")
        elif isinstance(item, MarkedPart):
            term = _term(item)
            if isinstance(term, str):
                faults.append(term)
            else:
                terms.append(term)
        else:
            words += _asked(item)
            if not isinstance(item, Word) or is_starred(item.text):
                conditions.append(_condition(item))
    filter, filter_faults = filter_syntax.narrowed(
        replace(base or Filter(), words=""), conditions, actor=actor
    )
    if loose := " ".join(words):
        # Texts for single facets replace the text for all; signed or weighed, they add to it.
        signed = any(isinstance(item, MarkedPart) and item.sign and item.facets for item in items)
        is_by_facet = not signed and all(term.source == "text" and term.weight == 1 for term in terms)
        named = set(chain.from_iterable(term.facets for term in terms if term.facets != FACETS))
        own = tuple(facet for facet in FACETS if facet not in named) if is_by_facet else FACETS
        terms = [Term("text", loose, 1.0, own), *terms] if own else terms
    if len(terms) > MAX_PARTS:
        faults.append(f"only the first {MAX_PARTS} parts are asked")
    messages = (*faults, *filter_faults)
    return Question(tuple(terms[:MAX_PARTS]), filter, messages, tuple(filter_faults), parsed.hints)


def written(question: Question) -> str:
    """The shortest line for this query."""
    conditions: list[Node] = [Condition("tier", question.filter.tier)] if question.filter.tier else []
    conditions += map(_condition, filter_syntax.nodes(question.filter))
    alone = len(question.terms) == 1
    if alone and question.terms[0].source == "text":
        plain = f"{question.terms[0].text} {written_tree(AllOf(tuple(conditions)), 'question')}".strip()
        if read(plain) == question:
            return plain
    parts = [_part(term, alone=alone, first=not number) for number, term in enumerate(question.terms)]
    return written_tree(AllOf((*parts, *conditions)), "question")


def with_signs(line: str) -> str:
    """The line with a minus for each "-" between blanks, and with "3 × dog" for "3x dog", "3xdog", "dog x3",
    "dog*3" and "dog^3": as typed, all of these are words.
    """
    found, _ = tokens(line, "question")
    better = line
    for number in range(len(found) - 1, -1, -1):
        if found[number].kind == "WORD" and (change := _meant(found, number)):
            start, end, text = change
            better = f"{better[:start]}{text}{better[end:]}"
    return better


_BEFORE = re.compile(rf"({NUMBER})x", re.IGNORECASE)  # 3x dog
_JOINED = re.compile(rf"(?!0x)({NUMBER})x([^\W\d_]{{2,}})", re.IGNORECASE)  # 3xdog; no address, no "2x4"
_BEHIND = re.compile(rf"([^*×^]+)[*×^]({NUMBER})")  # dog*3
_LETTER = re.compile(r"[^\W\d]")
_APART = re.compile(rf"[x*×^]({NUMBER})", re.IGNORECASE)  # dog x3


def _meant(found: Sequence[Token], number: int) -> tuple[int, int, str] | None:
    """The range of characters that looks like a sign or a weight from this word on, and how it is written."""
    word, *following = (*found[number : number + 3], None, None)[:3]
    assert word
    after = following[0] if following[0] and following[0].kind == "WORD" else None
    if after and number and word.text in ("-", "–", "—"):
        return word.start, word.end, "−"
    if after and (seen := _BEFORE.fullmatch(word.text)):
        return word.start, word.end, f"{seen[1]} ×"
    if seen := _JOINED.fullmatch(word.text):
        return word.start, word.end, f"{seen[1]} × {seen[2]}"
    if not _LETTER.search(word.text):
        return None
    if seen := _BEHIND.fullmatch(word.text):
        return word.start, word.end, _weighed(seen[1], seen[2], after)
    if after and (seen := _APART.fullmatch(after.text)):
        return word.start, after.end, _weighed(word.text, seen[1], following[1])
    return None


def _weighed(word: str, weight: str, following: Token | None) -> str:
    """This word alone with its weight: without quotes it would go for the words behind it, too."""
    return f'{weight} × "{word}"' if following and following.kind == "WORD" else f"{weight} × {word}"


_PICTURE = MarkedPart("picture", "")


def _term(part: MarkedPart) -> Term | str:
    """A part as it is searched, or the fault."""
    weight = 1.0 if part.weight is None else part.weight
    if weight > MAX_WEIGHT:
        return f"{weight:g} is more than a part can weigh"
    return Term(part.source, part.text, -weight if part.sign == "−" else weight, part.facets or FACETS)


def _part(term: Term, *, alone: bool, first: bool) -> MarkedPart | Phrase:
    is_plain = alone and term.weight > 0 and (term.source == "text" or not term.text)
    part = MarkedPart(
        term.source,
        term.text.replace('"', "'"),
        "−" if term.weight < 0 else "" if first else "+",
        abs(term.weight) if abs(term.weight) != 1 or is_plain else None,
        () if term.facets == FACETS else term.facets,
        is_quoted=term.source == "text",
    )
    return part if part.is_marked or part.source != "text" else Phrase(part.text)


def _is_expression(items: Sequence[Node]) -> bool:
    """Whether a named source has a sign, weight or facet: then quoted text is a part of its own."""
    parts = [item for item in items if isinstance(item, MarkedPart)]
    return (
        any(part.is_marked and (part.is_quoted or part.source != "text") for part in parts)
        or any(part.facets and (part.sign or part.weight is not None) for part in parts)
        or any(part.source == "like" or (part.source == "picture" and part.text) for part in parts)
        or any(
            isinstance(one, Phrase)
            and isinstance(other, MarkedPart)
            and bool(other.sign)
            and not other.is_close
            for one, other in pairwise(items)
        )
        or items == (_PICTURE,)
    )


def _asked(item: Node) -> list[str]:
    """The words of an item that are searched by meaning, without negated ones."""
    conditions = [] if isinstance(item, Not) else leaves(item)
    return [
        leaf.text.removesuffix("*") if is_starred(leaf.text) else leaf.text
        for leaf in conditions
        if isinstance(leaf, Word | Phrase)
    ]


def _condition(item: Node) -> Node:
    """The filter of an item: its words must occur, and are not searched a second time."""
    if isinstance(item, Phrase):
        return Condition("words", item.text)
    if isinstance(item, Word):
        words = [Condition("words", f"{word}*") for word in re.findall(r"\w+", item.text)]
        return AllOf(tuple(words)) if words else Condition("words", item.text)
    if isinstance(item, Not):
        return Not(_condition(item.item))
    if isinstance(item, AllOf | AnyOf):
        return replace(item, items=tuple(map(_condition, item.items)))
    return item
