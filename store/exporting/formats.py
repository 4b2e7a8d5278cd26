"""The export formats, as a folder or a zip; each but the token list can be imported again without loss."""

import contextlib
import csv
import io
import json
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Literal, get_args
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from filelock import FileLock, Timeout

from store.captions.caption_text import HOLDS, JOINED, joined
from store.chroma.collections import COLLECTIONS
from store.chroma.foreign import CollectionWriter, Texts
from store.chroma.process import ChildProcess, ChromaFailed
from store.disk.csv import inert
from store.disk.layout import Layout
from store.errors import BadSource
from store.exporting import token_list
from store.importing import Refusal
from store.importing.names import COIN
from store.importing.tables import MORE
from store.progress import Progress, batches
from store.records import CAPTION_FACETS, Facet, Record, chroma_metadata, sidecar_bytes

HALF = ".memedex-export-"  # how the folder of an export that is not complete is called
_LOCK = ".lock"  # next to it
_BATCH = 200  # records handed over at once
_CHUNK = 1 << 20
_PART = 100_000_000  # bytes of pictures in one Parquet file, which is read whole

VectorsOf = Callable[[str], Mapping[Facet, bytes]]
Format = Literal["reference", "jsonl", "csv", "imagefolder", "parquet", "coco", "txt", "tokenlist"]
FORMATS: tuple[Format, ...] = get_args(Format)

TEXTS: tuple[str, ...] = (JOINED, *CAPTION_FACETS)  # the contents of the files of the format txt

_TABLE = "records.jsonl"
# Some readers take them for line ends.
_BREAKS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
_FLAT = ("token_address", "token_name", "ticker", "description", "created_at")
_COLUMNS = ("file_name", *_FLAT, "tags", *CAPTION_FACETS, "tier", MORE)


class ExportTarget(ABC):
    """A folder or a zip that an export is written to."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file with this content."""
        with self.open(name) as file:
            file.write(content)

    @abstractmethod
    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """A new file of this name to write to."""


class _Folder(ExportTarget):
    def __init__(self, root: Path) -> None:
        self._root = root

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")  # two addresses may differ in case only, and the disk may not mind case


class _Zip(ExportTarget):
    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        # A zip takes one entry at a time, so a table waits until the pictures are in.
        buffer = io.BytesIO()
        yield buffer
        self._archive.writestr(_entry(name), buffer.getvalue())


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the same export gives the same bytes
    entry.compress_type = ZIP_STORED if name.endswith(".jpg") else ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


@contextmanager
def staged_target(destination: Path) -> Iterator[ExportTarget]:
    """A place next to the destination that is renamed to it when the block succeeds.

    Raises BadSource if the destination exists or the disk refuses.
    """
    as_zip = destination.suffix.lower() == ".zip"
    is_empty_folder = destination.is_dir() and not as_zip and not any(destination.iterdir())
    if (destination.exists() or destination.is_symlink()) and not is_empty_folder:
        raise BadSource(f"there is something at {destination} already; export to a new place")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with _staging_folder(destination.parent) as folder:
            made = folder / "export"
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


@contextmanager
def _staging_folder(parent: Path) -> Iterator[Path]:
    """A folder for an incomplete export, locked while it is being written."""
    folder = parent / f"{HALF}{token_hex(8)}"
    lock = FileLock(f"{folder}{_LOCK}")
    with lock:  # before the folder is there: no process finds it unlocked
        try:
            folder.mkdir()
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            Path(lock.lock_file).unlink(missing_ok=True)


def remove_leftovers(parent: Path) -> None:
    """Delete what killed exports left in this folder; those in progress, in any process, stay."""
    for name in {path.name.removesuffix(_LOCK) for path in parent.glob(f"{HALF}*")}:
        lock = FileLock(parent / f"{name}{_LOCK}")
        with contextlib.suppress(Timeout, OSError), lock.acquire(timeout=0):
            shutil.rmtree(parent / name, ignore_errors=True)
            Path(lock.lock_file).unlink(missing_ok=True)


def write_chroma(
    records: Iterable[Record], vectors_of: VectorsOf, place: ExportTarget, *, folder: str
) -> None:
    """Write a Chroma with these records' vectors, metadata and captions below `folder` of the place.

    Raises BadSource if Chroma fails.
    """
    with tempfile.TemporaryDirectory(prefix="memedex-") as temporary:
        made = Path(temporary)
        try:
            with closing(ChildProcess(CollectionWriter, made)) as writer:
                for name in COLLECTIONS.values():  # they are there even if they are empty
                    writer.call(CollectionWriter.add, name, Texts())
                for batch in batches(records, _BATCH):
                    for facet, texts in _entries(batch, vectors_of).items():
                        writer.call(CollectionWriter.add, COLLECTIONS[facet], texts)
        except ChromaFailed as error:
            raise BadSource(f"Chroma could not be written: {error}") from error
        for path in sorted(made.rglob("*")):
            if path.is_file():
                with path.open("rb") as source, place.open(f"{folder}/{path.relative_to(made)}") as target:
                    while content := source.read(_CHUNK):
                        target.write(content)


