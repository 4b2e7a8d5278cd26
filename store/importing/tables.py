"""Untrusted text, JSON and tables (CSV, TSV, JSON lines), read row by row."""

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from store.disk.csv import as_typed
from store.errors import BadSource
from store.importing.metadata import NAMES, READ, caption_columns, meaning, pictured, unfolded
from store.records import CAPTION_FACETS

MAX_TEXT_BYTES = (
    32_000_000  # Solana's whole token list has 7 MB; parsed, the worst JSON takes 20 times its size
)

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
MAX_BYTES = 200_000_000  # read line by line: an export of a hundred thousand coins comes in again
MAX_ROWS = 200_000  # a million of nothing would make a million refusals
TOO_MANY = f"it holds more than {MAX_ROWS:,} entries; split it"
MAX_COLUMNS = 1_000
MORE = "more"  # the column that holds, as JSON, what fits no other

_FILE = ("file_name", "file", "filename", "image", "picture", "image_path", "logoURI")
_HEADINGS = {
    **{name.lower(): key for key, names in NAMES.items() for name in names},
    **{name.lower(): name for name in _FILE},
    **{f"caption_{facet}": facet for facet in CAPTION_FACETS},
    **{f"caption.{facet}": facet for facet in CAPTION_FACETS},
    "tag": "tags",
    "contract": "token_address",
}
_KNOWN = {*NAMES, *READ, *_FILE, *CAPTION_FACETS, "caption", "text", "tags_categories", "tier", MORE}

_SEPARATOR = re.compile(r"sep=([,;\t|])\r?\n")  # a first line that spreadsheets write and read


def decoded(content: bytes, *, guesses: bool = False) -> str:
    """The text of a file in UTF-8, in UTF-16 or UTF-32 with a byte order mark.

    `guesses`: else in the encoding that its letters speak for.

    Raises BadSource if it is not text in one of these.
    """
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "")
    try:
        # Without a mark, zero bytes among the first four give UTF-16 and UTF-32 away.
        return content.decode(encoding or json.detect_encoding(content[:4]))
    except UnicodeDecodeError as error:
        if guesses and (text := _recognised(content)):
            return text
        raise BadSource("it is not text in UTF-8; save it as “UTF-8” and try again") from error


def _recognised(content: bytes) -> str:
    """The text in the encoding that its letters speak for; "" if it is no text."""
    from charset_normalizer import from_bytes

    best = None if b"\0" in content else from_bytes(content).best()
    return str(best) if best else ""


def parsed(text: str) -> Any:
    """The JSON value, with NaN as a float, as programs write a number that they lack.

    Raises BadSource, with the position, if it is no JSON or has repeated keys.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise BadSource(f"it is not JSON: {error.msg} in line {error.lineno}") from error
    except RecursionError as error:
        raise BadSource("it is nested too deeply") from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise BadSource(f"it holds a value that cannot be read: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise BadSource(f"the key {twice[:40]!r} is in it twice")
    return found


csv.field_size_limit(MAX_TEXT_BYTES)  # the default gives up the whole table at a cell of 131,072 characters


def rows_of(content: bytes, *, suffix: str) -> Iterator[tuple[int, dict[str, Any] | BadSource]]:
    """Each row with its number (a line of the file, or a position in the list), or why it cannot be read.

    Raises BadSource if the whole file cannot be read.
    """
    if suffix == ".parquet":
        return _columns(content)
    if suffix in (".csv", ".tsv"):
        return _cells(decoded(content, guesses=True))
    return _lines(decoded(content))


def _columns(content: bytes) -> Iterator[tuple[int, dict[str, Any] | BadSource]]:
    """The rows of a Parquet file."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    number = 0
    try:
        for batch in ParquetFile(io.BytesIO(content)).iter_batches(1_000):
            for row in batch.to_pylist():
                number += 1
                yield number, {key: value for key, value in row.items() if value is not None}
    except (ArrowException, OSError, ValueError) as error:
        raise BadSource(f"it is no Parquet file that can be read: {error}"[:200]) from error


