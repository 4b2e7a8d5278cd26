"""The text of HTML and office documents: headings, paragraphs, lists and tables in reading order.

HTML is read with Lexbor (selectolax); DOCX becomes HTML by mammoth first. Both are imported when needed.
All others but ODT are read by markitdown (the extra `office`); a slide or a sheet is a page.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.errors import BadSource
from store.importing import encodings

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

HTML, DOCX = (".html", ".htm", ".xhtml"), (".docx",)
_UNREAD = ["head", "script", "style", "template", "noscript", "svg", "nav", "iframe", "object"]
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
    "hr", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead",
    "tr", "ul",
))  # fmt: skip
_MARKS = {"li": "- ", **{f"h{level}": f"{'#' * level} " for level in range(1, 7)}}
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_BEGINNING = 4096  # bytes in which a page names its encoding
MOST_TAGS = 1_000_000  # a paper of 5 MB has 100,000; each element takes half a kilobyte
MOST_PARAGRAPHS = 50_000  # a book of 300 pages has 10,000
DEEPEST = 25_000  # elements in each other: the parser takes as many steps for each; browsers end at 512
_TAGS = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]{0,12})")
_CLOSED_BY_OTHERS = frozenset(
    b"area base br col embed hr img input link meta param source track wbr p li dt dd tr td th tbody thead "
    b"tfoot option optgroup colgroup caption rb rt rp rtc html head body".split()
)
_PARAGRAPH = re.compile(rb"<(?:[\w.-]{1,20}:)?p[\s/>]")
_PIECE = 1 << 20  # bytes of an unpacked file that are looked at together
_TAG = 24  # bytes of the longest beginning of a paragraph
_LARGEST = 200_000_000  # bytes of a DOCX's files, unpacked


def text(content: bytes, *, name: str) -> str:
    """The text of an HTML or Word document, by its name. Raises BadSource, also if there is none."""
    is_html = Path(name).suffix.lower() in HTML
    found = html_text(content, name=name) if is_html else docx_text(content, name=name)
    if not found:
        raise BadSource(f"{name} has no text in it")
    return found


def html_text(content: bytes, *, name: str) -> str:
    """The text that a reader sees, headings and lists as in Markdown. Raises BadSource beyond the limits."""
    from selectolax.lexbor import LexborHTMLParser

    if (count := content.count(b"<")) > MOST_TAGS:
        raise BadSource(f"{name} has {count:,} tags; {MOST_TAGS:,} is the limit for one document")
    if _is_deep(content):
        raise BadSource(f"{name} has elements nested more than {DEEPEST:,} deep, the limit for one document")
    page = LexborHTMLParser(_decoded(content))
    page.strip_tags(_UNREAD)
    parts = list(_parts(page.body)) if page.body else []
    lines = (re.sub(r"[ \t\r\f\v\xa0]+", " ", line).strip(" |") for line in "".join(parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def docx_text(content: bytes, *, name: str) -> str:
    """The text of a Word document. Raises BadSource if it cannot be read."""
    import mammoth

    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            check_archive(archive, name)
        pictures = mammoth.images.img_element(lambda picture: {"src": ""})
        page = mammoth.convert_to_html(BytesIO(content), convert_image=pictures).value
    except BadSource:
        raise
    except Exception as error:
        raise BadSource(f"{name} is no Word document that can be read: {error}") from error
    return html_text(page.encode(), name=name)


def check_archive(archive: zipfile.ZipFile, name: str) -> None:
    """Raises BadSource if an office document has more bytes, paragraphs or tags than the limits."""
    if sum(one.file_size for one in archive.infolist()) > _LARGEST:
        raise BadSource(f"{name} is larger than {_LARGEST:,} bytes when unpacked")
    tags = paragraphs = 0
    for one in archive.infolist():
        if not one.filename.lower().endswith((".xml", ".rels", *HTML)):
            continue
        with archive.open(one) as file:
            rest = b""
            while piece := file.read(_PIECE):
                tags += piece.count(b"<")
                seen = [*_PARAGRAPH.finditer(rest + piece)]
                paragraphs += len(seen)
                rest = (rest + piece)[max(seen[-1].end() if seen else 0, len(rest + piece) - _TAG) :]
        for count, most, what in (
            (paragraphs, MOST_PARAGRAPHS, "paragraphs"), (tags, MOST_TAGS, "tags"),
        ):  # fmt: skip
            if count > most:
                raise BadSource(f"{name} has {count:,} {what}; {most:,} is the limit for one document")


def _is_deep(content: bytes) -> bool:
    """Whether more elements are open at once than the limit; those that others close are not counted."""
    depth, is_open = 0, Counter[bytes]()
    for found in _TAGS.finditer(content):
        is_end, tag = found[1], found[2].lower()
        if tag in _CLOSED_BY_OTHERS or (is_end and not is_open[tag]):
            continue
        is_open[tag] += -1 if is_end else 1
        depth += -1 if is_end else 1
        if depth > DEEPEST:
            return True
    return False


def _parts(body: "LexborNode") -> Iterator[str]:
    """The texts below this element, with line ends around blocks; without recursion, however deep."""
    stack: list[tuple[LexborNode, bool]] = [(body, False)]
    while stack:
        node, is_left = stack.pop()
        tag = node.tag or ""
        if is_left:
            yield "\n\n" if tag in _BLOCKS and tag not in ("li", "tr") else "\n"
            continue
        if node.is_text_node:
            yield _collapsed(node)
            continue
        if tag == "br":
            yield "\n"
        elif tag in ("td", "th"):
            yield " | "
        elif tag in _BLOCKS:
            yield f"\n{_MARKS.get(tag, '')}"
            stack.append((node, True))
        children = []
        child = node.child
        while child is not None:
            children.append((child, False))
            child = child.next
        stack += reversed(children)


def _collapsed(node: "LexborNode") -> str:
    text = node.text_content or ""
    parent = node.parent
    is_kept = parent is not None and parent.tag == "pre"
    return text if is_kept else re.sub(r"\s+", " ", text)


def _decoded(content: bytes) -> str:
    """The page's text in the encoding that it names, else in the one that its letters speak for."""
    with suppress(LookupError, UnicodeDecodeError):
        if (named := _CHARSET.search(content[:_BEGINNING])) and content[:2] not in _WIDE:
            return content.decode(named[1].decode())
    try:
        return encodings.read(content)[0]
    except BadSource:
        return content.decode("cp1252", "replace")


