"""Parse a language model's answer into facets and tags: tolerant of its form, strict about its content."""

import json
import re
from collections.abc import Sequence
from typing import Any

from store.errors import InvalidRecord
from store.records import CAPTION_FACETS, MAX_FACET, MAX_TAG, MAX_TAGS, REQUIRED_FACETS, Facet

MAX_STARTS = 200  # braces tried as the beginning of the object

_TEXT = {"type": "string"}


def schema(facets: Sequence[Facet] = CAPTION_FACETS) -> dict[str, Any]:
    """The JSON schema of an answer, for providers that can enforce one."""
    properties: dict[str, Any] = dict.fromkeys(facets, _TEXT)
    if len(facets) > 1:
        properties["tags"] = {"type": "array", "items": _TEXT}
    return {
        "name": "caption",
        "schema": {
            "type": "object",
            "properties": properties,
            "required": [facet for facet in facets if facet in REQUIRED_FACETS or len(facets) == 1],
            "additionalProperties": False,
        },
    }


def read_answer(
    answer: str, *, facets: Sequence[Facet] = CAPTION_FACETS
) -> tuple[dict[Facet, str], list[str]]:
    """Facets and tags of an answer, whether bare, fenced or surrounded by prose.

    Raises InvalidRecord with what is wrong. The content is never interpreted as anything but text.
    """
    found = _object_in(answer)
    inner = found.get("caption")
    given = inner if isinstance(inner, dict) else found
    faults = []
    caption: dict[Facet, str] = {}
    for facet in facets:
        text = given.get(facet)
        if text is None or (isinstance(text, str) and not text.strip()):
            if facet in REQUIRED_FACETS or len(facets) == 1:
                faults.append(f"{facet} is missing")
        elif not isinstance(text, str):
            faults.append(f"{facet} must be text")
        elif len(text) > MAX_FACET:
            faults.append(f"{facet} has more than {MAX_FACET:,} characters")
        else:
            caption[facet] = _storable(text)
    tags = found.get("tags") or []
    if isinstance(tags, str):
        tags = [tags]
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        faults.append("tags must be a list of texts")
    else:
        tags = _tags(tags)
    if faults:
        raise InvalidRecord("; ".join(faults))
    return caption, tags


def _tags(tags: Sequence[str]) -> list[str]:
    """The valid tags; an invalid one does not cost the whole caption."""
    named = dict.fromkeys(_storable(tag) for one in tags for tag in one.split(","))
    return [tag for tag in named if tag and len(tag) <= MAX_TAG][:MAX_TAGS]


def _storable(text: str) -> str:
    """The text without lone surrogates, which JSON can express and no file can store."""
    return text.strip().encode("utf-8", "replace").decode()


def _object_in(answer: str) -> dict[str, Any]:
    """The first JSON object with a facet in it, at any position."""
    decoder = json.JSONDecoder(strict=False)  # models put line breaks into strings
    for start in [match.start() for match in re.finditer(r"\{", answer)][:MAX_STARTS]:
        try:
            value, _ = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):  # half an object, or one nested a thousand deep
            continue
        if isinstance(value, dict) and value.keys() & {*CAPTION_FACETS, "caption"}:
            return value
    raise InvalidRecord("it holds no JSON object with entity and context")
