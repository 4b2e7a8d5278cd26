"""The headings of a document's text: of Markdown and reStructuredText, numbered ones, and lines of capitals.

A PDF's text has neither marks nor empty lines, so there only numbers, capitals and customary names tell.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LONGEST = 100  # characters
_MOST_WORDS = 12
_MARKED = re.compile(r"#{1,6}[ \t]+(.*?)[ \t#]*")
_FENCE = re.compile(r"\s*(```)")
_UNDERLINE = re.compile(r"([=\-~^\"'*+])\1{2,}\s*")
_NUMBERED = re.compile(
    r"\s{0,8}(\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+[\"“A-Z].*|\d{1,2}(?:\.\d{1,2}){1,3}\.?\s+[a-z]\S*)"
)
_BEFORE_TEXT = re.compile(
    r"\s{0,8}(\d{1,2}\.\s+[A-Z][\w'-]*(?:\s+(?:[A-Z][\w'-]*|of|and|or|the|to|for|in|on|with))*)\.\s+[A-Z]"
)
_CAPITALS = re.compile(r"\s*([A-Z][A-Z ,&'()/-]{3,})")
_CUSTOMARY = re.compile(
    r"(abstract|introduction|conclusions?|summary|references|acknowledge?ments|appendix( [A-Z])?)",
    re.IGNORECASE,
)
_SMALL = 3  # letters of words that need no capital in a title


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and where its line begins in the text."""

    start: int
    title: str


def headings(text: str) -> list[Heading]:
    """The headings of a text, in order."""
    lines = list(_lines(text))
    is_dense = not re.search(r"\n\s*\n", text)
    has_marks = any(_MARKED.fullmatch(line) for _, line in lines)
    found = []
    for number, (start, line) in enumerate(lines):
        before = lines[number - 1][1] if number else ""
        after = lines[number + 1][1] if number + 1 < len(lines) else ""
        title = _title(line, before, after, is_dense=is_dense, has_marks=has_marks)
        if title and len(title) <= _LONGEST:
            found.append(Heading(start, " ".join(title.split())))
    return found


def section(found: Sequence[Heading], start: int, end: int) -> str:
    """The heading under which most of this part of the text stands; "" before the first one."""
    best, longest = "", 0
    edges = [(0, ""), *((one.start, one.title) for one in found)]
    for (begin, title), (until, _) in zip(edges, [*edges[1:], (end, "")], strict=True):
        if (length := min(end, until) - max(start, begin)) > longest:
            best, longest = title, length
    return best


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside of Markdown's blocks of code; those inside are empty."""
    start, fence = 0, ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        yield start, "" if fence or mark else line
        start += len(line) + 1


def _title(line: str, before: str, after: str, *, is_dense: bool, has_marks: bool) -> str:
    """The title of this line if it is a heading, else ""."""
    if marked := _MARKED.fullmatch(line):
        return marked[1]
    stripped, is_first = line.strip(), is_dense or not before.strip()
    if not stripped or not is_first:
        return ""
    if _UNDERLINE.fullmatch(after) and len(after.strip()) >= len(stripped) - 2 and re.search(r"\w", line):
        return stripped
    if has_marks or len(stripped.split()) > _MOST_WORDS:
        return "" if has_marks else _before_text(line)
    is_alone = is_dense or not after.strip()
    if is_alone and (_CAPITALS.fullmatch(line) or _CUSTOMARY.fullmatch(stripped)):
        return stripped
    if is_alone and (numbered := _NUMBERED.fullmatch(line)) and (not is_dense or _is_capitalised(stripped)):
        return numbered[1].strip().rstrip(".")
    return _before_text(line)


def _before_text(line: str) -> str:
    """The title of a numbered paragraph that begins with it, such as "4. Redistribution. You may …"."""
    found = _BEFORE_TEXT.match(line)
    return found[1] if found else ""


def _is_capitalised(line: str) -> bool:
    """Whether a line is a title: its longer words have capitals, and no sentence ends with it."""
    words = line.split()[1:]
    if line[-1] in ".,;:" or not words:
        return False
    return all(len(word) <= _SMALL or not word[0].islower() for word in words) or line.endswith("()")
