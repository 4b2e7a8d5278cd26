"""Untrusted text, JSON and tables (CSV, TSV, JSON lines), read row by row."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from store.disk.csv import as_typed
from store.disk.picture_files import BEGINNING, is_picture
from store.errors import BadSource
from store.importing import encodings
from store.importing.metadata import (
    GIVEN,
    address_in,
    caption_columns,
    meaning,
    pictured,
    unfolded,
    unwrapped,
)
from store.importing.names import FILES, KEPT, LEFT_OUT, NAMES, PERHAPS, PICTURES, SPOKEN, WHOLE, plain
from store.records import CAPTION_FACETS

MAX_TEXT_BYTES = (
    32_000_000  # Solana's whole token list has 7 MB; parsed, the worst JSON takes 20 times its size
)

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
MAX_BYTES = 200_000_000  # read line by line: an export of a hundred thousand coins comes in again
MAX_ROWS = 200_000  # a million of nothing would make a million refusals
TOO_MANY = f"it holds more than {MAX_ROWS:,} entries; split it"
MAX_COLUMNS = 1_000
SIGNS = ",;\t|"  # between cells
MORE = "more"  # the column that holds, as JSON, what fits no other

_HEADINGS = {
    **{plain(name): key for key, names in SPOKEN.items() for name in names.split(", ")},
    **{plain(str(path[0])): str(path[0]) for path in PICTURES if len(path) == 1},
    **{plain(name): name for name in (*FILES, *WHOLE)},
    **{plain(name): key for key, names in NAMES.items() for name in names},
    **{f"{word}{facet}": facet for facet in CAPTION_FACETS for word in ("caption", "")},
}
_REFERENCES = {*FILES, *(path[0] for path in PICTURES if len(path) == 1)}
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|avif|bmp)(?:[?#]|$)", re.IGNORECASE)
# Beside `url` in what crawlers of pictures write.
_OF_THE_WEB = {"text", "caption", "WIDTH", "width", "status"}

_SEPARATOR = re.compile(r"sep=([,;\t|])\r?\n")  # a first line that spreadsheets write and read
_LAID_OUT = re.compile(r"(?ms)^\{\r?$.*?(?:^\}|\Z)")  # an object over several lines, as `jq` writes many
_ABOVE = 10  # lines in which column names are looked for, below a title or comments
# Where the decimal sign is a comma, spreadsheets part cells by semicolons.
_WITH_COMMA = re.compile(r"(?:^|;)\"?-?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+\"?(?=;|\r?$)", re.MULTILINE)
# A number by the sign of its groups. Between commas a quoted "12,345" has one, unless a "12,5" is there too.
_GROUPED = {
    ".": re.compile(r"-?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?"),
    ",": re.compile(r"-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"),
}
_DECIMAL_COMMA = re.compile(r'"-?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))"')


def decoded(content: bytes) -> str:
    """The text of a file, in the encoding that it states or that its letters speak for. Raises BadSource."""
    return encodings.read(content)[0]


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
    found = dict(reversed(pairs)) if len(dict(pairs)) < len(pairs) else dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        if not address_in(twice):  # of a map by address, the first coin counts
            raise BadSource(f"the key {twice[:40]!r} is in it twice")
    return found


csv.field_size_limit(MAX_TEXT_BYTES)  # the default gives up the whole table at a cell of 131,072 characters


class NamelessColumns(BadSource):
    """A table none of whose columns says what it is; `rows` have its columns and their first values."""

    def __init__(self, rows: Sequence[dict[str, Any] | BadSource]) -> None:
        super().__init__(
            "no column is called address, name, file or the like; say what one counts as "
            "(--field on the command line)"
        )
        self.rows = rows


Row = tuple[int, dict[str, Any] | BadSource]


def rows_of(content: bytes, *, suffix: str, fields: Container[str] = ()) -> Iterator[Row]:
    """Each row with its number (a line of the file, or a position in the list), or why it cannot be read.

    `fields` are columns that count as one although their name says nothing. Raises BadSource if the whole
    file cannot be read.
    """
    if suffix == ".parquet":
        return _columns(content)
    text = decoded(content)
    return _cells(text, fields) if suffix in (".csv", ".tsv") else _lines(text)


def _columns(content: bytes) -> Iterator[Row]:
    """The rows of a Parquet file; a number of Hugging Face's classes as its name, which is a tag."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    number = 0
    try:
        file = ParquetFile(io.BytesIO(content))
        classes = _classes((file.schema_arrow.metadata or {}).get(b"huggingface", b"{}"))
        for batch in file.iter_batches(1_000):
            for row in batch.to_pylist():
                number += 1
                said = {key: value for key, value in row.items() if value is not None}
                for column, names in classes.items():
                    if isinstance(at := said.get(column), int) and 0 <= at < len(names):
                        said[column] = names[at]
                        said.setdefault("tags", [names[at]])
                yield number, said
    except (ArrowException, OSError, ValueError) as error:
        raise BadSource(f"it is no Parquet file that can be read: {error}"[:200]) from error


