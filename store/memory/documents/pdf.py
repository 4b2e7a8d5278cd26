"""PDF files: each page's text in reading order, the place of a passage on it, and its picture.

Read with PDFium (pypdfium2), measured on two papers: two-column pages come out column by column, hyphenated
words are joined, and 20 pages take a quarter of a second (pypdf: 2.8 s, words not joined).
"""

import math
import re
import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import c_int, create_string_buffer
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.errors import BadSource
from store.memory.documents import tables
from store.memory.documents.headers_footers import bodies
from store.memory.documents.headings import TypesetLine
from store.memory.documents.readings import PageReading, Place, Rectangle, is_compared

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

SUFFIX = ".pdf"
MOST_PAGES = 20_000
MOST_CHARACTERS = 50_000_000

_FEW = 30  # letters, as of a stamp or a page's number: with fewer, what is in the page's picture is its text
_STROKES = 50

_LOCK = threading.RLock()  # PDFium is not to be used by two threads at a time
_CUT = "\x02"  # how PDFium tells of a hyphen at a line's end, the line end itself left out
_PASSWORD = 4  # FPDF_ERR_PASSWORD

_PEN = (255, 226, 96)
_MOST_PIXELS = 16_000_000  # of a page's picture; a poster is shown smaller
_FONT_NAME = 128  # bytes
_BOLD = re.compile(r"bold|black|heavy|demi|medi$|cmbx|cmssbx|bx\d+$|[a-z]TB$|[-,]B$", re.IGNORECASE)
_BOLD_WEIGHT = 600  # where the text of papers has 300 to 450
_FINE = 1_000_000  # parts of a page's width and height that a rectangle is measured in

_Piece = tuple[str, Rectangle | None]  # of a page's text, and its place if it is a table's row
_Type = tuple[float, str, bool, str]  # size, font, whether it is bold, and the bold beginning if it is not


