"""Everything that matches a filter, on all pages; the filter is sent, not the addresses."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from pydantic import TypeAdapter

from store import Filter, Reader
from store.errors import InvalidRecord

_FILTER = TypeAdapter(Filter)


def offered(library: Reader, filter: Filter, *, total: int) -> dict[str, Any]:
    """What a page needs to select all of them: their number, the filter, and the moment."""
    return {"filter": json.dumps(asdict(filter)), "count": total, "generation": library.generation}


def addresses(library: Reader, message: Mapping[Any, Any]) -> list[str]:
    """Those that match, without deselected ones and those that came or changed since."""
    generation, text, left_out = message.get("generation"), message.get("filter"), message.get("except")
    if not isinstance(generation, int) or not isinstance(text, str):
        return []
    try:
        filter = _FILTER.validate_json(text)
        names_tier = "tier" in json.loads(text)
    except ValueError:  # no filter, or an unpaired surrogate in it
        return []
    if not names_tier:  # a page says it of all tiers as well
        return []
    out = {each for each in left_out if isinstance(each, str)} if isinstance(left_out, list) else set()
    try:
        found = library.addresses(replace(filter, unchanged_since=generation))
    except InvalidRecord:  # a number or a text that no database holds
        return []
    return [address for address in found if address not in out]
