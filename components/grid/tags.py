"""Data of the grid's tag dialog: known tags, those of the selected coins, and suggested ones."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from components.grid import matching
from components.shell.server.messages import Kind, Sender
from store import Filter, Library, Record
from store.errors import NotInMemory
from store.records import MAX_TAG
from store.search import tag_suggestions
from store.tasks import tags

_LOOKED_AT = 500  # coins whose tags are counted
_KNOWN = 5_000  # tags that are offered


@dataclass(frozen=True, slots=True)
class TagQuestion:
    """Coins by their addresses, or as all that match a filter; with `suggest` for tags that they lack."""

    addresses: list[str] = field(default_factory=list)
    matching: dict[str, Any] | None = None
    suggest: bool = False


def answer(library: Library, question: TagQuestion, _: Sender) -> dict[str, Any]:
    """`known`: tag, category and number of coins, the most used first; `has`: tags of the selected coins.

    With `suggest` instead `suggested`: tags that coins probably lack, each with a confidence from 0 to 1 and
    the addresses of those coins.
    """
    match = question.matching
    chosen = question.addresses if match is None else matching.addresses(library, match)
    records = library.records(chosen[:_LOOKED_AT])
    if question.suggest:  # requested separately: learning may take a second
        return {"suggested": _suggested(library, records)}
    has = Counter(tag for record in records for tag in record.tags)
    counts = library.tag_counts(Filter())
    known = [
        (tag, library.taxonomy.category(tag), counts.get(tag, 0)) for tag in tags.known(library)[:_KNOWN]
    ]
    return {"known": known, "has": dict(has.most_common()), "longest": MAX_TAG}


KIND = Kind("tags", TagQuestion, answer)


def _suggested(library: Library, records: Sequence[Record]) -> list[tuple[str, float, list[str]]]:
    """Tags that these coins probably lack: the mean confidence, and which coins lack it."""
    coins: defaultdict[str, list[str]] = defaultdict(list)
    total: defaultdict[str, float] = defaultdict(float)
    try:
        found = library.suggested_tags(records)
    except NotInMemory:  # known tags are offered all the same
        return []
    for address, suggestions in found.items():
        for each in suggestions:
            coins[each.tag].append(address)
            total[each.tag] += each.confidence
    most = sorted(total, key=lambda tag: -total[tag])[: tag_suggestions.MOST]
    return [(tag, total[tag] / len(coins[tag]), coins[tag]) for tag in most]
