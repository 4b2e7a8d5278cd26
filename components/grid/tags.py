"""Data of the grid's tag dialog: known tags, and those of the selected coins."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from components.grid import matching
from components.shell.base_path import base_path
from components.shell.signed_post import answered
from store.catalog.filters import Filter
from store.library import Library
from store.records import MAX_TAG
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
    """`known`: tag, category and number of coins, the most used first; `has`: tags of the selected coins."""
    named, match = message.get("addresses"), message.get("matching")
    if isinstance(match, Mapping):
        chosen = matching.addresses(library, match)
    else:
        chosen = [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
    has = Counter(tag for record in library.records(chosen[:_LOOKED_AT]) for tag in record.tags)
    counts = library.tag_counts(Filter())
    known = [
        (tag, library.taxonomy.category(tag), counts.get(tag, 0)) for tag in tags.known(library)[:_KNOWN]
    ]
    known_tags = {"known": known, "has": dict(has.most_common()), "longest": MAX_TAG}
    return JSONResponse(known_tags, headers={"Cache-Control": "no-store"})