def is_pdf(content: bytes, *, name: str) -> bool:
    """Whether a file is a PDF, by its beginning or its name."""
    return content.lstrip()[:5] == b"%PDF-" or Path(name).suffix.lower() == SUFFIX


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text of each page, and the lines of what is neither header, footer nor table of contents."""

    pages: list[str]
    lines: list[TypesetLine]
    scanned: list[int]  # pages, from 1, whose text is only in a picture
    tables: dict[int, PageReading]  # the text of the pages that have some, from 1; `lines` are of this text


def read(content: bytes, *, name: str, with_tables: bool = False) -> PdfText:
    """What a PDF says, tables as Markdown if wanted. Raises BadSource if it cannot be read."""
    from pypdfium2 import PdfiumError

    with _opened(content, name) as document:
        if len(document) > MOST_PAGES:
            raise BadSource(
                f"{name} has {len(document):,} pages; {MOST_PAGES:,} is the limit for one document"
            )
        raw, types = list[str](), list[dict[str, deque[_Type]]]()
        scanned, length = list[int](), 0
        pieces: dict[int, list[_Piece]] = {}
        for number in range(len(document)):
            try:
                sheet = _sheet(document, number)
            except PdfiumError:  # a page that is damaged costs itself alone
                raw.append("")
                types.append({})
                continue
            page = sheet.get_textpage()
            raw.append(_raw_text(page))
            if sum(map(is_compared, raw[-1])) < _FEW and _is_picture(sheet):
                scanned.append(number + 1)
            elif with_tables and (found := tables.tables(sheet, page)):
                pieces[number + 1] = [*_pieces(sheet, page, found)]
            types.append(_types(page))
            if (length := length + len(raw[-1])) > MOST_CHARACTERS:
                raise BadSource(
                    f"{name} has more than {MOST_CHARACTERS:,} characters, the limit for one document"
                )
    counts = Counter(word for text in raw for word in re.findall(r"\w+-\w+", text))
    texts = [_whole_words(text, counts).replace("\r\n", "\n").replace("\r", "\n") for text in raw]
    made = {page: _reading(some, counts) for page, some in pieces.items()}
    shown = [made[page].text if page in made else text for page, text in enumerate(texts, start=1)]
    return PdfText(texts, [*_typeset(shown, types)], scanned, made)


def _pieces(sheet: Any, page: Any, found: Sequence[tables.Table]) -> Iterator[_Piece]:
    """The text of a page in order, with the rows of each table where its first letter is."""
    owner = {letter: table for table in found for letter in table.letters}
    text, drawn = list[str](), set[int]()
    for number, sign in enumerate(_signs(page)):
        table = owner.get(number)
        if table is None:
            text.append(sign)
        elif id(table) not in drawn:
            drawn.add(id(table))
            yield "".join(text), None
            text = ["\n"]
            for line, box in table.lines():
                at = _as_shown(sheet, box.left, -box.top, box.right, -box.bottom) if box else None
                yield f"\n{line}", at
    yield "".join(text), None


def _signs(page: Any) -> Iterator[str]:
    """The signs of a page by their numbers, as `_raw_text` has them."""
    from pypdfium2 import raw

    for number in range(page.count_chars()):
        yield chr(raw.FPDFText_GetUnicode(page, number)).replace("\ufffe", _CUT).replace("\0", "")


def _reading(pieces: Sequence[_Piece], known: Counter[str]) -> PageReading:
    text, places = "", list[Place]()
    for piece, place in pieces:
        part = piece
        if place is None:
            part = re.sub(r"[ \t]+(?=\n)", "", _whole_words(piece, known).replace("\r\n", "\n"))
            part = re.sub(r"\n{3,}", "\n\n", part.replace("\r", "\n").encode(errors="replace").decode())
        else:
            places.append((len(text) + 1, len(text) + len(part), place))
        text += part
    return PageReading(text, places)


def _is_picture(sheet: Any) -> bool:
    """Whether a picture covers half of a page, or it has as many strokes as letters that were drawn."""
    from pypdfium2 import raw

    left, bottom, right, top = sheet.get_bbox()
    strokes = 0
    for one in sheet.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH)):
        if one.type == raw.FPDF_PAGEOBJ_PATH:
            strokes += 1
        else:
            x, y, until, above = one.get_bounds()
            if 2 * (until - x) * (above - y) >= (right - left) * (top - bottom):
                return True
        if strokes >= _STROKES:
            return True
    return False


def page_pixels(content: bytes, *, name: str, page: int, side: int) -> Any:
    """The picture of this page (counted from 1) as pixels (height, width, BGR), its longer side so long."""
    with _opened(content, name) as document:
        sheet = _sheet(document, page - 1)
        bitmap = sheet.render(scale=side / max(1.0, *sheet.get_size()))
        return bitmap.to_numpy()[:, :, :3].copy()


def _typeset(texts: Sequence[str], types: Sequence[Mapping[str, deque[_Type]]]) -> Iterator[TypesetLine]:
    """The lines of all pages, as texts have them, each with its type."""
    for number, (text, spans, known) in enumerate(zip(texts, bodies(texts), types, strict=True)):
        for line in re.finditer(r"[^\n]+", text):
            key = "".join(filter(is_compared, line[0]))
            if (found := known.get(key)) and any(start <= line.start() < end for start, end in spans):
                size, font, is_bold, lead = found.popleft() if len(found) > 1 else found[0]
                yield TypesetLine(number, line.start(), line[0].strip(), size, font, is_bold, lead)


def _types(page: Any) -> dict[str, deque[_Type]]:
    """The type of each line of a page, by its letters; those of equal lines in order."""
    types: dict[str, deque[_Type]] = {}
    for line in re.finditer(r"[^\r\n]+", page.get_text_range()):
        places = [line.start() + at for at, sign in enumerate(line[0]) if is_compared(sign)]
        if not places:
            continue
        size, font, is_bold = _type(page, places[len(places) // 2])
        lead = ""
        if line[0].lstrip()[:1].isdigit() and not (is_bold and _type(page, places[-1])[2]):
            bold = next((at for at in places if not _type(page, at)[2]), places[-1])
            lead = line[0][: bold - line.start()].strip()
        types.setdefault("".join(filter(is_compared, line[0])), deque()).append((size, font, is_bold, lead))
    return types


def _type(page: Any, index: int) -> tuple[float, str, bool]:
    """The size in points, the font and whether it is bold, of a character."""
    from pypdfium2 import raw

    matrix, name, flags = raw.FS_MATRIX(), create_string_buffer(_FONT_NAME), c_int()
    raw.FPDFText_GetMatrix(page, index, matrix)
    raw.FPDFText_GetFontInfo(page, index, name, _FONT_NAME, flags)
    font = name.value.decode(errors="replace")
    size = raw.FPDFText_GetFontSize(page, index) * math.hypot(matrix.c, matrix.d)
    is_bold = bool(_BOLD.search(font)) or raw.FPDFText_GetFontWeight(page, index) >= _BOLD_WEIGHT
    return round(size, 1), font, is_bold


def marks(content: bytes, *, name: str, page: int, passage: str) -> list[Rectangle]:
    """The rectangles of a passage on this page (counted from 1), one for each line or part of one."""
    with _opened(content, name) as document:
        sheet = _sheet(document, page - 1)
        text_page = sheet.get_textpage()
        raw = text_page.get_text_range()
        shown = sheet.get_bbox()
        places = [
            (index, sign)
            for index, sign in enumerate(raw)
            if is_compared(sign) and _overlap(text_page.get_charbox(index), shown)
        ]
        wanted = "".join(sign for sign in passage if is_compared(sign))
        start = "".join(sign for _, sign in places).find(wanted)
        if start < 0 or not wanted:
            return []
        first, last = places[start][0], places[start + len(wanted) - 1][0]
        found = [text_page.get_rect(n) for n in range(text_page.count_rects(first, last - first + 1))]
        lines = _lines([(left, -top, right, -bottom) for left, bottom, right, top in found])
        rectangles = [_as_shown(sheet, *line) for line in lines]
        return [one for one in rectangles if one[0] < one[2] and one[1] < one[3]]


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    """Whether two rectangles of PDF's own coordinates share a part; a letter that is cut away has none."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _as_shown(sheet: Any, left: float, top: float, right: float, bottom: float) -> Rectangle:
    """A line, measured downwards from PDF's origin, as fractions of the page as shown: cropped, rotated."""
    from pypdfium2.raw import FPDF_PageToDevice

    across, down = [], []
    for corner in ((left, -bottom), (right, -top)):
        x, y = c_int(), c_int()
        FPDF_PageToDevice(sheet, 0, 0, _FINE, _FINE, 0, *corner, x, y)
        across.append(min(max(x.value / _FINE, 0), 1))
        down.append(min(max(y.value / _FINE, 0), 1))
    return min(across), min(down), max(across), max(down)


