"""Two passages of a paper made one, and one made two, with their places on the pages."""

from collections.abc import Sequence
from typing import Any

from store.catalog.words import join_cjk_lines
from store.memory.documents.chunking import parts, place_of_letter, texts_at
from store.memory.documents.readings import is_compared
from store.memory.engine.kind import Row

_LEAST_OVERLAP = 10  # characters that a passage repeats of the one before it


def joined(first: Row, second: Row, pages: Sequence[str]) -> dict[str, Any]:
    """What changes of the first passage when it takes in the one after it.

    `pages` are the document's texts; without them, or for edited passages, their texts are put together.
    """
    last = second["last_page"] or second["page"]
    changed = {"last_page": last if last > first["page"] else None, "span_end": second["span_end"]}
    if all(_is_as_read(row, pages) for row in (first, second)):
        whole = texts_at(pages, {**first, **changed, "last_page": last})
        return {**changed, "content": join_cjk_lines("\n".join(text for _, text in whole))}
    return {**changed, "content": _put_together(first["content"], second["content"])}


def halves(row: Row, at: int, pages: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What changes in each half when a passage is split at this character of it."""
    before, after = row["content"][:at].rstrip(), row["content"][at:].lstrip()
    first, second = {"content": before}, {"content": after, "span_start": row["span_start"] + 1}
    if not _is_as_read(row, pages):  # both keep its place; the second is still behind the first
        return first, second
    whole = {**row, "last_page": row["last_page"] or row["page"]}
    letters = sum(map(is_compared, before))
    end_page, end = place_of_letter(pages, whole, letters - 1)
    page, start = place_of_letter(pages, whole, letters)
    first |= {"span_end": end + 1, "last_page": end_page if end_page > row["page"] else None}
    last = whole["last_page"]
    second |= {"page": page, "span_start": start, "last_page": last if last > page else None}
    return first, second


def _is_as_read(row: Row, pages: Sequence[str]) -> bool:
    """Whether a passage has the text that its place on the pages has."""
    last = row["last_page"] or row["page"]
    return 0 < row["page"] <= last <= len(pages) and any(
        text for _, text in parts(pages, {**row, "last_page": last})
    )


def _put_together(first: str, second: str) -> str:
    """Both texts, what the second repeats of the first once."""
    for length in range(min(len(first), len(second)), _LEAST_OVERLAP - 1, -1):
        if first.endswith(second[:length]):
            return first + second[length:]
    return f"{first}\n{second}"
