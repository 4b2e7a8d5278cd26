"""The export formats; each but the token list can be imported again without loss."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from store.captions.caption_text import HOLDS, JOINED, joined
from store.disk.csv import inert
from store.disk.layout import Layout
from store.errors import BadSource
from store.exporting import collections, token_list
from store.exporting.collections import VectorsOf
from store.exporting.targets import ExportTarget, staged_target
from store.importing import Refusal
from store.importing.tables import MORE
from store.progress import Progress
from store.records import CAPTION_FACETS, Record, sidecar_bytes

Format = Literal["reference", "jsonl", "csv", "imagefolder", "txt", "tokenlist"]
FORMATS: tuple[Format, ...] = get_args(Format)

TEXTS: tuple[str, ...] = (JOINED, *CAPTION_FACETS)  # what stands in the files of the format txt

_TABLE = "records.jsonl"
_BREAKS = {
    ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"
}  # some readers take them for line ends
_FLAT = ("token_address", "token_name", "ticker", "description", "created_at")
_COLUMNS = ("file_name", *_FLAT, "tags", *CAPTION_FACETS, "tier", MORE)


@dataclass(slots=True)
class ExportReport:
    """The files at the destination, and what could not be written."""

    destination: Path
    done: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


def export(
    records: Iterable[Record],
    picture_of: Callable[[str], Path],
    *,
    destination: Path,
    format: str,
    texts: str = JOINED,
    vectors_of: VectorsOf | None = None,
    previous: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> ExportReport:
    """Write the records and their pictures to a new folder, or to a zip if `destination` ends in .zip.

    `reference` is reference 1's layout, with its five collections if `vectors_of` gives the stored vectors;
    `jsonl` one file of whole sidecars, `csv` a table for spreadsheets, `imagefolder` the layout of Hugging
    Face's datasets, `txt` each picture with a text file beside it for LoRA trainers: all facets and tags in
    one line, or with `texts` one facet alone; a table beside them, which trainers ignore, has the rest.
    `tokenlist` is a Token List without captions, whose version follows from the list `previous`. The export
    appears complete or, if cancelled, not at all. Raises BadSource for an unknown format or if the
    destination exists.
    """
    writers: dict[str, Callable[[Iterable[tuple[Record, bytes]], ExportTarget], None]] = {
        "reference": partial(_reference, vectors_of=vectors_of),
        "jsonl": _jsonl,
        "csv": _csv,
        "imagefolder": _imagefolder,
        "txt": partial(_txt, texts=texts),
        "tokenlist": partial(_token_list, previous=previous),
    }
    check(format, texts)
    progress = progress or Progress()
    exported = ExportReport(destination)
    if format == "tokenlist":
        records = _listable(records, exported)
    progress.total = len(records) if isinstance(records, Sized) else 0
    try:
        with staged_target(destination) as place:
            writers[format](_readable(records, picture_of, exported, progress), place)
    except _Cancelled:
        exported.done.clear()
    return exported


def check(format: str, texts: str) -> None:
    """Raises BadSource, naming the valid ones, for an unknown format or text."""
    if format not in FORMATS:
        raise BadSource(f"there is no export format {format!r}; choose one of {', '.join(FORMATS)}")
    if texts not in TEXTS:
        raise BadSource(f"there is no text {texts!r} to export; choose one of {', '.join(TEXTS)}")


class _Cancelled(Exception):
    """The export was cancelled, so all of it is removed."""


def _readable(
    records: Iterable[Record], picture_of: Callable[[str], Path], exported: ExportReport, progress: Progress
) -> Iterator[tuple[Record, bytes]]:
    """Each record with its picture; those without one are refused."""
    for record in records:
        if progress.cancelled:
            raise _Cancelled
        try:
            picture = picture_of(record.address).read_bytes()
        except OSError as error:
            exported.refused.append(Refusal(record.address, f"its picture cannot be read: {error.strerror}"))
            continue
        yield record, picture
        exported.done.append(record.address)
        progress.done += 1


def _listable(records: Iterable[Record], exported: ExportReport) -> list[Record]:
    """The records that a token list can name; the others are refused."""
    found = []
    for record in records:
        try:
            token_list.check_token(record)
        except BadSource as error:
            exported.refused.append(Refusal(record.address, str(error)))
        else:
            found.append(record)
    return found


def _token_list(
    pairs: Iterable[tuple[Record, bytes]], place: ExportTarget, *, previous: Mapping[str, Any] | None
) -> None:
    chosen = []
    for record, picture in pairs:
        chosen.append(record)
        place.write(f"images/{record.address}.jpg", picture)
    made = token_list.token_list(chosen, previous=previous)
    place.write(token_list.FILE, json.dumps(made, ensure_ascii=False, indent=2).encode() + b"\n")


def _reference(
    pairs: Iterable[tuple[Record, bytes]], place: ExportTarget, *, vectors_of: VectorsOf | None = None
) -> None:
    layout, in_library = Layout(Path()), []
    for record, picture in pairs:
        if record.tier == "library":
            in_library.append(record)
        sidecar = layout.sidecar(record.tier, record.address).relative_to(layout.memecoins)
        image = layout.image(record.tier, record.address).relative_to(layout.memecoins)
        place.write(sidecar.as_posix(), sidecar_bytes(record.sidecar))
        place.write(image.as_posix(), picture)
    if vectors_of and in_library:
        collections.write(in_library, vectors_of, place, folder="rag_db")


def _jsonl(pairs: Iterable[tuple[Record, bytes]], place: ExportTarget) -> None:
    with place.open(_TABLE) as table:
        for record, picture in pairs:
            name = f"images/{record.address}.jpg"
            place.write(name, picture)
            table.write(_whole(record, file_name=name))


def _imagefolder(pairs: Iterable[tuple[Record, bytes]], place: ExportTarget) -> None:
    with place.open("metadata.jsonl") as table:
        for record, picture in pairs:
            name = f"{record.address}.jpg"
            place.write(name, picture)
            table.write(_line(_row(record, name)))


def _csv(pairs: Iterable[tuple[Record, bytes]], place: ExportTarget) -> None:
    with place.open("records.csv") as file:
        # utf-8-sig: without the mark, Excel takes UTF-8 for the local code page.
        table = io.TextIOWrapper(file, encoding="utf-8-sig", newline="", write_through=True)
        writer = csv.writer(table)
        writer.writerow(_COLUMNS)
        for record, picture in pairs:
            name = f"images/{record.address}.jpg"
            place.write(name, picture)
            row = _row(record, name, in_cell=True) | {"tags": _cell(record.tags)}
            writer.writerow([inert("" if row[column] is None else str(row[column])) for column in _COLUMNS])
        table.detach()


def _txt(pairs: Iterable[tuple[Record, bytes]], place: ExportTarget, *, texts: str) -> None:
    with place.open(_TABLE) as table:
        for record, picture in pairs:
            name = f"{record.address}.jpg"
            place.write(name, picture)
            place.write(f"{record.address}.txt", f"{text_of(record, texts)}\n".encode())
            table.write(_whole(record, file_name=name, **{HOLDS: texts}))


def text_of(record: Record, texts: str) -> str:
    """One facet as it is written, or all of them and the tags in one line."""
    if texts != JOINED:
        return dict[str, str](record.caption.items()).get(texts, "")
    return joined(record.caption, record.tags)


def _cell(tags: Sequence[str]) -> str:
    """Tags joined by commas; "" for a single one with a sign that would part it, which is in `more`."""
    return "" if len(tags) == 1 and any(sign in tags[0] for sign in ";|") else ",".join(tags)


def _row(record: Record, file_name: str, *, in_cell: bool = False) -> dict[str, Any]:
    """A flat row with the same columns for every record; all else is JSON in the column `more`."""
    caption = record.sidecar.get("caption")
    spread = {facet: (record.caption.get(facet) or None) for facet in CAPTION_FACETS}
    more = {key: value for key, value in record.sidecar.items() if key not in (*_FLAT, "tags", "caption")}
    if isinstance(caption, dict):
        # An empty facet is empty on purpose, an absent one not written yet: a cell cannot tell them apart.
        left = {key: text for key, text in caption.items() if spread.get(key) is None}
        if left or not caption:
            more["caption"] = left
    if in_cell and record.tags and not _cell(record.tags):
        more["tags"] = record.tags
    row = {key: record.sidecar[key] for key in _FLAT} | spread
    text = json.dumps(more, ensure_ascii=False, sort_keys=True) if more else None
    return {"file_name": file_name, **row, "tags": record.tags, "tier": record.tier, MORE: text}


def _whole(record: Record, **more: str) -> bytes:
    # `caption` is always said, so that no other key of a stranger can be taken for a facet.
    return _line({**more, "caption": None, **record.as_json()})


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).translate(_BREAKS).encode() + b"\n"
