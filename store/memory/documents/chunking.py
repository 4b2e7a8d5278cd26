"""A document's pages cut into passages, each with its section and its exact place."""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from store.catalog.words import join_cjk_lines
from store.memory.documents.headers_footers import bodies
from store.memory.documents.headings import Heading, headings, section
from store.memory.documents.readings import is_compared
from store.memory.text.recursive_chunks import LONGEST, OVERLAP, split_recursively

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
    """What the passage of this row has on each of its pages: the page from 1 and the text there.

    The texts are "" if the passage was edited.
    """
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
