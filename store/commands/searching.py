"""The verb `search`: the line that the search page has, and flags for what a terminal says more easily."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from store.commands.asking import filter_of
from store.commands.opening import reading
from store.commands.terminal import Terminal, table
from store.errors import BadPicture, InvalidRecord, UnknownRecord
from store.people import myself
from store.reading import Reader
from store.records import Record
from store.search.parts import listed, parts_of, picture, words_of
from store.search.query import Part, Query
from store.search.question import Question, Term, read, written
from store.search.search import Hit, Results

_TOO_LARGE = 100_000_000  # bytes; far above any picture, and below what would fill the memory
_NAMED = 5  # coins that have the words themselves, the exact ticker first
_SHOWN = Term("picture", "")  # `picture` in the line, without a name


def search(arguments: Namespace, terminal: Terminal) -> int:
    """The best records for a line, a picture, an example, or several of these together."""
    question = _question(arguments)
    shown = None if arguments.image is None else _content(arguments.image)
    with reading(arguments, terminal) as reader:
        parts, faults = parts_of(reader, question, pictures=partial(_picture, reader, shown))
        faults = [*question.faults, *faults]
        if question.terms and not parts:
            raise UnknownRecord("; ".join(faults))
        for fault in faults:
            terminal.say(f"not asked: {fault}")
        if parts and question.filter.tier == "library":
            _compare(arguments, terminal, reader, question, parts)
        else:
            _list(arguments, terminal, reader, question)
    return 1 if faults else 0


def _question(arguments: Namespace) -> Question:
    """The line, narrowed by the flags, with what they show; wrong usage where that asks nothing."""
    usage: ArgumentParser = arguments.parser
    line, who = arguments.text or "", arguments.who or myself()
    asked = read(line, base=filter_of(arguments), who=who)
    terms = list(asked.terms)
    if arguments.image is None and _SHOWN.said in [term.said for term in terms if term.source == "picture"]:
        usage.error("the line asks for a picture; --image names its file")
    if arguments.image is not None and not any((term.source, term.said) == ("picture", "") for term in terms):
        terms.append(_SHOWN)
    if arguments.like is not None:
        terms.append(Term("like", arguments.like))
    asked = replace(asked, terms=tuple(terms))
    if not asked.terms and asked.filter.is_open and asked.filter.tier is None:
        usage.error(asked.faults[0] if asked.faults else "a query needs a text, a picture or an example")
    return replace(asked, filter=replace(asked.filter, tier=asked.filter.tier or "library"))


def _compare(
    arguments: Namespace, terminal: Terminal, reader: Reader, question: Question, parts: tuple[Part, ...]
) -> None:
    usage: ArgumentParser = arguments.parser
    try:
        query = Query(
            parts,
            weights=arguments.weights,
            top=arguments.top,
            filter=question.filter,
            calibrated=arguments.calibrated,
        )
    except InvalidRecord as error:
        usage.error(str(error))
    results = terminal.watch(lambda progress: reader.search(query))
    found = [(hit, _record(reader, hit.address)) for hit in results.hits]
    words = words_of(question)
    named = reader.named(words, question.filter, limit=_NAMED) if words else []
    if named and not arguments.json:
        coins = (f"{one.name} · {one.ticker} ({one.address})" for one in named)
        terminal.say(f"by these words: {', '.join(coins)}")
    if arguments.json:
        told = [_told(one.address, one) for one in named]
        terminal.answer_json({**_compared_json(arguments, question, results, found), "named": told})
    elif found:
        head = ("SCORE", "NAME", "TICKER", "ADDRESS", "FROM")
        terminal.answer(table(head, [_hit_row(hit, record) for hit, record in found]))
    if results.why_empty:
        terminal.say(results.why_empty)


def _list(arguments: Namespace, terminal: Terminal, reader: Reader, question: Question) -> None:
    """What passes, where nothing is compared: another tier, or a filter alone."""
    if question.terms and not words_of(question):
        raise InvalidRecord("only the library can be searched by picture or example; ask with words")
    found = listed(reader, question, limit=arguments.top)
    if question.terms:
        terminal.say("found by its words: only the library is searched by meaning")
    if arguments.json:
        hits = [_told(record.address, record) | {"score": None, "facets": {}} for record in found]
        terminal.answer_json({**_asked_json(arguments, question), "compared": 0, "hits": hits})
    elif found:
        head = ("NAME", "TICKER", "ADDRESS")
        terminal.answer(table(head, [(one.name, one.ticker, one.address) for one in found]))
    else:
        terminal.say("no records")


def _picture(reader: Reader, shown: bytes | None, said: str) -> bytes | None:
    return picture(reader, said) if said else shown


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > _TOO_LARGE:
            raise BadPicture(f"{path} is larger than {_TOO_LARGE:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise BadPicture(f"{path} cannot be read: {error.strerror}") from error


def _record(reader: Reader, address: str) -> Record | None:
    try:
        return reader.get(address)
    except UnknownRecord:  # removed since the search
        return None


def _hit_row(hit: Hit, record: Record | None) -> tuple[str, ...]:
    gave = (f"{facet} {given.contribution:.2f}" for facet, given in hit.facets.items() if given.contribution)
    name, ticker = (record.name, record.ticker) if record else ("", "")
    return f"{hit.score:.3f}", name, ticker, hit.address, " ".join(gave)


def _asked_json(arguments: Namespace, question: Question) -> dict[str, Any]:
    return {
        "query": arguments.text,
        "image": str(arguments.image) if arguments.image else None,
        "like": arguments.like,
        "asked": written(question),
    }


def _compared_json(
    arguments: Namespace, question: Question, results: Results, found: Sequence[tuple[Hit, Record | None]]
) -> dict[str, Any]:
    return {
        **_asked_json(arguments, question),
        "weights": results.query.sliders,
        "calibrated": results.query.calibrated,
        "exact": results.exact,
        "compared": results.compared,
        "without_facets": results.without_facets,
        "seconds": results.seconds,
        "hits": [
            _told(hit.address, record)
            | {"score": hit.score, "facets": {facet: given._asdict() for facet, given in hit.facets.items()}}
            for hit, record in found
        ],
    }


def _told(address: str, record: Record | None) -> dict[str, Any]:
    return {
        "token_address": address,
        "token_name": record.name if record else "",
        "ticker": record.ticker if record else "",
    }
