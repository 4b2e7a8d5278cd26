"""Data of the grid's tag dialog: known tags, those of the selected coins, and suggested ones."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from components.grid import matching
from components.shell.base_path import base_path
from components.shell.signed_post import answered
from store.catalog.filters import Filter
from store.errors import NotInMemory
from store.library import Library
from store.records import MAX_TAG, Record
from store.search.tag_suggestions import MOST
from store.tasks import tags

_LOOKED_AT = 500  # coins whose tags are counted
_KNOWN = 5_000  # tags that are offered


def routes() -> list[Route]:
    """The route that answers, for the app."""
    return [Route(f"{base_path()}/tags", serve, methods=["POST"])]


async def serve(request: Request) -> Response:
    """The tags; only for pages of this library, which have its token."""
    return await answered(request, answer)


def answer(library: Library, message: Mapping[str, Any]) -> Response:
    """`known`: tag, category and number of coins, the most used first; `has`: tags of the selected coins.

    With `suggest` instead `suggested`: tags that coins probably lack, each with a confidence from 0 to 1 and
    the addresses of those coins.
    """
    named, match = message.get("addresses"), message.get("matching")
    if isinstance(match, Mapping):
        chosen = matching.addresses(library, match)
    else:
        chosen = [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
    records = library.records(chosen[:_LOOKED_AT])
    headers = {"Cache-Control": "no-store"}
    if message.get("suggest") is True:  # asked for by itself: learning may take a second
        return JSONResponse({"suggested": _suggested(library, records)}, headers=headers)
    has = Counter(tag for record in records for tag in record.tags)
    counts = library.tag_counts(Filter())
    known = [
        (tag, library.taxonomy.category(tag), counts.get(tag, 0)) for tag in tags.known(library)[:_KNOWN]
    ]
    known_tags = {"known": known, "has": dict(has.most_common()), "longest": MAX_TAG}
    return JSONResponse(known_tags, headers=headers)


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
    most = sorted(total, key=lambda tag: -total[tag])[:MOST]
    return [(tag, total[tag] / len(coins[tag]), coins[tag]) for tag in most]
