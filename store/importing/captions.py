"""Import captions and tags alone, from all export formats; pictures are ignored."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from store.captions.caption_text import HOLDS, JOINED, joined
from store.errors import BadSource, InvalidRecord
from store.importing import archives, tables, texts
from store.importing.candidate import shown
from store.importing.metadata import sidecar_of
from store.importing.names import stem, suffix
from store.importing.trees import DiskTree, Tree, UploadTree
from store.outcome import Refusal
from store.records import CAPTION_FACETS, Facet, checked_address


@dataclass(frozen=True, slots=True)
class ImportedCaption:
    """What one file or row says about one record; a missing facet stays as it is."""

    item: str
    address: str
    caption: dict[Facet, str]
    tags: list[str] | None  # None: not spoken of


class _CaptionReading(NamedTuple):
    """What an export's table says about the text file of a record."""

    holds: Any  # JOINED or a facet
    caption: dict[Facet, str]
    tags: list[str] | None


def captions_at(paths: Iterable[Path], *, facet: Facet) -> Iterator[ImportedCaption | Refusal]:
    """Every caption at these paths: tables, JSON lines, sidecars, and `ADDRESS.txt` for one facet."""
    for path in map(Path, paths):
        with ExitStack() as opened:
            try:
                tree: Tree
                if path.is_dir():
                    tree = DiskTree(path, title=path.resolve().name)
                elif not path.is_file():
                    is_there = path.exists()
                    raise BadSource(
                        "it is a device or a pipe, not a file"
                        if is_there
                        else "there is no such file or folder"
                    )
                elif path.suffix.lower() == ".zip":
                    tree = opened.enter_context(archives.opened(path, title=path.name))
                else:
                    tree = DiskTree(path.parent, title="", chosen=[path.name])
                is_empty = True
                for one in _captions(tree, facet):
                    is_empty = False
                    yield one
                if is_empty:
                    raise BadSource(
                        "it has no captions: they are read from tables, JSON, zips of these, and ADDRESS.txt"
                    )
            except BadSource as error:
                yield Refusal(shown(str(path)), str(error))


def captions_dropped(
    files: Iterable[tuple[str, bytes]], *, facet: Facet
) -> Iterator[ImportedCaption | Refusal]:
    """Every caption in files that were dropped together; zip files are opened."""
    yield from _captions(UploadTree(files), facet)


def _captions(tree: Tree, facet: Facet) -> Iterator[ImportedCaption | Refusal]:
    yield from tree.refused
    readings: dict[str, _CaptionReading] = {}
    for name in sorted(tree.chosen, key=lambda name: suffix(name) == ".txt"):  # tables say what these hold
        kind = suffix(name)
        try:
            if kind == ".zip" and tree.opens_archives:
                with archives.opened(tree.picture(name), title=tree.item(name)) as inner:
                    yield from _captions(inner, facet)
            elif kind in (*tables.SUFFIXES, ".json", ".txt"):
                yield from (
                    _text(tree, name, facet, readings) if kind == ".txt" else _read(tree, name, readings)
                )
        except archives.TooMuch as error:
            yield Refusal(tree.title, f"{error}; the rest of it was left out")
            return
        except (BadSource, InvalidRecord) as error:
            yield Refusal(tree.item(name), str(error))


def _text(
    tree: Tree, name: str, facet: Facet, readings: Mapping[str, _CaptionReading]
) -> Iterator[ImportedCaption]:
    """One facet; if an export's table is beside it, only what was changed since the export."""
    text = texts.decoded(tree.read(name, limit=texts.MAX_BYTES)).strip()
    address = checked_address(Path(stem(name)).name)
    reading = readings.get(address)
    if reading is None or reading.holds != JOINED:
        which = reading.holds if reading else facet
        if reading is None or text != reading.caption.get(which, "").strip():
            yield ImportedCaption(tree.item(name), address, {which: text}, None)
    elif text != joined(reading.caption, reading.tags or []):
        raise BadSource(
            "it was changed, and in a joined line nobody can tell where a facet ends; "
            "change its line in records.jsonl instead, or export one facet alone"
        )


def _read(tree: Tree, name: str, readings: dict[str, _CaptionReading]) -> Iterator[ImportedCaption | Refusal]:
    if suffix(name) in tables.SUFFIXES:
        rows = tables.rows_of(tree.read(name, limit=tables.MAX_BYTES), suffix=suffix(name))
    else:
        value = texts.parsed(texts.decoded(tree.read(name, limit=texts.MAX_BYTES)))
        rows = tables.listed(value if isinstance(value, list) else [value])
    for number, row in rows:
        item = shown(f"{tree.item(name)} row {number}") if suffix(name) != ".json" else tree.item(name)
        try:
            if isinstance(row, BadSource):
                raise row
            one = _arrived(item, sidecar_of(tables.metadata_of(dict(row))))
            if (holds := row.get(HOLDS)) in (JOINED, *CAPTION_FACETS):
                readings[one.address] = _CaptionReading(holds, one.caption, one.tags)
            yield one
        except (BadSource, InvalidRecord) as error:
            yield Refusal(item, str(error))


def _arrived(item: str, sidecar: dict[str, Any]) -> ImportedCaption:
    if "token_address" not in sidecar:
        raise BadSource("it names no address, so it cannot be told whose caption this is")
    caption = sidecar.get("caption") or {}
    if not isinstance(caption, dict) or not all(isinstance(text, str) for text in caption.values()):
        raise BadSource("its caption must be an object of texts")
    found: dict[Facet, str] = {facet: caption[facet] for facet in CAPTION_FACETS if facet in caption}
    tags = list(sidecar["tags"]) if "tags" in sidecar else None
    return ImportedCaption(item, str(sidecar["token_address"]), found, tags)