ODT = (".odt",)
_NAMES = {".pptx": "a presentation", ".xlsx": "a spreadsheet", ".epub": "an electronic book"}
OFFICE = (*_NAMES, *ODT)
INSTALL = "make office, or: pip install --no-deps --require-hashes -r requirements-office.txt"
_PARTED = {
    ".pptx": re.compile(r"^<!-- Slide number: \d+ -->$", re.MULTILINE),
    ".xlsx": re.compile(r"^(?=## )", re.MULTILINE),
}
_EMPTY = re.compile(r"(?<=\| )(?:NaN|NaT|Unnamed: \d+)(?= \|)")  # a cell without a value, as pandas writes it
_PICTURE = re.compile(r"!\[(.*?)\]\([^)\n]*\)")
# ODT's elements as those of HTML, which have the same order and meaning.
_AS_HTML = (
    (rb"<(text:tracked-changes|office:annotation|text:note-citation)\b.*?</\1>", b""),
    (rb'<text:h\b[^>]*?text:outline-level="([1-6])"[^>]*>(.*?)</text:h>', rb"<h\1>\2</h\1>"),
    (rb"<(/?)text:(?:p|h)\b[^>]*?(/?)>", rb"<\1p>"),
    (rb"<(/?)text:list-item\b[^>]*>", rb"<\1li>"),
    (rb"<(/?)table:table-row\b[^>]*>", rb"<\1tr>"),
    (rb"<table:table-cell\b[^>]*/>", b"<td></td>"),
    (rb"<(/?)table:table-cell\b[^>]*>", rb"<\1td>"),
    (rb"<(/?)table:table\b[^>]*>", rb"<\1table>"),
    (rb"<text:line-break\b[^>]*/>", b"<br>"),
    (rb"<text:(?:s|tab)\b[^>]*/>", b" "),
)


def pages(content: bytes, *, name: str) -> list[str]:
    """The text of each slide or sheet; one page for the others. Raises BadSource if it cannot be read."""
    suffix = Path(name).suffix.lower()
    if suffix not in ODT and find_spec("markitdown") is None:
        raise BadSource(f"{name} is {_NAMES[suffix]}: markitdown reads it, and is not installed ({INSTALL})")
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            check_archive(archive, name)
            if suffix in ODT:
                return [_odt(archive, name)]
        text = _converted(content, suffix)
    except BadSource:
        raise
    except Exception as error:
        what = _NAMES.get(suffix, "a text document")
        raise BadSource(f"{name} is not {what} that can be read: {error}") from error
    parted = _PARTED.get(suffix)
    parts = parted.split(text)[1:] if parted else [text]
    found = [_PICTURE.sub(r"\1", _EMPTY.sub("", part)).strip() for part in parts]
    if not any(found):
        raise BadSource(f"{name} has no text in it")
    return found


def _converted(content: bytes, suffix: str) -> str:
    from markitdown import StreamInfo, converters

    named: dict[str, Any] = {
        ".pptx": converters.PptxConverter,
        ".xlsx": converters.XlsxConverter,
        ".epub": converters.EpubConverter,
    }
    return str(named[suffix]().convert(BytesIO(content), StreamInfo(extension=suffix)).markdown)


def _odt(archive: zipfile.ZipFile, name: str) -> str:
    content = archive.read("content.xml")
    for pattern, replacement in _AS_HTML:
        content = re.sub(pattern, replacement, content, flags=re.DOTALL)
    content = re.sub(  # a paragraph in a cell or an item begins no line
        rb"<(td|li)>(.*?)</\1>", lambda one: re.sub(b"</?p>", b" ", one[0]), content, flags=re.DOTALL
    )
    text = html_text(b'<meta charset="utf-8"><body>' + content.partition(b"<office:body>")[2], name=name)
    if not text:
        raise BadSource(f"{name} has no text in it")
    return text
