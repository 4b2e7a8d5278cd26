"""Verbs that find and show coins, and those that measure how well the search does."""

import random
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from store.catalog import filter_syntax
from store.catalog.filters import Filter
from store.cli.call import Call, spelled
from store.cli.terminal import local_time, plain
from store.cli.verbs import Address, first_second, last_second, typed_path, verb, whole
from store.cli.verbs import top as top_number
from store.disk.files import read_regular
from store.errors import BadPicture, InvalidRecord, UnknownRecord
from store.evaluation import evaluation
from store.evaluation.evaluation import DEPTH, TOP
from store.evaluation.marks import shift_of_question
from store.permissions import current_user
from store.reading.query_binding import (
    did_you_mean,
    exact_matches,
    parts_of,
    picture,
    records_listed,
    words_of,
)
from store.reading.reader import Reader
from store.records import CAPTION_FACETS, FACETS, Facet, Record, Tier
from store.search.query import Part, Query
from store.search.query_syntax import Question, Term, read, written
from store.search.search import NOTHING_THERE, Hit, Results, describe, describe_pictures
from store.vectors.weights import checked_weights

_TOO_LARGE = 100_000_000  # bytes; far above any picture, and below what would fill the memory
_NAMED = 5  # coins that have the words themselves, the exact ticker first
_SHOWN = Term("picture", "")  # `picture` in the line, without a name

Tags = Annotated[list[str] | None, Option("--tag", metavar="T", help="may be repeated")]
Categories = Annotated[list[str] | None, Option("--category", metavar="C")]
Since = Annotated[
    int | None, Option(metavar="DATE", parser=first_second, help="created then or later (2025-01-31, UTC)")
]
Until = Annotated[
    int | None, Option(metavar="DATE", parser=last_second, help="created on that day or before")
]


# -- list and show ----------------------------------------------------------------------------------------


@verb("list")
def list_(
    call: Call,
    line: Annotated[
        str,
        Argument(
            metavar="LINE",
            help="what the pages' line takes: tag:dog (category:animals OR moon*) after:2025-01 has:visual",
        ),
    ] = "",
    tier: Annotated[Tier | None, Option()] = None,
    words: Annotated[str, Option(metavar="WORDS", help="in name, ticker, description or caption")] = "",
    tags: Tags = None,
    categories: Categories = None,
    since: Since = None,
    until: Until = None,
    sample: Annotated[
        int | None, Option(metavar="N", parser=whole, help="so many of them, drawn at random, in any order")
    ] = None,
) -> int:
    """Coins, newest first."""
    given = Filter(
        tier=tier, words=words, tags=tuple(tags or ()), categories=tuple(categories or ()),
        since=since, until=until,
    )  # fmt: skip
    asked = filter_syntax.parsed(line, base=given, actor=call.actor or current_user())
    faults = asked.faults or (asked.hints if asked.filter == given else ())
    if faults:  # without it more would be listed than was meant
        call.fail(" ".join(faults))
    for hint in asked.hints:
        call.say(hint)
    with call.reading() as reader:
        records = reader.find(asked.filter)
    if sample is not None:
        records = random.Random(1).sample(records, min(sample, len(records)))
    return call.listed(
        [record.as_json() for record in records],
        ("ADDRESS", "TIER", "NAME", "TICKER", "CREATED", "CAPTION"),
        [_row(record) for record in records],
        empty="no records",
    )