def _classes(described: bytes) -> dict[str, list[str]]:
    """The names of classes by their columns, as `datasets` writes them."""
    try:
        features = json.loads(described)["info"]["features"]
        return {
            name: list(one["names"]) for name, one in features.items() if one.get("_type") == "ClassLabel"
        }
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}


def counts_as(key: str) -> str:
    """The field that a column or key counts as, "picture" for a reference to it; "" for all others."""
    meant = _HEADINGS.get(plain(key), "")
    if meant in _REFERENCES or key in _REFERENCES:
        return "picture"
    if plain(key) in map(plain, PERHAPS):
        return "token_address"
    return "caption" if meant in WHOLE else meant or meaning(key)


def named(row: dict[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """The row with its columns called as `fields` says, then as the field that they count as.

    A column that is not to count as the field that its name says is kept under that name and GIVEN.
    """
    if "tier" in row and "token_address" in row and not fields:
        return row  # of an export, whose further keys are a coin's own
    rest = dict(row)
    for key, meant in fields.items():
        if key in rest:
            value = rest.pop(key)
            if meant == KEPT:
                rest[f"{key}{GIVEN}" if counts_as(key) else key] = value
            elif meant != LEFT_OUT:
                rest["file_name" if meant == "picture" else meant] = value
    for key in [key for key in rest if _HEADINGS.get(plain(key), key) != key]:
        if (meant := _HEADINGS[plain(key)]) not in rest and rest[key] not in (None, ""):
            rest[meant] = rest.pop(key)
            if key == "tag_string" and isinstance(rest[meant], str):  # of Danbooru, parted by spaces
                rest[meant] = rest[meant].split()
    return rest


def listed(values: list[Any]) -> Iterator[Row]:
    """The rows of a JSON list."""
    for number, value in enumerate(values, start=1):
        yield number, _entry(value)


def _entry(value: Any) -> dict[str, Any] | BadSource:
    return unwrapped(value) if isinstance(value, dict) else BadSource("it is not an object")


def picture_reference(row: dict[str, Any]) -> Any:
    """Remove and return the row's reference to its picture, or its bytes; None if it has none."""
    name = row.get("token_name", row.get("name"))
    reference = f"{name}.{row['ext']}" if name and isinstance(row.get("ext"), str) else None  # of Eagle
    for key in FILES:
        held = row.get(key)
        if isinstance(held, dict) and held.keys() & {"path", "bytes"}:  # Hugging Face's Image
            del row[key]
            return held.get("bytes") or held.get("path")
        if isinstance(held, bytes):
            return row.pop(key)
        if reference in (None, "") and not isinstance(held, dict):
            reference = row.get(key) if key == "logoURI" else row.pop(key, None)
    held = next((k for k, one in row.items() if isinstance(one, bytes) and is_picture(one[:BEGINNING])), "")
    if held:
        return row.pop(held)
    if reference in (None, ""):
        reference = pictured(unfolded(row))
    url = row.get("url", row.get("URL"))
    if reference is None and isinstance(url, str) and (_PICTURE.search(url) or row.keys() & _OF_THE_WEB):
        return url
    return reference


def metadata_of(row: dict[str, Any]) -> dict[str, Any]:
    """The row as metadata: facet columns become the caption, and the column `more` is expanded.

    A column `more` that is no JSON object is kept as it is.
    """
    rest = caption_columns(row)
    more = rest.pop(MORE, None)
    if isinstance(more, str) and more:
        with suppress(BadSource):
            more = parsed(more)
    if not isinstance(more, dict):  # a stranger's column of this name
        return rest if more in (None, "") else {**rest, MORE: more}
    caption, further = rest.get("caption"), more.get("caption")
    merged = {**more, **rest}
    if isinstance(caption, dict) and isinstance(further, dict):
        merged["caption"] = {**further, **caption}
    return merged


def _cells(text: str, fields: Container[str]) -> Iterator[Row]:
    sign, above = _delimiter(text, fields)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    groups = "." if sign == ";" and _WITH_COMMA.search(text) else ""
    if sign == "," and not _DECIMAL_COMMA.search(text):
        groups = ","
    try:
        for _ in range(above):
            next(reader)
        named = next(reader, [])
        if len(named) > MAX_COLUMNS:
            raise BadSource(f"it has {len(named):,} columns; at most {MAX_COLUMNS:,} are read")
        heads = _each_once([head.strip() for head in named])
        if not any(heads):
            raise BadSource("it has no line of column names")
        are_pictures = any(head.endswith("_file_name") for head in heads)
        if not are_pictures and not any(counts_as(head) or head in fields for head in heads):
            first = [_row(heads, next(reader, []), groups=groups)]
            raise NamelessColumns([dict.fromkeys(filter(None, heads), ""), *first])
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, _row(heads, cells, groups=groups)
    except csv.Error as error:  # what came before still counts, what follows cannot be told apart
        yield reader.line_num, BadSource(f"from here on it is not CSV: {error}")


def _row(heads: list[str], cells: list[str], *, groups: str) -> dict[str, Any] | BadSource:
    """The cells by their columns; numbers of other columns than a coin's with a decimal point."""
    if any(cells[len(heads) :]):
        return BadSource("it has more cells than there are columns; put a cell that holds the sign in quotes")
    row = {head: cell for head, cell in zip(heads, map(as_typed, cells), strict=False) if head and cell != ""}
    if groups:
        for head, cell in row.items():
            if _GROUPED[groups].fullmatch(cell) and not counts_as(head):
                row[head] = cell.replace(groups, "").replace(",", ".")
    return row


def _each_once(heads: list[str]) -> list[str]:
    """The names of columns, each a second time as `name (2)`."""
    seen = Counter[str]()
    found = []
    for head in heads:
        seen[head] += 1
        found.append(head if seen[head] == 1 or not head else f"{head} ({seen[head]})")
    return found


def known_columns(line: str, sign: str, fields: Container[str] = ()) -> int:
    """How many cells of a line parted by this sign are names of columns."""
    cells = (cell.strip().strip('"') for cell in line.split(sign))
    return sum(bool(counts_as(cell) or cell in fields) for cell in cells if cell)


def _delimiter(text: str, fields: Container[str]) -> tuple[str, int]:
    """What parts the cells, and how many lines are above the names of columns."""
    if match := _SEPARATOR.match(text):
        return match[1], 1
    lines = text.split("\n", _ABOVE)[:_ABOVE]
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    known = {(sign, at): known_columns(line, sign, fields) for at, line in enumerate(lines) for sign in SIGNS}
    named = next((at for at in range(len(lines)) if max(known[sign, at] for sign in SIGNS) > 1), first)
    above = first if any(known[sign, first] for sign in SIGNS) else named
    return max(SIGNS, key=lambda sign: (known[sign, above], lines[above].count(sign))), above


def _lines(text: str) -> Iterator[Row]:
    given = _LAID_OUT.findall(text) if _LAID_OUT.match(text) else text.split("\n")
    for number, line in enumerate(given, start=1):
        if not line.strip():
            continue
        try:
            value = parsed(line)
        except BadSource as error:
            yield number, error
            continue
        yield number, _entry(value)
