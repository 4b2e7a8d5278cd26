"""Parts of a page besides its text: headers, footers, page numbers and tables of contents.

They hold the words of every question about their document and answer none, so they are left out of passages.
The text itself stays as it is: what is left are spans of it, so that citations are exact.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_EDGE = 3  # lines at the top and at the bottom of a page that may repeat
_LEAST_PAGES = 3  # that have a line before it counts as repeated …
_LEAST_SHARE = 0.3  # … and their share of all pages; left and right pages often have different headers
_LONGEST = 150  # characters of a header; longer lines that repeat are text
_TITLE = 60  # words of a title page, fewer than
_SHORT = 6  # pages
_SENTENCE = 10  # words of a line that says something
_LEAST_ENTRIES = 4  # lines of a table of contents

_HEADING = re.compile(r"\W*(table of )?contents\W*", re.IGNORECASE)
_WITH_LEADERS = re.compile(r".*\S\s*(?:\.\s?){3,}\s*(\d{1,4}|[ivxl]+)\s*|.*\S\s*…+\s*(\d{1,4}|[ivxl]+)\s*")
_WITH_NUMBER = re.compile(r".*\S\s+(\d{1,4}|[ivxl]+)\s*")


def bodies(pages: Sequence[str]) -> list[list[Span]]:
    """For each page the spans of its own text, in order; whole pages if nothing else would be left."""
    repeated = _repeated_lines(pages)
    found = [_without_contents(text, _without_edges(text, repeated)) for text in pages]
    if len(pages) >= _LEAST_PAGES and _is_title(pages[0], others=pages[1:]):
        found[0] = []
    if any(text[start:end].strip() for text, spans in zip(pages, found, strict=True) for start, end in spans):
        return found
    return [[(0, len(text))] for text in pages]


def _repeated_lines(pages: Sequence[str]) -> set[str]:
    """The lines at the edges of pages, by their key, that enough pages share."""
    counts = Counter(
        key
        for text in pages
        for key in {_key(text[start:end]) for start, end in _edges([*_lines(text, (0, len(text)))])}
    )
    least = max(_LEAST_PAGES, _LEAST_SHARE * len(pages))
    found = {key for key, count in counts.items() if count >= least}
    if _LEAST_PAGES <= len(pages) <= _SHORT:  # left and right headers are on two pages each
        outer = [[*_lines(text, (0, len(text)))] for text in pages]
        for at in (0, -1):
            ends = Counter(
                _key(text[slice(*lines[at])]) for text, lines in zip(pages, outer, strict=True) if lines
            )
            found |= {key for key, count in ends.items() if count >= 2}
    return {key for key in found if len(key) <= _LONGEST}


def _is_title(text: str, *, others: Sequence[str]) -> bool:
    """Whether a page says no more than a title, its authors and the like, and the others say much more."""
    lines = [line.split() for line in text.splitlines()]
    count = sum(map(len, lines))
    much = sum(len(other.split()) for other in others) / len(others)
    return count < _TITLE and all(len(words) < _SENTENCE for words in lines) and much > 2 * _TITLE


def _edges(lines: list[Span]) -> list[Span]:
    return lines[:_EDGE] + lines[-_EDGE:]


def _key(line: str) -> str:
    """The common part of header lines that count pages or chapters."""
    return re.sub(r"\d+", "#", " ".join(line.split())).casefold()


def _lines(text: str, span: Span) -> Iterator[Span]:
    """The lines of this part that are not empty, without their line ends."""
    for match in re.finditer(r"[^\n]+", text[span[0] : span[1]]):
        if match.group().strip():
            yield span[0] + match.start(), span[0] + match.end()


def _without_edges(text: str, repeated: set[str]) -> Span:
    """The page without the repeated lines at its top and its bottom."""
    lines = [*_lines(text, (0, len(text)))]
    start, end = 0, len(text)
    for line in lines[:_EDGE]:
        if _key(text[line[0] : line[1]]) not in repeated:
            break
        start = line[1]
    for line in reversed(lines[-_EDGE:]):
        if line[0] < start or _key(text[line[0] : line[1]]) not in repeated:
            break
        end = line[0]
    return start, max(start, end)


def _without_contents(text: str, span: Span) -> list[Span]:
    """The parts of this span outside tables of contents."""
    lines = [*_lines(text, span)]
    kept: list[Span] = []
    start, place = span[0], 0
    while place < len(lines):
        last = _end_of_contents(text, lines, place)
        if last is None:
            place += 1
            continue
        kept.append((start, lines[place][0]))
        start, place = lines[last][1], last + 1
    kept.append((start, span[1]))
    return [(first, end) for first, end in kept if text[first:end].strip()]


def _end_of_contents(text: str, lines: Sequence[Span], place: int) -> int | None:
    """The last line of the table of contents that begins with this line; None if none begins here.

    After a heading lines that end in a number count, elsewhere only those with dots before it. An entry may
    take two lines.
    """
    has_heading = _HEADING.fullmatch(text[lines[place][0] : lines[place][1]]) is not None
    entry = _WITH_NUMBER if has_heading else _WITH_LEADERS
    count, last, gap = 0, place, 0
    for number in range(place + has_heading, len(lines)):
        if entry.fullmatch(text[lines[number][0] : lines[number][1]]):
            count, last, gap = count + 1, number, 0
        elif count == 0 and not has_heading:
            return None
        elif (gap := gap + 1) > 1:
            break
    return last if count >= _LEAST_ENTRIES else None
