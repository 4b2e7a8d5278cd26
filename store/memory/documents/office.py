"""The text of presentations, spreadsheets, electronic books and ODT files, in Markdown.

All but ODT are read by markitdown (the extra `office`); a slide or a sheet is a page.
"""

import re
import zipfile
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from store.errors import BadSource
from store.memory.documents import markup

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
    """The text of each slide or sheet; one page for the others.

    Raises BadSource if it cannot be read, with what is to be installed if that is why.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in ODT and find_spec("markitdown") is None:
        raise BadSource(f"{name} is {_NAMES[suffix]}: markitdown reads it, and is not installed ({INSTALL})")
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            markup.check_archive(archive, name)
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
    text = markup.html_text(
        b'<meta charset="utf-8"><body>' + content.partition(b"<office:body>")[2], name=name
    )
    if not text:
        raise BadSource(f"{name} has no text in it")
    return text
