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
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain
from typing import Literal

from store import query_line
from store.filter import Filter
from store.records import FACETS, Facet
from store.search.query import MAX_PARTS, MAX_WEIGHT

Source = Literal["text", "picture", "like"]

_FACETS = rf"(?:{'|'.join(FACETS)})(?:\s*,\s*(?:{'|'.join(FACETS)}))*\s*:"
_NUMBER = r"(?:\d+(?:[.,]\d*)?|[.,]\d+)"
_WEIGHT = rf"{_NUMBER}\s*[×✕✖*x]"
_SIGN = r"[+\-−–]"
_NAMED = r'"[^"]*"|“[^”]*”|picture:[\w.-]+|like:[\w.-]+'
_TERM = re.compile(
    rf"(?P<sign>{_SIGN})?\s*(?:(?P<weight>{_WEIGHT})\s*)?"
    rf"(?:(?P<facets>{_FACETS})\s*(?:(?P<inner>{_NUMBER}\s*[×✕✖*])\s*)?)?"
    rf"(?P<source>{_NAMED}|picture(?=[\s;]|$)|(?=[^\s;+−–-]))",
    re.IGNORECASE,
)
_HELD = "\ue000"  # stands where something quoted was; of no script
_BARE = r'(?<![:"\w])"([^"]+)"'
# Where words that belong to a term end: at the next term, or at a filter.
_END = re.compile(
    rf"\s*;|\s+(?:[+−]\s|{_SIGN}\s*(?:{_WEIGHT}|{_FACETS}|{_NAMED}|picture\b)|{_SIGN}(?=[^\s\d])|{_WEIGHT}\s|"
    rf"{_FACETS}|{_NAMED}|-?[a-z]+:\S)",
    re.IGNORECASE,
)


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


def read(line: str, *, base: Filter | None = None, who: str = query_line.ME) -> Question:
    """Nothing typed is an error: what is not understood is said and left out.

    `who` is meant by `by:me`; whoever only writes the line again does not say.
    """
    whole = line.encode(errors="ignore").decode()
    halves = [] if whole == line else ["half a character was left out: it was not UTF-8"]
    line = whole
    if line.count('"') % 2:
        line += '"'  # a quote left open ends with the line
    terms, rest, faults = _terms(line)
    faults += halves
    rest = rest.replace(_HELD, "")
    must = re.findall(_BARE, rest)
    held = iter(range(len(must)))  # what is quoted is no filter, whatever it looks like
    open_ = re.sub(_BARE, lambda _: f"{_HELD}{next(held)}{_HELD}", rest)
    asked = query_line.parsed(open_, base=replace(base or Filter(), words=""), who=who)
    loose = re.sub(r'"[^"]*"?', " ", asked.filter.words)
    loose = " ".join(re.sub(rf"{_HELD}(\d+){_HELD}", lambda one: must[int(one[1])], loose).split())
    must += re.findall(r'"([^"]+)"', asked.filter.words)
    if loose:
        named = set(chain.from_iterable(term.facets for term in terms if term.facets != FACETS))
        # A facet that has a text of its own is not spoken about by the text for all.
        own = tuple(facet for facet in FACETS if facet not in named) if _is_by_facet(line, terms) else FACETS
        terms = [Term("text", loose, 1.0, own), *terms] if own else terms
    if len(terms) > MAX_PARTS:
        faults.append(f"only the first {MAX_PARTS} parts are asked")
    words = " ".join(f'"{said}"' for phrase in must if (said := " ".join(phrase.split())))
    return Question(tuple(terms[:MAX_PARTS]), replace(asked.filter, words=words), (*faults, *asked.faults))


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


def _terms(line: str) -> tuple[list[Term], str, list[str]]:
    """The terms of a line, what is left of it, and what is wrong with it."""
    terms: list[Term] = []
    rest: list[str] = []
    faults: list[str] = []
    has_signs = bool(_is_expression(line))
    at = 0
    while at < len(line):
        found = _TERM.match(line, at) if at == 0 or line[at - 1] in " \t;" else None
        taken = _term(found, line, has_signs=has_signs) if found else None
        if taken is None:  # to the next word, past what is quoted
            word = re.compile(r'(?:\S*"[^"]*"|\S)*\s*;?\s*').match(line, at)
            end = max(word.end() if word else 0, at + 1)
            piece = line[at:end]
            rest.append(piece if re.match(r"-?[a-z]+:\S", piece, re.IGNORECASE) else piece.replace(";", " "))
            at = end
            continue
        term, at = taken
        if isinstance(term, str):
            faults.append(term)
        else:
            terms.append(term)
        while at < len(line) and line[at] in " \t;":
            at += 1
    return terms, "".join(rest), faults


def _term(found: re.Match[str], line: str, *, has_signs: bool) -> tuple[Term | str, int] | None:
    """The term that begins here and where it ends; None where these are words or a filter."""
    sign, source = found["sign"], found["source"]
    weights = [found["weight"], found["inner"]]
    marked = any([*weights, found["facets"]])
    end = found.end()
    spaced = bool(sign) and line[found.start() + 1 : found.start() + 2].isspace()
    if not source:  # words without quotes
        if re.match(r"-?[a-z]+:\S", line[found.start() :], re.IGNORECASE) and not marked:
            return None  # a filter
        if not found["facets"] and (found["weight"] or "").endswith(("x", "X")):
            return None  # 5 x 5
        if not marked and not (sign and (sign in "+−" or not spaced)):
            return None
        if sign and not marked and not spaced:  # -rain: this one word
            stop = re.compile(r"[\s;]|$").search(line, end)
        else:
            stop = _END.search(line, end)
        close = stop.start() if stop else len(line)
        kind, said = "text", line[end:close].replace('"', " ").strip()
        end = close
    elif source[0] in '"“':
        if not (sign or marked or has_signs):
            return None  # what has to stand there
        kind, said = "text", source[1:-1].strip()
    else:
        name, colon, value = source.partition(":")
        if not (colon or sign or marked or has_signs):
            return None  # the word
        kind, said = name.lower(), value
    given = [float(re.sub(r"[^\d.]", "", one.replace(",", "."))) for one in weights if one]
    weight = math.prod(given, start=1.0)
    if not said and kind != "picture":
        return "a part of the question says nothing", end
    if weight > MAX_WEIGHT:
        return f"{weight:g} is more than a part can weigh", end
    named = re.findall(r"[a-z]+", (found["facets"] or "").lower())
    facets = tuple(facet for facet in FACETS if facet in named) or FACETS
    return Term(kind, said, -weight if sign and sign != "+" else weight, facets), end  # type: ignore[arg-type]


def _is_expression(line: str) -> re.Match[str] | None:
    """Whether a sign or a weight stands before something named: what is quoted is then a part of its own."""
    named = rf"(?:{_NAMED}|picture(?=[\s;]|$)|{_FACETS})"
    return re.search(
        rf"(?:^|\s){_SIGN}\s*(?:{_WEIGHT}\s*)?{named}|(?:^|\s){_WEIGHT}\s*{named}|{_FACETS}\s*(?:{_NAMED})|"
        rf'["”]\s+[+−]\s|(?:^|\s)(?:like|picture):[\w.-]+|^\s*picture\s*$',
        line,
        re.IGNORECASE,
    )


def _is_by_facet(line: str, terms: list[Term]) -> bool:
    """Whether these are texts for single facets, each in place of the text for all; signed, beside it."""
    signed = re.search(rf"(?:^|\s){_SIGN}\s*{_FACETS}", line, re.IGNORECASE)
    return not signed and all(term.source == "text" and term.weight == 1 for term in terms)


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