@verb("show")
def show(call: Call, address: Address) -> int:
    """One coin."""
    with call.reading() as reader:
        record = reader.get(*spelled([address]))
        text = reader.picture_texts.of(record.address).text
        if call.json:
            call.answer_json({**record.as_json(), "picture_text": text})
            return 0
        lines = [
            ("address", record.address),
            ("tier", f"{record.tier} (from {record.came_from})" if record.came_from else record.tier),
            ("name", record.name),
            ("ticker", record.ticker),
            ("created", _day(record.created_at)),
            ("tags", ", ".join(record.tags)),
            ("categories", ", ".join(record.categories)),
            ("description", record.description),
            *((facet, record.caption.get(facet, "(not written yet)")) for facet in CAPTION_FACETS),
            ("embedded", ", ".join(reader.embedded_facets(record.address))),
            ("picture", str(reader.picture(record.address))),
            ("unfit", ", ".join(reader.unfit.of(record.address).values())),
            ("text in it", text),
        ]
    call.answer("\n".join(f"{name:12}{plain(value)}".rstrip() for name, value in lines))
    return 0


@verb("history")
def history(
    call: Call,
    address: Annotated[str | None, Option(metavar="ADDRESS", help="of this coin alone")] = None,
    limit: Annotated[int, Option(metavar="N", parser=whole, help="how many events (100)")] = 100,
) -> int:
    """What was decided, newest first."""
    coin = spelled([address])[0] if address else None
    with call.reading() as reader:
        events = reader.history(address=coin, limit=limit)
        if coin and not events:
            reader.get(coin)  # a mistyped address has no history either
    return call.listed(
        [
            {
                "id": one.id, "decision": one.decision, "verb": one.verb, "token_address": one.address,
                "token_name": one.name, "at": one.created_at, "who": one.actor, "reason": one.reason,
                "before_tier": one.before_tier, "after_tier": one.after_tier, "undone": one.is_undone,
            }
            for one in events
        ],
        ("WHEN", "WHO", "VERB", "NAME", "ADDRESS", "FROM", "TO", ""),
        [
            (
                local_time(one.created_at), one.actor, one.verb, one.name, one.address, one.before_tier or "",
                one.after_tier or "", "undone" if one.is_undone else one.reason,
            )
            for one in events
        ],
        empty="nothing has happened yet",
    )  # fmt: skip


def _row(record: Record) -> tuple[str, ...]:
    written = sum(bool(text.strip()) for text in record.caption.values())
    caption = f"{written} of {len(CAPTION_FACETS)}" if written else ""
    return record.address, record.tier, record.name, record.ticker, _day(record.created_at), caption