def _lines(pieces: Sequence[Rectangle]) -> list[Rectangle]:
    """Join consecutive pieces of one line, such as words, into one rectangle."""
    lines: list[Rectangle] = []
    for left, top, right, bottom in pieces:
        if lines:
            before = lines[-1]
            height = max(bottom - top, before[3] - before[1])
            shared = min(bottom, before[3]) - max(top, before[1])
            if shared > height / 2 and -height < left - before[2] < 2 * height:
                lines[-1] = (min(left, before[0]), min(top, before[1]), right, max(bottom, before[3]))
                continue
        lines.append((left, top, right, bottom))
    return lines


def page_picture(content: bytes, *, name: str, page: int, scale: float = 2.0) -> bytes:
    """A PNG of this page (counted from 1), at 72 dots per inch times `scale`."""
    with _opened(content, name) as document:
        file = BytesIO()
        sheet = _sheet(document, page - 1)
        scale = min(scale, math.sqrt(_MOST_PIXELS / max(1, math.prod(sheet.get_size()))))
        sheet.render(scale=scale).to_pil().save(file, "PNG")
        return file.getvalue()


def marked_page(content: bytes, *, name: str, page: int, marks: Sequence[Rectangle]) -> bytes:
    """A PNG of this page with these rectangles highlighted in yellow."""
    from PIL import Image, ImageChops, ImageDraw

    sheet = Image.open(BytesIO(page_picture(content, name=name, page=page))).convert("RGB")
    pen = Image.new("RGB", sheet.size, "white")
    draw, (width, height) = ImageDraw.Draw(pen), sheet.size
    for left, top, right, bottom in marks:
        draw.rectangle((left * width, top * height, right * width, bottom * height), fill=_PEN)
    file = BytesIO()
    ImageChops.multiply(sheet, pen).save(file, "PNG")  # what is black stays black
    return file.getvalue()


@contextmanager
def _opened(content: bytes, name: str) -> Iterator["PdfDocument"]:
    from pypdfium2 import PdfDocument, PdfiumError

    with _LOCK:
        try:
            document = PdfDocument(content)
        except PdfiumError as error:
            if getattr(error, "err_code", None) == _PASSWORD:
                raise BadSource(
                    f"{name} is encrypted; take its password away (print it to a new PDF) and import that"
                ) from error
            raise BadSource(f"{name} is no PDF, or a damaged one: {str(error).rstrip('.')}") from error
        try:
            if document.get_formtype():
                document.init_forms()
            yield document
        except PdfiumError as error:
            raise BadSource(f"{name} is damaged: {str(error).rstrip('.')}") from error
        finally:
            document.close()


def _sheet(document: Any, index: int) -> Any:
    """A page, with what is filled into its form as a part of it."""
    sheet = document[index]
    if not document.get_formtype():
        return sheet
    sheet.flatten()
    sheet.close()
    return document[index]


def _raw_text(page: Any) -> str:
    text: str = page.get_text_bounded()
    return text.replace("\ufffe", _CUT).replace("\0", "").encode(errors="replace").decode()


def _whole_words(text: str, known: Counter[str]) -> str:
    """Join words hyphenated at a line's end, with their hyphen if the paper has it elsewhere too."""

    def joined(match: re.Match[str]) -> str:
        left, right = match.groups()
        return f"{left}-{right}" if f"{left}-{right}" in known else f"{left}{right}"

    return re.sub(rf"(\w*){_CUT}(\w*)", joined, text)
