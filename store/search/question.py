"""A question as one line: `2 × "shiba in space" + picture − "text overlay" tag:dog after:2025-01`.

    line    = words | term { ("+" | "−") term }, with filters (query_line.py) anywhere between
    term    = [number "×"] [facet {"," facet} ":"] [number "×"] source
    source  = "text" in quotes | picture[:name or address] | like:address | words up to the next sign or ";"

`-` stands for `−`, `*` or `x` for `×`, and a number has a point or a comma. Words alone are one text about
all facets, and what is quoted among them has to stand in name, ticker or text as well; nothing quoted is a
filter. `entity: frog; visual: pixel art` gives each facet a text of its own.
"""

import math
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain, pairwise
from typing import Literal, NamedTuple

from store import query_line
from store.filter import Filter
from store.records import FACETS, Facet
from store.search.query import MAX_PARTS, MAX_WEIGHT

Source = Literal["text", "picture", "like"]

_SIGN = r"[+\-−–]"
_NUMBER = r"(?:\d+(?:[.,]\d*)?|[.,]\d+)"
_FACETS = rf"(?:{'|'.join(FACETS)})(?:\s*,\s*(?:{'|'.join(FACETS)}))*\s*:"
_QUOTED = r'"[^"]*(?:"|$)|[“„][^“”„"]*[”“]|«[^«»"]*»'  # one left open ends with the line
_COIN = r"(?:picture|like):[\w.-]+"
_PICTURE = rf"picture(?=[\s;]|{_SIGN}(?:{_QUOTED})|$)"
_SOURCE = rf"{_QUOTED}|{_COIN}|{_PICTURE}"
_BY_X = rf"{_NUMBER}\s*x(?=\s*(?:{_FACETS}|{_SOURCE}))"  # not in "5 x 5 grid"
_WEIGHT = rf"{_NUMBER}\s*[×✕✖*]|{_BY_X}"
# A sign stands before something marked, between spaces, or right before a word, where "-" is no hyphen.
_TOKEN = re.compile(
    rf"(?P<sign>{_SIGN}(?=\s*(?:{_WEIGHT}|{_FACETS}|{_SOURCE})))|(?P<weight>{_WEIGHT})|"
    rf"(?P<facets>{_FACETS})|(?P<quoted>{_QUOTED})|(?P<coin>{_COIN})|(?P<picture>{_PICTURE})|"
    rf"(?P<filter>[+-]?[a-z]+:(?:{_QUOTED}|[^\s;]*))|"
    rf"(?P<between>[+−](?=\s+[^\s;+−–-]))|(?P<before>{_SIGN}(?=[^\s;\d+−–-]))|"
    r'(?P<end>;)|(?P<word>[^\s;"“„«]+|\S)',
    re.IGNORECASE,
)
_SIGNS = ("sign", "between", "before")
_MARKS = (*_SIGNS, "weight", "facets")
_NAMED = ("quoted", "coin", "picture")


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a question as it is written; a picture by its name, "" for the one just shown."""

    source: Source
    said: str
    weight: float = 1.0
    facets: tuple[Facet, ...] = FACETS


@dataclass(frozen=True, slots=True)
class Question:
    """What a line asks for and among which records, and what of it could not be understood."""

    terms: tuple[Term, ...]
    filter: Filter
    faults: tuple[str, ...] = field(default=(), compare=False)


class _Token(NamedTuple):
    kind: str
    said: str


def read(line: str, *, base: Filter | None = None, who: str = query_line.ME) -> Question:
    """Nothing typed is an error: what is not understood is said and left out.

    `who` is meant by `by:me`; whoever only writes the line again does not say.
    """
    whole = line.encode(errors="ignore").decode()
    faults = [] if whole == line else ["half a character was left out: it was not UTF-8"]
    tokens = deque(_Token(str(found.lastgroup), found[0]) for found in _TOKEN.finditer(whole))
    is_expression, signed = _is_expression(tokens), _has_pair(tokens, _SIGNS, ("facets",))
    terms: list[Term] = []
    words: list[str] = []
    must: list[str] = []
    filters: list[str] = []
    while tokens:
        kind, said = tokens[0]
        if kind in _MARKS or (is_expression and kind in _NAMED):
            term = _term(tokens)
            if isinstance(term, str):
                faults.append(term)
            else:
                terms.append(term)
            continue
        tokens.popleft()
        if kind == "filter":
            filters.append(_filter(said))
        elif kind == "quoted":
            words.append(_inside(said))
            must.append(_inside(said))
        elif kind != "end":
            words.append(said)
    asked = query_line.parsed(" ".join(filters), base=replace(base or Filter(), words=""), who=who)
    must += re.findall(r'"([^"]+)"', asked.filter.words)
    if loose := " ".join(" ".join(words).split()):
        # Texts for single facets stand in place of the text for all; signed or weighed, beside it.
        is_by_facet = not signed and all(term.source == "text" and term.weight == 1 for term in terms)
        named = set(chain.from_iterable(term.facets for term in terms if term.facets != FACETS))
        own = tuple(facet for facet in FACETS if facet not in named) if is_by_facet else FACETS
        terms = [Term("text", loose, 1.0, own), *terms] if own else terms
    if len(terms) > MAX_PARTS:
        faults.append(f"only the first {MAX_PARTS} parts are asked")
    phrases = " ".join(f'"{said}"' for phrase in must if (said := " ".join(phrase.split())))
    return Question(tuple(terms[:MAX_PARTS]), replace(asked.filter, words=phrases), (*faults, *asked.faults))


def written(question: Question) -> str:
    """The line that asks this question, as short as it can be."""
    filters = [f"tier:{question.filter.tier}"] if question.filter.tier else []
    filters += [query_line.written(replace(question.filter, words=""))]
    filters += [f"words:{phrase}" for phrase in re.findall(r'"[^"]+"', question.filter.words)]
    last = " ".join(filter(None, filters))
    alone = len(question.terms) == 1
    if alone and question.terms[0].source == "text":
        plain = f"{question.terms[0].said} {last}".strip()
        if read(plain) == question:
            return plain
    terms = [f"{'−' if term.weight < 0 else '+'} {_written(term, alone=alone)}" for term in question.terms]
    return f"{' '.join(terms).removeprefix('+ ')} {last}".strip()


def _term(tokens: deque[_Token]) -> Term | str:
    """The term that begins here, taken from the tokens, or what is wrong with it."""

    def taken(*kinds: str) -> str:
        return tokens.popleft().said if tokens and tokens[0].kind in kinds else ""

    is_one_word = tokens[0].kind == "before"  # -rain
    sign, weights, facets = taken(*_SIGNS), [taken("weight")], taken("facets")
    weights.append(taken("weight") if facets else "")
    source: Source = "text"
    if quoted := taken("quoted"):
        said = _inside(quoted)
    elif coin := taken("coin"):
        name, said = coin.split(":")
        source = "like" if name.lower() == "like" else "picture"
    elif taken("picture"):
        source, said = "picture", ""
    elif is_one_word:
        said = taken("word")
    else:
        said = " ".join(iter(lambda: taken("word", "picture"), ""))
    if source == "text" and not said:
        return "a part of the question says nothing"
    given = (float(re.sub(r"[^\d.]", "", one.replace(",", "."))) for one in weights if one)
    weight = math.prod(given, start=1.0)
    if weight > MAX_WEIGHT:
        return f"{weight:g} is more than a part can weigh"
    named = re.findall(r"[a-z]+", facets.lower())
    about = tuple(facet for facet in FACETS if facet in named) or FACETS
    return Term(source, said, -weight if sign and sign != "+" else weight, about)


def _is_expression(tokens: Sequence[_Token]) -> bool:
    """Whether something named is signed, weighed or for a facet: what is quoted is then a part of its own."""
    return (
        _has_pair(tokens, _MARKS, _NAMED)
        or _has_pair(tokens, (*_SIGNS, "weight"), ("facets",))
        or _has_pair(tokens, ("quoted",), ("sign", "between"))
        or any(token.kind == "coin" for token in tokens)
        or [token.kind for token in tokens] == ["picture"]
    )


def _has_pair(tokens: Sequence[_Token], first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether a token of one of these kinds is followed by one of those."""
    return any(one.kind in first and other.kind in second for one, other in pairwise(tokens))


def _filter(said: str) -> str:
    """A condition as `query_line` takes it: straight quotes, and both of them."""
    key, _, value = said.removeprefix("+").partition(":")
    return f'{key}:"{_inside(value)}"' if re.fullmatch(_QUOTED, value) else f"{key}:{value}"


def _inside(quoted: str) -> str:
    return quoted[1:-1].strip() if len(quoted) > 1 and quoted[-1] in '"”“»' else quoted[1:].strip()


def _written(term: Term, *, alone: bool) -> str:
    weight = (
        f"{Decimal(str(abs(term.weight))).normalize():f} × "
        if abs(term.weight) != 1 or (alone and term.weight > 0 and (term.source == "text" or not term.said))
        else ""
    )
    facets = "" if term.facets == FACETS else f"{','.join(term.facets)}:"
    if term.source == "text":
        said = term.said.replace('"', "'")
        return f'{weight}{facets}"{said}"'
    return f"{weight}{facets}{term.source}{':' if term.said else ''}{term.said}"
