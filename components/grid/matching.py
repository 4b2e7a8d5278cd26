"""All that match a filter, also on pages nobody has turned to: the filter travels, not the addresses."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from store.filter import Filter
from store.reading import Reader

_FILTER = TypeAdapter(Filter)


def offered(library: Reader, filter: Filter, *, total: int) -> dict[str, Any]:
    """What a page needs to speak of all of them: how many, by which filter, as of which moment."""
    return {"filter": json.dumps(asdict(filter)), "count": total, "generation": library.generation}


def addresses(library: Reader, asked: Mapping[Any, Any]) -> list[str]:
    """Those that match, less what was taken out of the choice and what came or changed since it was made."""
    generation, text, left_out = asked.get("generation"), asked.get("filter"), asked.get("except")
    if not isinstance(generation, int) or not isinstance(text, str):
        return []
    try:
        filter = _FILTER.validate_json(text)
    except ValidationError:
        return []
    if filter.tier is None:  # no page shows all tiers at once
        return []
    out = set(left_out) if isinstance(left_out, list) else set()
    found = library.addresses(replace(filter, unchanged_since=generation))
    return [address for address in found if address not in out]
