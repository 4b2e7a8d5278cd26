"""The headings of a document's text: of Markdown and reStructuredText, numbered ones, and lines of capitals.

A PDF's text has neither marks nor empty lines. There the type tells, larger or bolder than the text, together
with the numbers, which count on from one heading to the next; lists, rows of tables and formulas do neither.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from store.memory.engine.inputs import UnknownEntry, nearest

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
_NUMBER = re.compile(r"(?:(?:section|chapter)\s+)?(\d{1,2}(?:\.\d{1,2}){0,4})[.:]?(?:\s+|$)", re.IGNORECASE)
_APPENDIX = re.compile(r"appendix\b.*|[A-Z](\.\d{1,2}){1,3}\.?\s+\S.*|[IVX]{1,5}\.\s+[A-Z].*", re.IGNORECASE)
_LARGER = 1.05  # times the size of the text: type that is set apart
_SAME = 0.02  # part of a size by which lines of one style differ
_SKIPPED = 2  # numbers that one heading may be ahead of the one before
_MOST_LINES = 3  # of one heading
_FULL_LINE = 35  # characters of a bold line of the text's size that goes on in the next one
_LABEL = re.compile(r"((?:\d+|[a-z])(?:\.\d+)*)\.?\s+")
_UNNUMBERED = 1_000_000
_SHOWN = 60  # sections that a refusal names
_HAS_LETTER = re.compile(r"[^\W\d]")
_MOST_CANDIDATES = 1_000


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


@dataclass(frozen=True, slots=True)
class TypesetLine:
    """A line of a PDF's page (from 0) and its type; `lead` is the bold beginning of one that is not bold."""

    page: int
    start: int
    text: str
    size: float
    font: str
    is_bold: bool
    lead: str = ""

    def looks_like(self, other: "TypesetLine") -> bool:
        """Whether both are set in one style."""
        return self.is_bold == other.is_bold and abs(self.size - other.size) <= _SAME * other.size


def typeset_headings(lines: Sequence[TypesetLine]) -> list[tuple[int, Heading]]:
    """The headings of a PDF, each with its page from 0; none if its type tells too little.

    These are the longest row of numbered lines in a type of their own whose numbers count on, and what else
    is set in the style of those among them that are larger than the text.
    """
    if not lines:
        return []
    sizes, fonts = Counter[float](), Counter[str]()
    for line in lines:
        sizes[line.size] += len(line.text)
        fonts[line.font] += len(line.text)
    body, font = sizes.most_common(1)[0][0], fonts.most_common(1)[0][0]
    numbered = _counting_on(lines, body=body, font=font)
    styles = [lines[place] for place in numbered if lines[place].size >= _LARGER * body]
    if len(numbered) < 2 or not styles:
        styles = _repeated_styles(lines, body=body)
        if styles and all(len(_number(lines[place].text)) == 1 for place in numbered):
            numbered = []  # a list of bold items between headings without numbers
    if len(numbered) < 2 and not styles:
        return []
    chosen = set(numbered)
    for place, line in enumerate(lines):
        is_large = line.size >= _LARGER * body and any(line.looks_like(style) for style in styles)
        is_named = line.is_bold and (_CUSTOMARY.fullmatch(line.text) or _APPENDIX.fullmatch(line.text))
        if (is_large or is_named) and _HAS_LETTER.search(line.text) and _is_short(line.text):
            chosen.add(place)
    return [*_joined(lines, chosen, body=body)]


def _counting_on(lines: Sequence[TypesetLine], *, body: float, font: str) -> list[int]:
    """The places of the numbered lines that make up the best row of numbers that count on."""
    known = list(_numbered(lines, body=body, font=font))[:_MOST_CANDIDATES]
    rows: list[
        tuple[float, int]
    ] = []  # the weight of the best row that ends with each, and the one before it
    for at, (_, number, weight) in enumerate(known):
        steps = [(earlier, _step(known[earlier][1], number)) for earlier in range(at)]
        before = ((rows[earlier][0] + (0.5 if step == 1 else 0), earlier) for earlier, step in steps if step)
        most, last = max(before, default=(0.0, -1))
        rows.append((most + weight, last))
    at = max(range(len(rows)), key=lambda one: rows[one][0], default=-1)
    found = []
    while at >= 0:
        found.append(known[at][0])
        at = rows[at][1]
    return found[::-1]


def _numbered(
    lines: Sequence[TypesetLine], *, body: float, font: str
) -> Iterator[tuple[int, tuple[int, ...], int]]:
    """The places of numbered lines in a type of their own, their numbers, and how much their type tells."""
    numbers = [_number(line.text) for line in lines]
    for place, (line, number) in enumerate(zip(lines, numbers, strict=True)):
        if not number or _is_listed(lines, numbers, place):
            continue
        is_whole = not line.lead and _is_short(line.text) and line.text[-1] not in ",;:"
        if is_whole and line.size >= _LARGER * body:
            yield place, number, 3
        elif is_whole and line.is_bold and _HAS_LETTER.search(line.text):
            yield place, number, 2
        elif len(number) > 1 and (_HAS_LETTER.search(line.lead) or (is_whole and line.font != font)):
            yield place, number, 1


