"""Commands that only read; they work beside the process that writes."""

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from store.catalog import filter_syntax
from store.catalog.filters import Filter
from store.catalog.history import Event
from store.cli import values
from store.cli.open_library import reading, root_of, spelled
from store.cli.output import as_json, named
from store.cli.terminal import Terminal, plain
from store.disk.files import absolute, read_regular
from store.disk.layout import Layout
from store.errors import BadSource
from store.exporting import export as write_export
from store.identity import current_user
from store.importing.tables import MAX_TEXT_BYTES, decoded, parsed
from store.records import CAPTION_FACETS, TIERS, Record


def list_(arguments: Namespace, terminal: Terminal) -> int:
    """List records, newest first; wrong usage if a part of the line is not understood."""
    given = filter_of(arguments, tier=arguments.tier, words=arguments.words)
    line = filter_syntax.parsed(arguments.line, base=given, actor=arguments.actor or current_user())
    faults = line.faults or (line.hints if line.filter == given else ())
    if faults:  # without it more would be listed than was meant
        usage: ArgumentParser = arguments.parser
        usage.error(" ".join(faults))
    for hint in line.hints:
        terminal.say(hint)
    with reading(arguments, terminal) as reader:
        records = reader.find(line.filter)
    if arguments.json:
        terminal.answer_json([record.as_json() for record in records])
    elif records:
        head = ("ADDRESS", "TIER", "NAME", "TICKER", "CREATED", "CAPTION")
        terminal.answer_table(head, [_row(record) for record in records])
    else:
        terminal.say("no records")
    return 0


def show(arguments: Namespace, terminal: Terminal) -> int:
    """Print one record in full."""
    with reading(arguments, terminal) as reader:
        record = reader.get(*spelled([arguments.address]))
        if arguments.json:
            terminal.answer_json(
                {**record.as_json(), "picture_text": reader.picture_texts.of(record.address).text}
            )
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
            ("text in it", reader.picture_texts.of(record.address).text),
        ]
    terminal.answer("\n".join(f"{name:12}{plain(value)}".rstrip() for name, value in lines))
    return 0


def history(arguments: Namespace, terminal: Terminal) -> int:
    """Print decisions, newest first.

    Raises UnknownRecord for the address of no coin.
    """
    address = spelled([arguments.address])[0] if arguments.address else None
    with reading(arguments, terminal) as reader:
        events = reader.history(address=address, limit=arguments.limit)
        if address and not events:
            reader.get(address)  # a mistyped address has no history either
    if arguments.json:
        terminal.answer_json([_event_json(event) for event in events])
    elif events:
        terminal.answer_table(
            ("WHEN", "WHO", "VERB", "NAME", "ADDRESS", "FROM", "TO", ""), _event_rows(events)
        )
    else:
        terminal.say("nothing has happened yet")
    return 0


def export(arguments: Namespace, terminal: Terminal) -> int:
    """Export records and pictures to a new place; without --tier, all but the trash.

    Raises BadSource if the place lies inside the library.
    """
    tiers = [arguments.tier] if arguments.tier else [tier for tier in TIERS if tier != "trash"]
    if Layout(root_of(arguments)).owns(absolute(arguments.path)):
        raise BadSource(f"{arguments.path} lies inside the library; export to a place outside")
    previous = _earlier_list(arguments.previous) if arguments.previous else None
    with reading(arguments, terminal) as reader:
        if arguments.only:
            records = [reader.get(address) for address in spelled(arguments.only)]
        else:
            records = [record for tier in tiers for record in reader.find(Filter(tier=tier))]
        exported = terminal.watch(
            lambda progress: write_export(
                records,
                reader.picture,
                destination=arguments.path,
                format=arguments.format,
                texts=arguments.texts,
                vectors_of=reader.stored_vectors,
                previous=previous,
                progress=progress,
            )
        )
    if arguments.json:
        refused = as_json(exported.refused)
        terminal.answer_json({"path": str(arguments.path), "done": exported.done, "refused": refused})
    terminal.say(f"exported {len(exported.done):,} to {arguments.path}")
    return named(exported.refused, terminal)


def _earlier_list(path: Path) -> dict[str, Any]:
    try:
        found = parsed(decoded(read_regular(path, limit=MAX_TEXT_BYTES)))
    except OSError as error:
        raise BadSource(f"{path} cannot be read: {error.strerror}") from error
    except BadSource as error:
        raise BadSource(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise BadSource(f"{path} is no token list")
    return found


def add_filters(to: ArgumentParser) -> None:
    """Flags that `filter_of` reads."""
    to.add_argument("--tag", action="append", default=[], dest="tags", metavar="T", help="may be repeated")
    to.add_argument("--category", action="append", default=[], dest="categories", metavar="C")
    to.add_argument(
        "--since", type=values.first_second, metavar="DATE", help="created then or later (2025-01-31, UTC)"
    )
    to.add_argument("--until", type=values.last_second, metavar="DATE", help="created on that day or before")


def filter_of(arguments: Namespace, *, tier: Any = None, words: str = "") -> Filter:
    """The filter that the flags describe."""
    return Filter(
        tier=tier,
        words=words,
        tags=tuple(arguments.tags),
        categories=tuple(arguments.categories),
        since=arguments.since,
        until=arguments.until,
    )


def _row(record: Record) -> tuple[str, ...]:
    written = sum(bool(text.strip()) for text in record.caption.values())
    caption = f"{written} of {len(CAPTION_FACETS)}" if written else ""
    return record.address, record.tier, record.name, record.ticker, _day(record.created_at), caption


def _event_json(event: Event) -> dict[str, Any]:
    return {
        "id": event.id,
        "decision": event.decision,
        "verb": event.verb,
        "token_address": event.address,
        "token_name": event.name,
        "at": event.created_at,
        "who": event.actor,
        "reason": event.reason,
        "before_tier": event.before_tier,
        "after_tier": event.after_tier,
        "undone": event.is_undone,
    }


def _event_rows(events: list[Event]) -> list[tuple[str, ...]]:
    return [
        (
            time.strftime("%Y-%m-%d %H:%M", time.localtime(event.created_at)),
            event.actor,
            event.verb,
            event.name,
            event.address,
            event.before_tier or "",
            event.after_tier or "",
            "undone" if event.is_undone else event.reason,
        )
        for event in events
    ]


def _day(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%d", time.gmtime(seconds))
    except (OverflowError, ValueError, OSError):  # a year that no calendar has
        return str(seconds)
