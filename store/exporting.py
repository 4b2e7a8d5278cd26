"""Records out of the library, in forms that other programs read and that can be imported again."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Literal, Protocol, get_args
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from store.errors import BadSource
from store.importing import Refusal
from store.importing.tables import MORE, inert
from store.layout import Layout
from store.progress import Progress
from store.records import CAPTION_FACETS, Record, sidecar_bytes

Format = Literal["reference", "jsonl", "csv", "imagefolder", "txt"]
FORMATS: tuple[Format, ...] = get_args(Format)

JOINED = "joined"
TEXTS: tuple[str, ...] = (JOINED, *CAPTION_FACETS)  # what stands in the files of the format txt

_FLAT = ("token_address", "token_name", "ticker", "description", "created_at")
_COLUMNS = ("file_name", *_FLAT, "tags", *CAPTION_FACETS, "tier", MORE)


@dataclass(slots=True)
class Exported:
    """What lies at the destination now, and what could not be written."""

    destination: Path
    done: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


def export(
    records: Iterable[Record],
    picture_of: Callable[[str], Path],
    *,
    destination: Path,
    format: str,  # noqa: A002  as the command line calls it
    texts: str = JOINED,
    progress: Progress | None = None,
) -> Exported:
    """Write the records and their pictures to a new folder, or to a zip if `destination` ends in .zip.

    `reference` is reference 1's layout, `jsonl` one file of whole sidecars, `csv` a table for spreadsheets,
    `imagefolder` what Hugging Face's datasets read, `txt` each picture with a text file beside it, as
    trainers of LoRAs expect: all facets and tags in one line, or with `texts` one facet alone. It appears
    complete or, when cancelled, not at all. BadSource for an unknown format or where something lies already.
    """
    writers: dict[str, Callable[[Iterable[tuple[Record, bytes]], _Place], None]] = {
        "reference": _reference,
        "jsonl": _jsonl,
        "csv": _csv,
        "imagefolder": _imagefolder,
        "txt": partial(_txt, texts=texts),
    }
    if format not in writers:
        raise BadSource(f"there is no export format {format!r}; choose one of {', '.join(FORMATS)}")
    if texts not in TEXTS:
        raise BadSource(f"there is no text {texts!r} to export; choose one of {', '.join(TEXTS)}")
    progress = progress or Progress()
    exported = Exported(destination)
    progress.total = len(records) if isinstance(records, Sized) else 0
    try:
        with _appearing(destination) as place:
            writers[format](_readable(records, picture_of, exported, progress), place)
    except _Cancelled:
        exported.done.clear()
    return exported


class _Cancelled(Exception):
    """Half an export is of no use, so nothing of it stays."""


class _Place(Protocol):
    """Where an export is being written: a folder or a zip."""

    def put(self, name: str, content: bytes) -> None: ...

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]: ...


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, name: str, content: bytes) -> None:
        with self.open(name) as file:
            file.write(content)

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")  # two addresses may differ in case only, and the disk may not mind case


class _Zip:
    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive

    def put(self, name: str, content: bytes) -> None:
        self._archive.writestr(_entry(name), content)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        # A zip takes one entry at a time, so a table waits until the pictures are in.
        buffer = io.BytesIO()
        yield buffer
        self.put(name, buffer.getvalue())


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the same export gives the same bytes
    entry.compress_type = ZIP_STORED if name.endswith(".jpg") else ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


@contextmanager
def _appearing(destination: Path) -> Iterator[_Place]:
    """A place beside the destination that takes its name when all went well."""
    as_zip = destination.suffix.lower() == ".zip"
    is_empty_folder = destination.is_dir() and not as_zip and not any(destination.iterdir())
    if (destination.exists() or destination.is_symlink()) and not is_empty_folder:
        raise BadSource(f"there is something at {destination} already; export to a new place")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".memedex-export-", dir=destination.parent) as folder:
            made = Path(folder) / "export"
            if as_zip:
                with ZipFile(made, "w") as archive:
                    yield _Zip(archive)
            else:
                made.mkdir()
                yield _Folder(made)
            if is_empty_folder:
                destination.rmdir()
            made.rename(destination)
    except OSError as error:
        raise BadSource(f"the export to {destination} failed: {error.strerror or error}") from error


def _readable(
    records: Iterable[Record], picture_of: Callable[[str], Path], exported: Exported, progress: Progress
) -> Iterator[tuple[Record, bytes]]:
    """Each record with its picture; those without one refused."""
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


def _reference(pairs: Iterable[tuple[Record, bytes]], place: _Place) -> None:
    layout = Layout(Path())
    for record, picture in pairs:
        sidecar = layout.sidecar(record.tier, record.address).relative_to(layout.memecoins)
        image = layout.image(record.tier, record.address).relative_to(layout.memecoins)
        place.put(sidecar.as_posix(), sidecar_bytes(record.sidecar))
        place.put(image.as_posix(), picture)


def _jsonl(pairs: Iterable[tuple[Record, bytes]], place: _Place) -> None:
    with place.open("records.jsonl") as table:
        for record, picture in pairs:
            name = f"images/{record.address}.jpg"
            place.put(name, picture)
            # `caption` is always said, so that no other key of a stranger can be taken for a facet.
            table.write(_line({"file_name": name, "caption": None, **record.as_json()}))


def _imagefolder(pairs: Iterable[tuple[Record, bytes]], place: _Place) -> None:
    with place.open("metadata.jsonl") as table:
        for record, picture in pairs:
            name = f"{record.address}.jpg"
            place.put(name, picture)
            table.write(_line(_row(record, name)))


def _csv(pairs: Iterable[tuple[Record, bytes]], place: _Place) -> None:
    with place.open("records.csv") as file:
        # utf-8-sig: without the mark, Excel takes UTF-8 for the local code page.
        table = io.TextIOWrapper(file, encoding="utf-8-sig", newline="", write_through=True)
        writer = csv.writer(table)
        writer.writerow(_COLUMNS)
        for record, picture in pairs:
            name = f"images/{record.address}.jpg"
            place.put(name, picture)
            row = _row(record, name) | {"tags": ",".join(record.tags)}
            writer.writerow([inert("" if row[column] is None else str(row[column])) for column in _COLUMNS])
        table.detach()


def _txt(pairs: Iterable[tuple[Record, bytes]], place: _Place, *, texts: str) -> None:
    for record, picture in pairs:
        place.put(f"{record.address}.jpg", picture)
        place.put(f"{record.address}.txt", f"{text_of(record, texts)}\n".encode())


def text_of(record: Record, texts: str) -> str:
    """One facet as it is written, or all of them and the tags in one line."""
    if texts != JOINED:
        return record.caption.get(texts, "")  # type: ignore[call-overload,no-any-return]
    parts = [" ".join(text.split()).rstrip(". ") for text in record.caption.values()]
    return ", ".join(part for part in (*parts, *record.tags) if part)


def _row(record: Record, file_name: str) -> dict[str, Any]:
    """One flat row with the same columns for every record; what fits none stands in `more` as JSON."""
    caption = record.sidecar.get("caption")
    spread = {facet: (record.caption.get(facet) or None) for facet in CAPTION_FACETS}
    more = {key: value for key, value in record.sidecar.items() if key not in (*_FLAT, "tags", "caption")}
    if isinstance(caption, dict):
        # An empty facet means nothing to say, an absent one not written yet: a cell cannot tell them apart.
        left = {key: text for key, text in caption.items() if spread.get(key) is None}
        if left or not caption:
            more["caption"] = left
    row = {key: record.sidecar[key] for key in _FLAT} | spread
    text = json.dumps(more, ensure_ascii=False, sort_keys=True) if more else None
    return {"file_name": file_name, **row, "tags": record.tags, "tier": record.tier, MORE: text}


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n"