def _number(text: str) -> tuple[int, ...]:
    found = _NUMBER.match(text)
    return tuple(map(int, found[1].split("."))) if found else ()


def _is_listed(lines: Sequence[TypesetLine], numbers: Sequence[tuple[int, ...]], place: int) -> bool:
    """Whether a numbered line is in a list, a table or a table of contents.

    There one follows the other; after a heading there is text, or a heading that is deeper.
    """
    pairs = [(at, at + 1) for at in (place - 1, place) if 0 <= at < len(lines) - 1]
    return any(
        numbers[first]
        and 0 < len(numbers[second]) <= len(numbers[first])
        and lines[first].looks_like(lines[second])
        for first, second in pairs
    )


def _step(before: Sequence[int], after: Sequence[int]) -> int:
    """How far a heading's number counts on from another: 1 if it is the next one, 0 if it cannot follow."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    ahead = (
        [after[same] - (before[same] if same < len(before) else 0), *after[same + 1 :]]
        if same < len(after)
        else []
    )
    if not ahead or ahead[0] < (same < len(before)) or max(ahead) > _SKIPPED:
        return 0
    return max(1, sum(ahead))


def _repeated_styles(lines: Sequence[TypesetLine], *, body: float) -> list[TypesetLine]:
    """A line of each style that is larger than the text, in which two lines apart from each other are set."""
    large = [(place, line) for place, line in enumerate(lines) if line.size >= _LARGER * body]
    return [
        line
        for place, line in large
        if any(line.looks_like(other) and abs(place - at) >= _MOST_LINES for at, other in large)
    ]


def _joined(lines: Sequence[TypesetLine], chosen: set[int], *, body: float) -> Iterator[tuple[int, Heading]]:
    """The chosen lines as headings; lines of one style that follow each other are one."""
    after = -1
    for place in sorted(chosen):
        if place < after:
            continue
        line, after = lines[place], place + 1
        parts = [line.lead or line.text]
        while (
            len(parts) < _MOST_LINES
            and not line.lead
            and (line.size >= _LARGER * body or len(parts[-1]) >= _FULL_LINE)
            and after < len(lines)
            and lines[after].page == line.page
            and lines[after].looks_like(line)
            and not lines[after].lead
            and not _NUMBER.match(lines[after].text)
            and not _CUSTOMARY.fullmatch(lines[after].text)
        ):
            parts.append(lines[after].text)
            after += 1
        title = " ".join(" ".join(parts).split()).rstrip(".:")
        if _HAS_LETTER.search(title):
            yield line.page, Heading(line.start, title)


def _is_short(text: str) -> bool:
    return len(text) <= 1.5 * _LONGEST and len(text.split()) <= 2 * _MOST_WORDS


def section(found: Sequence[Heading], start: int, end: int) -> str:
    """The heading above most of this part of the text; "" before the first one."""
    best, longest = "", 0
    edges = [(0, ""), *((one.start, one.title) for one in found)]
    for (begin, title), (until, _) in zip(edges, [*edges[1:], (end, "")], strict=True):
        if (length := min(end, until) - max(start, begin)) > longest:
            best, longest = title, length
    return best


def sections_named(name: str, known: Collection[str]) -> list[str]:
    """The known sections with this name, or this number or title alone. Raises UnknownEntry."""
    known = [section for section in known if section]
    wanted = " ".join(name.split()).casefold().rstrip(".")
    if found := [section for section in known if wanted in _names(section)]:
        return found
    shown = ", ".join(map(repr, sorted(known, key=_order)[:_SHOWN]))
    more = f" and {len(known) - _SHOWN:,} more" if len(known) > _SHOWN else ""
    alike = f"the nearest: {', '.join(map(repr, near))}; " if (near := nearest(name, known)) else ""
    raise UnknownEntry(f"there is no section {name!r}; {alike}there are {shown or 'none yet'}{more}")


def _names(section: str) -> set[str]:
    """How a person may call a section: all of it, its number, or its title."""
    whole = " ".join(section.split()).casefold()
    number = _LABEL.match(whole)
    return {whole, number[1], whole[number.end() :]} if number else {whole}


def _order(section: str) -> tuple[list[int], str]:
    """The order of sections: 2, 2.1, 10, then those without a number."""
    number = _NUMBER.match(section)
    return [*map(int, number[1].split("."))] if number else [_UNNUMBERED], section


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