def mapping(content: bytes) -> dict[str, str]:
    """What each column of a CSV counts as: a field's name, or "" if it is kept under its own name.

    Raises BadSource if it has no line of column names.
    """
    text = decoded(content, guesses=True)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        if _SEPARATOR.match(text):
            next(reader)
        named = next(reader, [])
    except csv.Error as error:
        raise BadSource(f"it is not CSV: {error}") from error
    heads = {head.strip(): _heading(head) for head in named if head.strip()}
    return {head: meant if meant in _KNOWN else meaning(head) for head, meant in heads.items()}


def listed(values: list[Any]) -> Iterator[tuple[int, dict[str, Any] | BadSource]]:
    """The rows of a JSON list."""
    for number, value in enumerate(values, start=1):
        yield number, value if isinstance(value, dict) else BadSource("it is not an object")


def picture_reference(row: dict[str, Any]) -> Any:
    """Remove and return the row's reference to its picture, or its bytes; None if it has none."""
    reference = None
    for key in _FILE:
        held = row.get(key)
        if isinstance(held, dict) and held.keys() & {"path", "bytes"}:  # Hugging Face's Image
            del row[key]
            return held.get("bytes") or held.get("path")
        if reference in (None, "") and not isinstance(held, dict):
            reference = row.get(key) if key == "logoURI" else row.pop(key, None)
    return pictured(unfolded(row)) if reference in (None, "") else reference


def metadata_of(row: dict[str, Any]) -> dict[str, Any]:
    """The row as metadata: facet columns become the caption, and the column `more` is expanded.

    Raises BadSource if `more` is no JSON object, or for more than MAX_COLUMNS columns.
    """
    rest = caption_columns(row)
    more = rest.pop(MORE, None)
    if isinstance(more, str) and more:
        more = parsed(more)
    if more in (None, ""):
        return rest
    if not isinstance(more, dict):
        raise BadSource(f"its column {MORE} must be a JSON object")
    caption, further = rest.get("caption"), more.get("caption")
    merged = {**more, **rest}
    if isinstance(caption, dict) and isinstance(further, dict):
        merged["caption"] = {**further, **caption}
    return merged


def _cells(text: str) -> Iterator[tuple[int, dict[str, Any] | BadSource]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        if _SEPARATOR.match(text):
            next(reader)
        named = next(reader, [])
        if len(named) > MAX_COLUMNS:
            raise BadSource(f"it has {len(named):,} columns; at most {MAX_COLUMNS:,} are read")
        heads = [_heading(head) for head in named]
        twice = next((head for head in heads if head and heads.count(head) > 1), None)
        if twice or not any(heads):
            raise BadSource(f"two columns mean {twice}" if twice else "it has no line of column names")
        are_pictures = any(head.endswith("_file_name") for head in heads)
        if not are_pictures and not _KNOWN.intersection(heads) and not any(map(meaning, heads)):
            raise BadSource("no column is called address, name, file or the like")
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, _row(heads, cells)
    except csv.Error as error:  # what came before still counts, what follows cannot be told apart
        yield reader.line_num, BadSource(f"from here on it is not CSV: {error}")


def _row(heads: list[str], cells: list[str]) -> dict[str, Any] | BadSource:
    if any(cells[len(heads) :]):
        return BadSource("it has more cells than there are columns")
    named = zip(heads, map(as_typed, cells), strict=False)
    return {head: cell for head, cell in named if head and cell != ""}


def _heading(head: str) -> str:
    plain = re.sub(r"[\s-]+", "_", head.strip().lower())
    return _HEADINGS.get(plain, plain if plain in _KNOWN else head.strip())


def _delimiter(text: str) -> str:
    if match := _SEPARATOR.match(text):
        return match[1]
    first = text.lstrip().partition("\n")[0]
    return max(",;\t|", key=first.count)


def _lines(text: str) -> Iterator[tuple[int, dict[str, Any] | BadSource]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = parsed(line)
        except BadSource as error:
            yield number, error
            continue
        yield number, value if isinstance(value, dict) else BadSource("it is not an object")