def _day(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%d", time.gmtime(seconds))
    except (OverflowError, ValueError, OSError):  # a year that no calendar has
        return str(seconds)


# -- search -----------------------------------------------------------------------------------------------


def _weights(text: str) -> dict[Facet, float]:
    values: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name in values:
            raise typer.BadParameter(f"{name} is given twice")
        try:
            values[name] = float(number)
        except ValueError:
            raise typer.BadParameter(
                f"{part.strip()!r} is not FACET=NUMBER; facets are {', '.join(FACETS)}"
            ) from None
    try:
        return checked_weights(values)  # type: ignore[arg-type]  # it checks the names too
    except InvalidRecord as error:
        raise typer.BadParameter(str(error)) from None


@dataclass(frozen=True)
class _Asked:
    """What a search was given in addition to its filter."""

    text: str | None
    image: Path | None
    like: str | None
    weights: dict[Facet, float] | None
    calibrated: bool
    fused: bool
    shifted: bool
    top: int


@verb("search")
def search(
    call: Call,
    text: Annotated[
        str | None,
        Argument(
            metavar="LINE",
            help="words, or what the search page's line takes: "
            '2 × "frog" − "text" (tag:dog OR tag:cat) -moon* after:2025-01',
        ),
    ] = None,
    image: Annotated[
        Path | None,
        Option(metavar="FILE", parser=typed_path, help="search by a picture, alone or with LINE"),
    ] = None,
    like: Annotated[str | None, Option(metavar="ADDRESS", help="search for coins like this one")] = None,
    weights: Annotated[
        Any,
        Option(
            metavar="entity=4,context=3,visual=2,emotions=1,image=0",
            parser=_weights,
            help="what each facet weighs; one that is not named weighs nothing",
        ),
    ] = None,
    calibrated: Annotated[bool, Option("--calibrated", help="every facet's cosines on one scale")] = False,
    fused: Annotated[
        bool, Option("--fused", help="the words of the question count too, as on the search page")
    ] = False,
    shifted: Annotated[
        bool,
        Option("--shifted", help="move the question towards its good marks, away from its bad ones"),
    ] = False,
    top: Annotated[int, Option(metavar="N", parser=top_number, help="how many hits (50)")] = 50,
    tags: Tags = None,
    categories: Categories = None,
    since: Since = None,
    until: Until = None,
) -> int:
    """Search the library and explain each score."""
    asked = _Asked(text, image, like, weights, calibrated, fused, shifted, top)
    base = Filter(tags=tuple(tags or ()), categories=tuple(categories or ()), since=since, until=until)
    question = _question(asked, base, call)
    shown = None if image is None else _content(image)
    with call.reading() as reader:
        parts, faults = parts_of(reader, question, pictures=partial(_picture, reader, shown))
        faults = [*question.faults, *faults]
        if question.terms and not parts:
            raise UnknownRecord("; ".join(faults))
        for fault in faults:
            call.say(f"not asked: {fault}")
        for hint in question.hints:
            call.say(hint)
        if parts and question.filter.tier == "library":
            _compare(call, reader, asked, question, parts)
        else:
            _list(call, reader, asked, question)
    return 1 if faults else 0


def _question(asked: _Asked, base: Filter, call: Call) -> Question:
    """The line, narrowed by the flags, with their pictures; wrong usage if it asks nothing."""
    question = read(asked.text or "", base=base, actor=call.actor or current_user())
    terms = list(question.terms)
    if asked.image is None and _SHOWN.text in [term.text for term in terms if term.source == "picture"]:
        call.fail("the line asks for a picture; --image names its file")
    if asked.image is not None and not any((term.source, term.text) == ("picture", "") for term in terms):
        terms.append(_SHOWN)
    if asked.like is not None:
        terms.append(Term("like", asked.like))
    question = replace(question, terms=tuple(terms))
    if not question.terms and question.filter.is_open and question.filter.tier is None:
        call.fail([*question.faults, *question.hints, "a query needs a text, a picture or an example"][0])
    return replace(question, filter=replace(question.filter, tier=question.filter.tier or "library"))


def _compare(call: Call, reader: Reader, asked: _Asked, question: Question, parts: tuple[Part, ...]) -> None:
    try:
        query = Query(
            parts,
            weights=asked.weights,
            top=asked.top,
            filter=question.filter,
            calibrated=asked.calibrated,
            fused=asked.fused,
            shift=shift_of_question(reader, question) if asked.shifted else None,
        )
    except InvalidRecord as error:
        call.fail(str(error))
    results = call.watch(lambda progress: reader.search(query))
    exact = exact_matches(reader, question, asked.text or "", limit=_NAMED)
    known = {one.address for one in exact}
    found = [(hit, _record(reader, hit.address)) for hit in results.exact_first(known)]
    words = words_of(question)
    named = reader.named(words, question.filter, limit=_NAMED) if words else []
    named = [*exact, *(one for one in named if one.address not in known)][:_NAMED]
    meant = did_you_mean(reader, question, asked.text or "") if words and not exact else None
    fits = results.fits or bool(exact)
    if call.json:
        fields = {
            "fits": fits,
            "did_you_mean": meant,
            "exact_matches": [one.address for one in exact],
            "named": [_format(one.address, one) for one in named],
        }
        call.answer_json({**_compared_json(asked, question, results, found, exact=known), **fields})
    elif found:
        head = ("SCORE", "NAME", "TICKER", "ADDRESS", "FROM")
        call.answer_table(head, [_hit_row(hit, record, exact=known) for hit, record in found])
    waiting = reader.waiting_for_vectors()
    if results.why_empty and not (waiting and results.why_empty == NOTHING_THERE):
        call.say(results.why_empty)
    if waiting:
        call.say(waiting)
    if call.json:
        return
    if found and (certainty := describe(results.certainty)):
        call.say(certainty)
    if by_picture := describe_pictures(hit for hit, _ in found):
        call.say(f"found {by_picture}")
    shown = {hit.address for hit, _ in found}
    unseen = [one for one in exact if one.address not in shown]  # such as one without vectors
    for label, coins in (("exact matches", unseen), ("with these words", named[len(exact) :])):
        if coins:
            listed_coins = (f"{one.name} · {one.ticker} ({one.address})" for one in coins)
            call.say(f"{label}: {', '.join(listed_coins)}")
    if meant:
        call.say(f"did you mean: {meant}")
    if found and not fits:
        call.say("nothing fits well: these are only the nearest")


def _list(call: Call, reader: Reader, asked: _Asked, question: Question) -> None:
    """List what matches if nothing is compared: another tier, or a filter alone."""
    if question.terms and not words_of(question):
        raise InvalidRecord("only the library can be searched by picture or example; ask with words")
    found = records_listed(reader, question, limit=asked.top)
    if question.terms:
        call.say("found by its words: only the library is searched by meaning")
    hits = [_format(record.address, record) | {"score": None, "facets": {}} for record in found]
    call.listed(
        {**_asked_json(asked, question), "compared": 0, "hits": hits},
        ("NAME", "TICKER", "ADDRESS"),
        [(one.name, one.ticker, one.address) for one in found],
        empty="no records",
    )


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


def _asked_json(asked: _Asked, question: Question) -> dict[str, Any]:
    return {
        "query": asked.text,
        "image": str(asked.image) if asked.image else None,
        "like": asked.like,
        "asked": written(question),
    }


def _compared_json(
    asked: _Asked,
    question: Question,
    results: Results,
    found: Sequence[tuple[Hit, Record | None]],
    *,
    exact: Collection[str],
) -> dict[str, Any]:
    return {
        **_asked_json(asked, question),
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


# -- how well it does -------------------------------------------------------------------------------------


@verb("evaluate")
def evaluate(
    call: Call,
    k: Annotated[
        int, Option("-k", metavar="K", parser=partial(whole, most=DEPTH), help="how many results count (10)")
    ] = TOP,
    keep: Annotated[bool, Option("--keep", help="store the result for the Evaluation page")] = False,
) -> int:
    """Run the golden queries and print recall, MRR and nDCG."""
    with (call.writing if keep else call.reading)() as reader:
        if keep:
            for fault in reader.golden.faults:
                call.say(f"not counted: {fault}")
        else:
            for name in reader.golden.unread():
                how = "--keep, or the dashboard, imports it"
                call.say(f"{name} was changed by hand and is not counted: {how}")
        elsewhere = evaluation.answers_outside_library(reader, evaluation.all_of(reader))
        found = call.watch(lambda progress: evaluation.evaluate(reader, progress=progress))
        if keep:
            evaluation.store(reader, found, actor=call.actor or current_user())
    if call.json:
        call.answer_json(found.as_json(k=k))
    else:
        call.answer(evaluation.format_table([found], k=k))
    call.say(f"{found.queries} golden queries; {len(found.left_out)} without an answer in this library")
    if elsewhere:
        call.say(f"{len(elsewhere)} relevant coins do not count: they are not in the library")
    return 0


@verb("calibrate")
def calibrate(call: Call) -> int:
    """Measure the scale of each facet's cosines again."""
    with call.writing() as library:
        made = call.watch(lambda progress: library.calibration.measure(actor=call.actor))
    if call.json:
        call.answer_json({"version": made.version, "model": made.model, "figures": made.figures})
    call.say(f"calibration {made.version} of {made.model} over {made.records:,} coins holds from now on")
    return 0
