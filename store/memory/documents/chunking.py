"""A document's pages cut into passages, each with its section and its exact place.

Recursively: paragraphs if they fit, else lines, words, characters. Two passages can be made one, and one two.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from store.catalog.words import join_cjk_lines
from store.memory.documents.headers_footers import bodies
from store.memory.documents.headings import Heading, headings, section
from store.memory.documents.readings import is_compared
from store.memory.engine.kind import Row

LONGEST = 1000  # characters
OVERLAP = 100
SEPARATORS = ("\n\n", "\n", " ", "")

Span = tuple[int, int]


def split_recursively(text: str, *, longest: int = LONGEST, overlap: int = OVERLAP) -> list[Span]:
    """The chunks of a text as offsets: `text[start:end]`, at most `longest` characters each.

    A text is cut at its coarsest separators into pieces, which are joined again as long as they fit; a piece
    that is too long is cut at the next finer ones. A chunk begins with as many whole pieces from the end of
    the one before as have at most `overlap` characters. White space at its edges is excluded, and a chunk is
    never empty.
    """
    found: list[Span] = []
    for span in _split(text, (0, len(text)), SEPARATORS, longest, overlap):
        trimmed = _trimmed(text, span)
        if trimmed and (not found or trimmed[1] > found[-1][1]):  # else: white space after the overlap
            found.append(trimmed)
    return found


def _split(text: str, whole: Span, separators: Sequence[str], longest: int, overlap: int) -> Iterator[Span]:
    if whole[1] - whole[0] <= longest:
        yield whole
        return
    rest = list(separators)
    while rest[0] and text.find(rest[0], *whole) < 0:
        rest.pop(0)
    if not rest[0]:
        yield from _by_characters(whole, longest, overlap)
        return
    fitting: list[Span] = []
    for piece in _pieces(text, whole, rest[0]):
        if piece[1] - piece[0] <= longest:
            fitting.append(piece)
        else:
            yield from _put_together(fitting, longest, overlap)
            fitting = []
            yield from _split(text, piece, rest[1:], longest, overlap)
    yield from _put_together(fitting, longest, overlap)


def _pieces(text: str, whole: Span, separator: str) -> Iterator[Span]:
    """Cut after each separator, which stays at the end of its piece."""
    start, end = whole
    while (found := text.find(separator, start, end)) >= 0:
        yield start, found + len(separator)
        start = found + len(separator)
    if start < end:
        yield start, end


def _put_together(pieces: Sequence[Span], longest: int, overlap: int) -> Iterator[Span]:
    first = 0
    for number, (_, end) in enumerate(pieces):
        if end - pieces[first][0] > longest:
            before = pieces[number - 1][1]
            yield pieces[first][0], before
            while first < number and (
                before - pieces[first][0] > overlap or end - pieces[first][0] > longest
            ):
                first += 1
    if pieces:
        yield pieces[first][0], pieces[-1][1]


def _by_characters(whole: Span, longest: int, overlap: int) -> Iterator[Span]:
    start, end = whole
    while end - start > longest:
        yield start, start + longest
        start += max(1, longest - overlap)
    yield start, end


def _trimmed(text: str, span: Span) -> Span | None:
    part = text[span[0] : span[1]]
    left = len(part) - len(part.lstrip())
    right = len(part.rstrip())
    return (span[0] + left, span[0] + right) if right > left else None


Place = Mapping[str, Any] | sqlite3.Row  # page, span_start, last_page, span_end

PageHeading = tuple[int, Heading]  # the page, from 0

_ENDED = re.compile(r"[.!?:;。！？][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """A passage: pages from 1, its beginning on the first and its end on the last as offsets there."""

    text: str
    section: str  # the heading above it, or ""
    page: int
    start: int
    last_page: int
    end: int


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a page's text, and where it begins in the text that is cut."""

    page: int
    start: int
    text: str
    at: int


def cut(
    pages: Sequence[str],
    *,
    typeset: Sequence[PageHeading] = (),
    longest: int = LONGEST,
    overlap: int = OVERLAP,
) -> list[DocumentChunk]:
    """The passages of a document in order, at most `longest` characters each.

    A passage runs over a page's end where the sentence there does, and nowhere else. `typeset` are the
    headings if the document's type tells them; otherwise its text does.
    """
    found = []
    for run, text, known in _with_headings(pages, typeset):
        for start, end in split_recursively(text, longest=longest, overlap=overlap):
            first = next(part for part in reversed(run) if part.at <= start)
            last = next(part for part in reversed(run) if part.at < end)
            found.append(
                DocumentChunk(
                    join_cjk_lines(text[start:end]), section(known, start, end),
                    first.page, first.start + start - first.at, last.page, last.start + end - last.at,
                )
            )  # fmt: skip
    return found


