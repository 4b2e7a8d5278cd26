"""The command `search`: the line of the search page, and flags for what a terminal says more easily."""

from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from store.cli.open_library import reading
from store.cli.queries import filter_of
from store.cli.terminal import Terminal
from store.disk.files import read_regular
from store.errors import BadPicture, InvalidRecord, UnknownRecord
from store.evaluation.marks import shift_of_question
from store.identity import current_user
from store.reading.query_binding import (
    did_you_mean,
    exact_matches,
    parts_of,
    picture,
    records_listed,
    words_of,
)
from store.reading.reader import Reader
from store.records import Record
from store.search.query import Part, Query
from store.search.query_syntax import Question, Term, read, written
from store.search.search import NOTHING_THERE, Hit, Results, describe, describe_pictures

_TOO_LARGE = 100_000_000  # bytes; far above any picture, and below what would fill the memory
_NAMED = 5  # coins that have the words themselves, the exact ticker first
_SHOWN = Term("picture", "")  # `picture` in the line, without a name


def search(arguments: Namespace, terminal: Terminal) -> int:
    """Print the best records for a line, a picture, an example, or several of these together.

    Raises UnknownRecord if nothing that was named for the query exists.
    """
    question = _question(arguments)
    shown = None if arguments.image is None else _content(arguments.image)
    with reading(arguments, terminal) as reader:
        parts, faults = parts_of(reader, question, pictures=partial(_picture, reader, shown))
        faults = [*question.faults, *faults]
        if question.terms and not parts:
            raise UnknownRecord("; ".join(faults))
        for fault in faults:
            terminal.say(f"not asked: {fault}")
        for hint in question.hints:
            terminal.say(hint)
        if parts and question.filter.tier == "library":
            _compare(arguments, terminal, reader, question, parts)
        else:
            _list(arguments, terminal, reader, question)
    return 1 if faults else 0


def _question(arguments: Namespace) -> Question:
    """The line, narrowed by the flags, with their pictures; wrong usage if it asks nothing."""
    usage: ArgumentParser = arguments.parser
    line, actor = arguments.text or "", arguments.actor or current_user()
    question = read(line, base=filter_of(arguments), actor=actor)
    terms = list(question.terms)
    if arguments.image is None and _SHOWN.text in [term.text for term in terms if term.source == "picture"]:
        usage.error("the line asks for a picture; --image names its file")
    if arguments.image is not None and not any((term.source, term.text) == ("picture", "") for term in terms):
        terms.append(_SHOWN)
    if arguments.like is not None:
        terms.append(Term("like", arguments.like))
    question = replace(question, terms=tuple(terms))
    if not question.terms and question.filter.is_open and question.filter.tier is None:
        usage.error([*question.faults, *question.hints, "a query needs a text, a picture or an example"][0])
    return replace(question, filter=replace(question.filter, tier=question.filter.tier or "library"))


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
            fused=arguments.fused,
            shift=shift_of_question(reader, question) if arguments.shifted else None,
        )
    except InvalidRecord as error:
        usage.error(str(error))
    results = terminal.watch(lambda progress: reader.search(query))
    exact = exact_matches(reader, question, arguments.text or "", limit=_NAMED)
    known = {one.address for one in exact}
    found = [(hit, _record(reader, hit.address)) for hit in results.exact_first(known)]
    words = words_of(question)
    named = reader.named(words, question.filter, limit=_NAMED) if words else []
    named = [*exact, *(one for one in named if one.address not in known)][:_NAMED]
    meant = did_you_mean(reader, question, arguments.text or "") if words and not exact else None
    fits = results.fits or bool(exact)
    if arguments.json:
        fields = {
            "fits": fits,
            "did_you_mean": meant,
            "exact_matches": [one.address for one in exact],
            "named": [_format(one.address, one) for one in named],
        }
        terminal.answer_json({**_compared_json(arguments, question, results, found, exact=known), **fields})
    elif found:
        head = ("SCORE", "NAME", "TICKER", "ADDRESS", "FROM")
        terminal.answer_table(head, [_hit_row(hit, record, exact=known) for hit, record in found])
    waiting = reader.waiting_for_vectors()
    if results.why_empty and not (waiting and results.why_empty == NOTHING_THERE):
        terminal.say(results.why_empty)
    if waiting:
        terminal.say(waiting)
    if arguments.json:
        return
    if found and (certainty := describe(results.certainty)):
        terminal.say(certainty)
    if by_picture := describe_pictures(hit for hit, _ in found):
        terminal.say(f"found {by_picture}")
    shown = {hit.address for hit, _ in found}
    unseen = [one for one in exact if one.address not in shown]  # such as one without vectors
    for label, coins in (("exact matches", unseen), ("with these words", named[len(exact) :])):
        if coins:
            listed_coins = (f"{one.name} · {one.ticker} ({one.address})" for one in coins)
            terminal.say(f"{label}: {', '.join(listed_coins)}")
    if meant:
        terminal.say(f"did you mean: {meant}")
    if found and not fits:
        terminal.say("nothing fits well: these are only the nearest")


