"""The tables of a PDF's page as Markdown, found by the rules that a page draws around and in them.

Papers set tables between horizontal rules (LaTeX's booktabs) or in grids. Rules of one width between which
text stands in cells make a table; its columns are where the cells of most rows stand, its header is above the
first rule within it. A cell over several columns counts for each of them in the header.
"""

from collections.abc import Iterable, Iterator, Sequence
from ctypes import c_float
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from statistics import median
from typing import Any

_THIN = 2.5  # points: the height of a rule at most
_LEAST_WIDTH = 40.0  # points of a rule
_SAME = 4.0  # points by which the ends of a table's rules differ at most
_NEAR = 1.5  # points between the pieces of one rule
_ROW, _CORNERS = 60.0, 6  # points of the background of a row at most, and parts of its outline
_MOST_PATHS = 5_000  # of a page that is looked at: a drawing has more
_CELL = 0.6  # of the type's size: a gap that parts cells; words have half of it between them
_WORD = 0.18  # … and one that parts words
_CROSSING = 0.15  # of the rows, at most, run across the gap between two columns
_TABULAR = 0.25  # of the rows between two rules that have two cells or more
_APART = 10.0  # points at most between two rows' backgrounds
_CLOSE = 2.4  # times the type's size: from row to row, or from a rule to its row
_TITLE = 2.5  # times the type's size: between two rules, a row of one cell within a table
_PROSE_ROWS, _PROSE_WIDTH = 12, 0.35  # two columns of so many rows and so wide are a page's, not a table's
_FILLED = 0.4  # of its cells at least; letters between the lines of a chart fill less
_CUT = "\x02"  # how PDFium tells of a hyphen at a line's end
_FULL = 0.8  # of a column's width, from which a line of it goes on in the next line


@dataclass(frozen=True, slots=True)
class Box:
    """A part of a page in PDF's points, from its lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def middle(self) -> float:
        """Half its height."""
        return (self.bottom + self.top) / 2


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter with its number in the page's text."""

    number: int
    text: str
    box: Box