def _entries(records: Sequence[Record], vectors_of: VectorsOf) -> dict[Facet, Texts]:
    """The entries of these records in each collection; pictures have no document."""
    found: dict[Facet, Texts] = {}
    for record in records:
        for facet, vector in vectors_of(record.address).items():
            texts = found.setdefault(facet, Texts(documents=None if facet == "image" else []))
            texts.ids.append(record.address)
            texts.metadata.append(dict(chroma_metadata(record)))
            texts.vectors.append(vector)
            if texts.documents is not None and facet != "image":
                texts.documents.append(record.caption.get(facet, ""))
    return found


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

    `reference` is a library's own layout, with its five collections if `vectors_of` gives the stored vectors;
    `jsonl` one file of whole sidecars, `csv` a table for spreadsheets, `imagefolder` the layout of Hugging
    Face's datasets, `parquet` the same with the pictures inside, `coco` pictures with COCO's captions, `txt`
    each picture with its text file for LoRA trainers: all facets and tags in one line, or with `texts` one
    facet alone; a table, which trainers ignore, has the rest.
    `tokenlist` is a Token List without captions, whose version follows from the list `previous`. The export
    appears complete or, if cancelled, not at all. Raises BadSource for an unknown format or if the
    destination exists.
    """
    writers: dict[str, Callable[[Iterable[tuple[Record, bytes]], ExportTarget], None]] = {
        "reference": partial(_reference, vectors_of=vectors_of),
        "jsonl": _jsonl,
        "csv": _csv,
        "imagefolder": _imagefolder,
        "parquet": _parquet,
        "coco": _coco,
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
        write_chroma(in_library, vectors_of, place, folder="rag_db")


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


def _parquet(pairs: Iterable[tuple[Record, bytes]], place: ExportTarget) -> None:
    """Files of at most `_PART` bytes of pictures, with `image` as Hugging Face's datasets store pictures."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    text, texts = (
        pa.string(),
        ("token_address", "token_name", "ticker", "description", *CAPTION_FACETS, "tier"),
    )
    schema = pa.schema(
        [
            ("image", pa.struct([("bytes", pa.binary()), ("path", text)])),
            *((name, text) for name in texts),
            *(("created_at", pa.int64()), ("tags", pa.list_(text)), (MORE, text)),
        ],
        metadata={"huggingface": json.dumps({"info": {"features": {"image": {"_type": "Image"}}}})},
    )
    for number, part in enumerate(_parts(pairs)):
        with place.open(f"data/part-{number:05}.parquet") as file, ParquetWriter(file, schema) as writer:
            for batch in batches(part, _BATCH):
                rows = [
                    _row(record, "") | {"image": {"bytes": picture, "path": f"{record.address}.jpg"}}
                    for record, picture in batch
                ]
                writer.write_table(pa.Table.from_pylist(rows, schema))


def _parts(pairs: Iterable[tuple[Record, bytes]]) -> Iterator[list[tuple[Record, bytes]]]:
    part: list[tuple[Record, bytes]] = []
    size = 0
    for record, picture in pairs:
        if part and size + len(picture) > _PART:
            yield part
            part, size = [], 0
        part.append((record, picture))
        size += len(picture)
    yield part  # without coins, an empty table


def _coco(pairs: Iterable[tuple[Record, bytes]], place: ExportTarget) -> None:
    """COCO's captions: one annotation for each facet, and the whole coin beside its picture's entry."""
    from store.disk.images import SIDE  # Pillow comes along

    made: dict[str, list[Any]] = {"images": [], "annotations": [], "categories": []}
    for number, (record, picture) in enumerate(pairs, start=1):
        name = f"{record.address}.jpg"
        place.write(f"images/{name}", picture)
        made["images"].append(
            {"id": number, "file_name": name, "width": SIDE, "height": SIDE, COIN: record.as_json()}
        )
        made["annotations"] += [
            {
                "id": len(CAPTION_FACETS) * number + place_of,
                "image_id": number,
                "facet": facet,
                "caption": text,
            }
            for place_of, facet in enumerate(CAPTION_FACETS)
            if (text := record.caption.get(facet))
        ]
    place.write(
        "annotations/captions.json", _line({"info": {"description": "Memedex"}, "licenses": [], **made})
    )


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