def _list(arguments: Namespace, terminal: Terminal, reader: Reader, question: Question) -> None:
    """List what matches if nothing is compared: another tier, or a filter alone."""
    if question.terms and not words_of(question):
        raise InvalidRecord("only the library can be searched by picture or example; ask with words")
    found = records_listed(reader, question, limit=arguments.top)
    if question.terms:
        terminal.say("found by its words: only the library is searched by meaning")
    if arguments.json:
        hits = [_format(record.address, record) | {"score": None, "facets": {}} for record in found]
        terminal.answer_json({**_asked_json(arguments, question), "compared": 0, "hits": hits})
    elif found:
        head = ("NAME", "TICKER", "ADDRESS")
        terminal.answer_table(head, [(one.name, one.ticker, one.address) for one in found])
    else:
        terminal.say("no records")


def _picture(reader: Reader, shown: bytes | None, name: str) -> bytes | None:
    return picture(reader, name) if name else shown


def _content(path: Path) -> bytes:
    from store.disk.images import decode  # Pillow, which the command line itself does without

    try:
        content = read_regular(path, limit=_TOO_LARGE)
        decode(content)
    except OSError as error:
        raise BadPicture(f"{path} cannot be read: {error.strerror}") from error
    except BadPicture as error:
        raise BadPicture(f"{path}: {error}") from error
    return content


def _record(reader: Reader, address: str) -> Record | None:
    try:
        return reader.get(address)
    except UnknownRecord:  # removed since the search
        return None


def _hit_row(hit: Hit, record: Record | None, *, exact: Collection[str]) -> tuple[str, ...]:
    gave = [f"{facet} {part.contribution:.2f}" for facet, part in hit.facets.items() if part.contribution]
    if hit.words.contribution:
        gave.append(f"words {hit.words.contribution:.2f}")
    name, ticker = (record.name, record.ticker) if record else ("", "")
    score = "exact" if hit.address in exact else f"{hit.score:.3f}"  # what puts it where it is
    return score, name, ticker, hit.address, " ".join(gave)


def _asked_json(arguments: Namespace, question: Question) -> dict[str, Any]:
    return {
        "query": arguments.text,
        "image": str(arguments.image) if arguments.image else None,
        "like": arguments.like,
        "asked": written(question),
    }


def _compared_json(
    arguments: Namespace,
    question: Question,
    results: Results,
    found: Sequence[tuple[Hit, Record | None]],
    *,
    exact: Collection[str],
) -> dict[str, Any]:
    return {
        **_asked_json(arguments, question),
        "weights": results.query.sliders,
        "calibrated": results.query.calibrated,
        "fused": results.query.fused,
        "shifted": results.query.shift is not None,
        "exact": results.exact,
        "certainty": results.certainty._asdict(),
        "compared": results.compared,
        "without_facets": results.without_facets,
        "seconds": results.seconds,
        "hits": [
            _format(hit.address, record)
            | {
                "exact_match": hit.address in exact,
                "score": hit.score,
                "by_picture": hit.is_by_picture,
                "facets": {facet: part._asdict() for facet, part in hit.facets.items()},
            }
            | ({"words": hit.words._asdict()} if results.query.fused else {})
            for hit, record in found
        ],
    }


def _format(address: str, record: Record | None) -> dict[str, Any]:
    return {
        "token_address": address,
        "token_name": record.name if record else "",
        "ticker": record.ticker if record else "",
    }