@dataclass(slots=True)
class Chunk:
    """What stands together in a row: a cell, or a part of one."""

    letters: list[Letter]

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.letters[0].box.left

    @property
    def right(self) -> float:
        """Where it ends."""
        return max(one.box.right for one in self.letters)

    def words(self) -> list["Chunk"]:
        """Its words."""
        return _parted(self.letters, _WORD)

    def __str__(self) -> str:
        """Its text, a space between words."""
        return " ".join("".join(one.text for one in word.letters) for word in self.words())


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, the header first, each with the part of the page that it has; and its letters."""

    rows: list[list[str]]
    boxes: list[Box]
    letters: frozenset[int] = field(repr=False)

    def lines(self) -> Iterator[tuple[str, Box | None]]:
        """The lines of Markdown; only the rows have a place on the page."""
        for number, (row, box) in enumerate(zip(self.rows, self.boxes, strict=True)):
            cells = (cell.replace("|", "\\|").replace(_CUT, "-") for cell in row)
            yield f"| {' | '.join(cells)} |", box
            if number == 0:
                yield f"|{' --- |' * len(row)}", None


def tables(sheet: Any, text_page: Any) -> list[Table]:
    """The tables of a page, from its top."""
    across, down = _rules(sheet)
    found: list[Table] = []
    letters: list[Letter] | None = None
    for rules in _of_one_width(across):
        if letters is None:
            letters = _letters(text_page)
        for group in _groups(rules, letters):
            table = _table(group, letters, down)
            if table and len(rules) == 1 and not all(map(_is_word, table.rows[0])):
                continue  # the line of a fraction
            if table and not any(table.letters & other.letters for other in found):
                found.append(table)
    return sorted(found, key=lambda one: -one.boxes[0].top)


def _is_word(cell: str) -> bool:
    return sum(map(str.isalnum, cell)) > 1


# -- rules ---------------------------------------------------------------------------------------------------


def _rules(sheet: Any) -> tuple[list[Box], list[Box]]:
    """The horizontal and the vertical rules that a page draws."""
    from pypdfium2 import raw

    across, down = list[Box](), list[Box]()
    for number, one in enumerate(sheet.get_objects(filter=(raw.FPDF_PAGEOBJ_PATH,), max_depth=1)):
        if number == _MOST_PATHS:
            break
        left, bottom, right, top = one.get_bounds()
        if top - bottom <= _THIN:
            across.append(Box(left, bottom, right, top))
        elif right - left <= _THIN:
            down.append(Box(left, bottom, right, top))
        else:
            for box in _sides(one, left, bottom, right, top):
                (across if box.top - box.bottom <= _THIN else down).append(box)
    return [one for one in _joined(across) if one.right - one.left >= _LEAST_WIDTH], down


def _sides(path: Any, left: float, bottom: float, right: float, top: float) -> Iterator[Box]:
    """The straight sides of a path that run across or down: of a box, of a grid, of a row's background."""
    from pypdfium2 import raw

    fill, stroke = raw.ctypes.c_int(), raw.ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    count = raw.FPDFPath_CountSegments(path)
    if fill.value and count <= _CORNERS and top - bottom <= _ROW:
        yield Box(left, top, right, top)
        yield Box(left, bottom, right, bottom)
    if not stroke.value or count > _MOST_PATHS:
        return
    matrix = path.get_matrix()
    x, y = c_float(), c_float()
    first = before = (0.0, 0.0)
    for number in range(count):
        segment = raw.FPDFPath_GetPathSegment(path, number)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        here = matrix.on_point(x.value, y.value)
        kind = raw.FPDFPathSegment_GetType(segment)
        ends = [(before, here)] if kind == raw.FPDF_SEGMENT_LINETO else []
        if kind == raw.FPDF_SEGMENT_MOVETO:
            first = here
        if raw.FPDFPathSegment_GetClose(segment):
            ends.append((here, first))
        for (x0, y0), (x1, y1) in ends:
            if min(abs(x1 - x0), abs(y1 - y0)) <= 1:
                yield Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
        before = here


def _joined(rules: Iterable[Box]) -> list[Box]:
    """Horizontal rules, pieces at one height that touch as one."""
    joined: list[Box] = []
    for one in sorted(rules, key=lambda one: (-round(one.middle), one.left)):
        last = joined[-1] if joined else None
        if last and abs(last.middle - one.middle) <= _NEAR and one.left - last.right <= _NEAR:
            joined[-1] = Box(last.left, last.bottom, max(last.right, one.right), last.top)
        else:
            joined.append(one)
    return joined


def _of_one_width(rules: Sequence[Box]) -> list[list[Box]]:
    """Rules that begin and end at the same places, each group from its top."""
    groups: list[list[Box]] = []
    for one in sorted(rules, key=lambda one: -one.middle):
        for group in groups:
            if abs(group[0].left - one.left) <= _SAME and abs(group[0].right - one.right) <= _SAME:
                if group[-1].middle - one.middle > _THIN:  # a double rule is one
                    group.append(one)
                break
        else:
            groups.append([one])
    return groups


def _groups(rules: Sequence[Box], letters: Sequence[Letter]) -> Iterator[list[Box]]:
    """The rules of each table: those between which the text stands in cells.

    Of a table that has none below it, or the one below its header alone, the others are added.
    """
    group = [rules[0]]
    for below in [*rules[1:], None]:
        if below and _is_tabular(letters, group, below):
            group.append(below)
            continue
        if len(group) < 3 and (bottom := _last_row(letters, group[-1], below)):
            top = _first_row(letters, group[0]) if len(group) == 1 else None
            group = [*([top] if top else []), *group, bottom]
            if len(group) == 2:  # neither a header above its only rule, nor another rule
                group = []
        if len(group) > 1:
            yield group
        if below:
            group = [below]