def sections(
    pages: Sequence[str], rows: Sequence[Place], *, typeset: Sequence[PageHeading] = ()
) -> list[str]:
    """The section of the passage of each row, by its place."""
    found = [""] * len(rows)
    for run, _, known in _with_headings(pages, typeset):
        for part in run:
            length = part.start + len(part.text)
            for number, row in enumerate(rows):
                start = row["span_start"]
                if row["page"] == part.page and part.start <= start < length:
                    until = length if row["last_page"] else min(row["span_end"], length)
                    found[number] = section(known, part.at + start - part.start, part.at + until - part.start)
    return found


def parts(pages: Sequence[str], row: Place) -> list[tuple[int, str]]:
    """What this passage has on each of its pages, from 1: its text there, "" if the passage was edited."""
    found = texts_at(pages, row)
    is_edited = join_cjk_lines("\n".join(text for _, text in found)) != row["content"]
    return [(page, "") for page, _ in found] if is_edited else found


def texts_at(pages: Sequence[str], row: Place) -> list[tuple[int, str]]:
    """What each page, from 1, has at the place of this row."""
    found = []
    all_bodies = bodies(pages)
    for page in range(row["page"], row["last_page"] + 1):
        text = pages[page - 1]
        first = row["span_start"] if page == row["page"] else 0
        last = row["span_end"] if page == row["last_page"] else len(text)
        spans = [(max(begin, first), min(until, last)) for begin, until in all_bodies[page - 1]]
        found.append((page, "\n".join(text[begin:until].strip() for begin, until in spans if begin < until)))
    return found


def place_of_letter(pages: Sequence[str], row: Place, number: int) -> tuple[int, int]:
    """The page, from 1, and the offset there of a letter of this row's passage, counted from 0."""
    all_bodies = bodies(pages)
    for page in range(row["page"], row["last_page"] + 1):
        text = pages[page - 1]
        first = row["span_start"] if page == row["page"] else 0
        last = row["span_end"] if page == row["last_page"] else len(text)
        for begin, until in all_bodies[page - 1]:
            for at in range(max(begin, first), min(until, last)):
                if is_compared(text[at]):
                    if not number:
                        return page, at
                    number -= 1
    raise ValueError(f"the passage has {number:,} letters less")


def _with_headings(
    pages: Sequence[str], typeset: Sequence[PageHeading]
) -> Iterator[tuple[list[_Part], str, list[Heading]]]:
    """Each run with its text and its headings, of which the first is the last one before it."""
    before = ""
    of_pages: dict[int, list[Heading]] = {}
    for page, one in typeset:
        of_pages.setdefault(page + 1, []).append(one)
    for run in _runs(pages, of_pages):
        text = "\n".join(part.text for part in run)
        known = headings(text)
        if typeset:
            known = [
                Heading(part.at + one.start - part.start, one.title)
                for part in run
                for one in of_pages.get(part.page, ())
                if part.start <= one.start < part.start + len(part.text)
            ]
        yield run, text, [Heading(0, before), *known]
        before = known[-1].title if known else before


def _runs(pages: Sequence[str], typeset: Mapping[int, Sequence[Heading]]) -> Iterator[list[_Part]]:
    """The parts of pages whose text goes on from one to the next, without white space at their edges."""
    run: list[_Part] = []
    for number, (text, spans) in enumerate(zip(pages, bodies(pages), strict=True), start=1):
        for first, (begin, until) in enumerate(spans):
            own = text[begin:until]
            start = begin + len(own) - len(own.lstrip())
            own = own.strip()
            if not own:
                continue
            goes_on = run and first == 0 and run[-1].page == number - 1 and _goes_on(run[-1].text, own)
            goes_on = goes_on and all(one.start != start for one in typeset.get(number, ()))
            if run and not goes_on:
                yield run
                run = []
            at = run[-1].at + len(run[-1].text) + 1 if run else 0
            run.append(_Part(number, start, own, at))
    if run:
        yield run


def _goes_on(before: str, after: str) -> bool:
    """Whether a page's last sentence ends on the next page, which then begins with no capital."""
    if _ENDED.search(before) or not after[0].isalpha() or after[0].isupper():
        return False
    return not any(one.start == 0 for one in headings(after))


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
    return {**changed, "content": _together(first["content"], second["content"])}


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


def _together(first: str, second: str) -> str:
    """Both texts, what the second repeats of the first once."""
    for length in range(min(len(first), len(second)), _LEAST_OVERLAP - 1, -1):
        if first.endswith(second[:length]):
            return first + second[length:]
    return f"{first}\n{second}"
