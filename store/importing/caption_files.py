"""Captions as other tools write them: a text file beside each picture, one string for a whole caption."""

import re
from collections.abc import Mapping
from typing import Any

from store.errors import BadSource
from store.importing.metadata import one_line, tags
from store.importing.texts import MAX_BYTES, decoded
from store.importing.trees import Tree
from store.records import CAPTION_FACETS, MAX_TAG, MAX_TAGS

WHOLE = ("caption", "text")  # columns that hold one string for the whole caption
_FEWEST, _WORDS = 3, 4  # a list of tags has so many parts at least, of so many words at most
_SENTENCE = re.compile(r"[.!?](?:\s|$)")


def beside(tree: Tree, name: str) -> str | None:
    """The text file with this picture's name, as trainers have it (kohya, TagGUI); None if there is none."""
    path = f"{name.rpartition('.')[0]}.txt"
    return path if path in tree.known else None


def fields_of(tree: Tree, name: str) -> dict[str, Any]:
    """The tags or the caption that a text file holds. Raises BadSource if it is no text."""
    text = decoded(tree.read(name, limit=MAX_BYTES)).strip()
    return parse_caption(text)


def parse_caption(text: str) -> dict[str, Any]:
    """A line of short parts between commas as tags, any other text as what is in the picture."""
    parts = [part for part in text.split(",") if part.strip()]
    is_list = (
        _FEWEST <= len(parts) <= MAX_TAGS
        and "\n" not in text
        and not _SENTENCE.search(text)
        and all(len(part.split()) <= _WORDS and len(part.strip()) <= MAX_TAG for part in parts)
    )
    if is_list:
        return {"tags": tags(text)}
    return {"caption": {"entity": text}} if text else {}


def with_whole_caption(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row, with its one text for the whole caption as the facet `entity`.

    Raises BadSource if a list for the whole caption contains something other than texts.
    """
    rest = dict(row)
    if isinstance(rest.get("caption"), Mapping) or any(rest.get(facet) for facet in CAPTION_FACETS):
        return rest
    for key in WHOLE:
        text = rest.get(key)
        if isinstance(text, list):  # several captions of one picture
            if not all(isinstance(one, str) for one in text):
                raise BadSource(f"its {key} must be a text")
            text = " ".join(one_line(one) for one in text)
        if isinstance(text, str) and text.strip():
            del rest[key]
            rest["caption"] = {"entity": text.strip()}
            break
    return rest