def _is_tabular(letters: Sequence[Letter], group: Sequence[Box], below: Box) -> bool:
    """Whether what stands between a table's last rule and the next one belongs to the table."""
    above = group[-1]
    if any(_is_crossed(row, above) for row in _rows(_at_height(letters, below.middle, above.middle))):
        return False
    rows = _rows(_between(letters, above, below))
    if not rows:
        return above.middle - below.middle <= _APART
    cells = sum(len(_parted(row, _CELL)) > 1 for row in rows)
    is_title = len(rows) == 1 and above.middle - below.middle <= _TITLE * _height(rows[0])
    return cells >= _TABULAR * len(rows) or (is_title and len(group) > 1)


def _is_crossed(row: Sequence[Letter], rule: Box) -> bool:
    """Whether text of a row runs over an end of the rule, as that of a page does."""
    return any(
        chunk.left < end - _SAME and end + _SAME < chunk.right
        for chunk in _parted(row, _CELL)
        for end in (rule.left, rule.right)
    )


def _last_row(letters: Sequence[Letter], rule: Box, below: Box | None) -> Box | None:
    """A rule below the rows of cells that follow this rule closely; None if there are not two of them."""
    count, at = 0, rule.middle
    for row in _rows(_at_height(letters, below.middle if below else float("-inf"), rule.middle)):
        inside = _parted([one for one in row if _is_inside(one, rule)] or row, _CELL)
        middle = median(one.box.middle for one in row)
        if len(inside) < 2 or _is_crossed(row, rule) or at - middle > _CLOSE * _height(row):
            break
        count, at = count + 1, middle
        bottom = min(one.box.bottom for one in row)
    return Box(rule.left, bottom - 1, rule.right, bottom - 1) if count > 1 else None


def _first_row(letters: Sequence[Letter], rule: Box) -> Box | None:
    """A rule above the row of cells that stands right above this rule; None if there is none."""
    rows = _rows(one for one in _at_height(letters, rule.middle, float("inf")) if _is_inside(one, rule))
    if not rows or len(_parted(rows[-1], _CELL)) < 2:
        return None
    row = rows[-1]
    top = max(one.box.top for one in row)
    is_close = median(one.box.middle for one in row) - rule.middle <= _CLOSE * _height(row)
    return Box(rule.left, top + 1, rule.right, top + 1) if is_close else None


# -- text ----------------------------------------------------------------------------------------------------


def _letters(text_page: Any) -> list[Letter]:
    """The letters of a page with their places, without spaces."""
    from pypdfium2 import raw

    box, found = raw.FS_RECTF(), list[Letter]()
    for number in range(text_page.count_chars()):
        sign = chr(raw.FPDFText_GetUnicode(text_page, number)).replace("\ufffe", _CUT)
        if sign.isspace() or not (sign.isprintable() or sign == _CUT):
            continue
        raw.FPDFText_GetLooseCharBox(text_page, number, box)
        if box.right > box.left:
            found.append(Letter(number, sign, Box(box.left, box.bottom, box.right, box.top)))
    return found


def _between(letters: Iterable[Letter], above: Box, below: Box) -> list[Letter]:
    return [one for one in _at_height(letters, below.middle, above.middle) if _is_inside(one, above)]


def _at_height(letters: Iterable[Letter], bottom: float, top: float) -> list[Letter]:
    return [one for one in letters if bottom < one.box.middle < top]


def _is_inside(letter: Letter, rule: Box) -> bool:
    return rule.left - _SAME <= letter.box.left and letter.box.right <= rule.right + _SAME


def _rows(letters: Iterable[Letter]) -> list[list[Letter]]:
    """The letters by row, from the top; one that stands between two rows is in the upper one."""
    rows: list[list[Letter]] = []
    for one in sorted(letters, key=lambda one: -one.box.middle):
        first = rows[-1][0].box if rows else None
        if first and one.box.middle > first.middle - 0.55 * (first.top - first.bottom):
            rows[-1].append(one)
        else:
            rows.append([one])
    return [sorted(row, key=lambda one: one.box.left) for row in rows]


def _parted(letters: Sequence[Letter], gap: float) -> list[Chunk]:
    """A row's letters, parted where a gap is wider than this share of their size."""
    chunks: list[Chunk] = []
    size = _height(letters)
    for one in letters:
        if chunks and one.box.left - chunks[-1].right <= gap * size:
            chunks[-1].letters.append(one)
        else:
            chunks.append(Chunk([one]))
    return chunks


def _height(letters: Sequence[Letter]) -> float:
    return median(one.box.top - one.box.bottom for one in letters)


# -- cells ---------------------------------------------------------------------------------------------------


def _table(rules: Sequence[Box], letters: Sequence[Letter], down: Sequence[Box]) -> Table | None:
    bands = [_rows(_between(letters, above, below)) for above, below in pairwise(rules)]
    bands = [band for band in bands if band]
    if not bands:
        return None
    edges = sorted(
        one.left
        for one in down
        if rules[0].left + _SAME < one.left < rules[0].right - _SAME
        and one.top > rules[-1].bottom and one.bottom < rules[0].top
    )  # fmt: skip
    if len(bands) == 1:  # no rule below the header
        bands = [bands[0][:1], bands[0][1:]]
    header, body = bands[0], bands[1:]
    width = rules[0].right - rules[0].left
    chunks = dict[int, list[Chunk]]()
    for row in (row for band in bands for row in band):
        if (cut := _cut_at(_parted(row, _CELL), edges)) is None:
            return None
        chunks[id(row)] = cut
    columns = _columns([chunks[id(row)] for band in body for row in band] or [*chunks.values()], width)
    heads = [chunk for row in header for chunk in chunks[id(row)]]
    columns += [
        (one.left, one.right)
        for one in heads
        if not any(one.left < right and left < one.right for left, right in columns)
    ]
    columns.sort()
    if len(columns) < 2 or not any(body) or _is_prose(columns, rules[0], sum(map(len, body))):
        return None
    rows = [reduce(_both, (_cells(chunks[id(row)], columns, repeats=True) for row in header))]
    boxes = [_around(one.box for row in header for one in row)]
    lines = [sum(len(chunks[id(row)]) > 1 for row in band) for band in body]
    is_grid = bool(edges) and max(map(len, body)) <= 6 and (len(body) > 2 or max(lines) < 2)
    for band in body:
        first = len(rows)
        for number, row in enumerate(band):
            cells = _cells(chunks[id(row)], columns, repeats=False)
            if number and (is_grid or _goes_on(cells, chunks[id(band[number - 1])], columns)):
                rows[-1] = _both(rows[-1], cells)
                boxes[-1] = _around([boxes[-1], *(one.box for one in row)])
            else:
                rows.append(cells)
                boxes.append(_around(one.box for one in row))
        labels = [n for n in range(first, len(rows)) if rows[n][0]]
        if len(labels) == 1 and labels[0] > first:  # it is set in the middle of the rows that it names
            rows[first][0], rows[labels[0]][0] = rows[labels[0]][0], ""
            if not any(rows[labels[0]]):
                del rows[labels[0]], boxes[labels[0]]
    inside = _between(letters, rules[0], rules[-1])
    wide = [Box(rules[0].left, one.bottom, rules[0].right, one.top) for one in boxes]
    filled = sum(bool(cell) for row in rows for cell in row)
    if len(rows) < 2 or filled < _FILLED * len(rows) * len(columns):
        return None
    return Table(rows, wide, frozenset(one.number for one in inside))


def _both(row: Sequence[str], more: Sequence[str]) -> list[str]:
    joined = (" ".join(filter(None, both)) for both in zip(row, more, strict=True))
    return [cell.replace(f"{_CUT} ", "") for cell in joined]


def _cut_at(chunks: Sequence[Chunk], edges: Sequence[float]) -> list[Chunk] | None:
    """The chunks of a row, cut at vertical rules; None if one runs through a word, as in a drawing."""
    cut = list[Chunk]()
    for chunk in chunks:
        parts: dict[int, list[Letter]] = {}
        for word in chunk.words():
            sides = {sum(edge < (one.box.left + one.box.right) / 2 for edge in edges) for one in word.letters}
            if len(sides) > 1:
                return None
            parts.setdefault(sides.pop(), []).extend(word.letters)
        cut += [Chunk(part) for part in parts.values()]
    return cut


def _columns(rows: Sequence[Sequence[Chunk]], width: float) -> list[tuple[float, float]]:
    """Where each column begins and ends: parted by gaps through nearly all rows, those of one cell aside."""
    apart = [row for row in rows if len(row) > 1 or row[0].right - row[0].left < width / 2]
    ends = sorted((x, step) for row in apart for one in row for x, step in ((one.left, 1), (one.right, -1)))
    columns, most, covering, begun = list[tuple[float, float]](), int(_CROSSING * len(apart)), 0, 0.0
    for x, step in ends:
        if step == 1 and covering == most:
            begun = x
        covering += step
        if step == -1 and covering == most:
            columns.append((begun, x))
    return columns


def _cells(chunks: Sequence[Chunk], columns: Sequence[tuple[float, float]], *, repeats: bool) -> list[str]:
    """The text of each column in a row; with `repeats`, what is above several columns is in each."""
    cells = [""] * len(columns)
    for chunk in chunks:
        for part in _parts(chunk, columns):
            under = [n for n, (left, right) in enumerate(columns) if part.left < right and left < part.right]
            if not under:
                near = [min(abs(part.left - right), abs(left - part.right)) for left, right in columns]
                under = [near.index(min(near))]
            for n in under if repeats else under[:1]:
                cells[n] = f"{cells[n]} {part}".strip()
    return cells


def _parts(chunk: Chunk, columns: Sequence[tuple[float, float]]) -> list[Chunk]:
    """A chunk that is several cells close together, cut between two columns where words part; else whole."""
    words = chunk.words()
    gaps = [(left[1], right[0]) for left, right in pairwise(columns)]
    parts = [Chunk([*words[0].letters])]
    for before, word in pairwise(words):
        if any(before.right <= end and start <= word.left for start, end in gaps):
            parts.append(Chunk([*word.letters]))
        else:
            parts[-1].letters += word.letters
    fits = all(sum(part.left < right and left < part.right for left, right in columns) == 1 for part in parts)
    return parts if fits else [chunk]


def _goes_on(cells: Sequence[str], before: Sequence[Chunk], columns: Sequence[tuple[float, float]]) -> bool:
    """Whether a row is the rest of a long text in the row above: it has one cell, below a full one."""
    filled = [n for n, cell in enumerate(cells) if cell]
    if len(filled) != 1 or filled[0] == 0:
        return False
    left, right = columns[filled[0]]
    above = [one for one in before if one.left < right and left < one.right]
    return bool(above) and above[-1].right - above[0].left >= _FULL * (right - left)


def _is_prose(columns: Sequence[tuple[float, float]], rule: Box, rows: int) -> bool:
    width = rule.right - rule.left
    wide = all(right - left >= _PROSE_WIDTH * width for left, right in columns)
    return len(columns) == 2 and rows >= _PROSE_ROWS and wide


def _around(parts: Iterable[Box]) -> Box:
    boxes = [*parts]
    return Box(
        min(one.left for one in boxes), min(one.bottom for one in boxes),
        max(one.right for one in boxes), max(one.top for one in boxes),
    )  # fmt: skip
