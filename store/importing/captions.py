"""Import captions and tags of known coins, from all export formats and from text files next to pictures."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from store.captions.caption_text import HOLDS, JOINED, joined
from store.disk.images import SUFFIXES
from store.errors import BadSource, InvalidRecord
from store.importing import shapes, tables, trees
from store.importing.candidate import shown
from store.importing.metadata import sidecar_of
from store.importing.pictures import Pictures, endings, parse_caption, with_whole_caption
from store.importing.trees import DiskTree, Tree, UploadTree, folder_of, picture_bytes, stem, suffix
from store.outcome import Refusal
from store.records import CAPTION_FACETS, Facet, checked_address

_TEXTS = (".txt", ".caption")


@dataclass(frozen=True, slots=True)
class ImportedCaption:
    """What one file or row says about one record; a missing facet stays as it is."""

    item: str
    address: str  # "": the picture says whose caption it is
    caption: dict[Facet, str]
    tags: list[str] | None  # None: not spoken of
    others: dict[str, Any] = field(default_factory=dict)  # other fields of the sidecar
    picture: Callable[[], bytes] | None = None  # the picture next to it, for a coin unknown by address …
    name: str = ""  # … and what it calls the coin or its picture, for one that neither tells


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
                    raise BadSource(trees.why_unreadable(path))
                elif trees.is_archive(path.name):
                    tree = opened.enter_context(trees.opened(path, title=path.name))
                else:
                    tree = DiskTree(path.parent, title="", chosen=[path.name])
                is_empty = True
                for one in _captions(tree, facet):
                    is_empty = False
                    yield one
                if is_empty:
                    raise BadSource(
                        "it has no captions: they are read from tables, JSON, archives of these, "
                        "ADDRESS.txt, and texts called as a coin or its picture"
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
    pictures = Pictures(tree.names, is_picture=tree.is_picture)
    readings: dict[str, _CaptionReading] = {}
    for name in sorted(tree.chosen, key=lambda name: suffix(name) in _TEXTS):  # tables say what these hold
        kind = suffix(name)
        try:
            if trees.is_archive(name) and tree.opens_archives:
                with trees.opened(tree.picture(name), title=tree.item(name), outer=tree) as inner:
                    yield from _captions(inner, facet)
            elif kind in _TEXTS:
                yield from _text(tree, pictures, name, facet, readings)
            elif kind in (*tables.SUFFIXES, ".json"):
                yield from _read(tree, pictures, name, readings)
        except trees.TooMuch as error:
            yield Refusal(tree.title, f"{error}; the rest of it was left out")
            return
        except (BadSource, InvalidRecord) as error:
            yield Refusal(tree.item(name), str(error))


def _text(
    tree: Tree, pictures: Pictures, name: str, facet: Facet, readings: Mapping[str, _CaptionReading]
) -> Iterator[ImportedCaption]:
    """One facet; if an export's table is next to it, only what was changed since the export.

    A text that has the name of a picture instead of an address means what it means to `import`.
    """
    text = tables.decoded(tree.read(name, limit=tables.MAX_TEXT_BYTES)).strip()
    lies_here = pictures.beside(name)
    picture = partial(picture_bytes, tree, lies_here) if lies_here else None
    try:
        address = checked_address(Path(stem(name)).name)
    except InvalidRecord:
        fields = parse_caption(text)
        caption = {facet: text} if "caption" in fields else {}
        yield ImportedCaption(
            tree.item(name), "", caption, fields.get("tags"), picture=picture, name=_called(stem(name))
        )
        return
    reading = readings.get(address)
    if reading is None or reading.holds != JOINED:
        which = reading.holds if reading else facet
        if reading is None or text != reading.caption.get(which, "").strip():
            yield ImportedCaption(tree.item(name), address, {which: text}, None, picture=picture)
    elif text != joined(reading.caption, reading.tags or []):
        raise BadSource(
            "it was changed, and a joined line does not show where a facet ends; "
            "change its line in records.jsonl instead, or export one facet alone"
        )


def _read(
    tree: Tree, pictures: Pictures, name: str, readings: dict[str, _CaptionReading]
) -> Iterator[ImportedCaption | Refusal]:
    own_picture = None
    if suffix(name) in tables.SUFFIXES:
        rows = list(tables.rows_of(tree.read(name, limit=tables.MAX_BYTES), suffix=suffix(name)))
    else:
        value = tables.parsed(tables.decoded(tree.read(name, limit=tables.MAX_TEXT_BYTES)))
        listed = shapes.entries(value)
        own_picture = None if listed else pictures.beside(name)
        rows = list(tables.listed(listed.rows if listed else [value]))
    if not rows:
        raise BadSource("there is no caption in it")
    rows, _ = shapes.coins_of(rows, {})
    shared = endings(tables.picture_reference(dict(row)) for _, row in rows if isinstance(row, dict))
    for number, row in rows:
        item = shown(f"{tree.item(name)} row {number}") if suffix(name) != ".json" else tree.item(name)
        try:
            if isinstance(row, BadSource):
                raise row
            given = dict(row)
            reference = tables.picture_reference(given)
            sidecar = sidecar_of(tables.metadata_of(with_whole_caption(given)))
            found, called = own_picture, str(sidecar.get("token_name") or "")
            if found is None and "token_address" not in sidecar:
                if reference in (None, "") and not called:
                    raise BadSource(
                        "it does not say whose caption it is: it has neither an address, a picture nor a name"
                    )
                with suppress(BadSource):
                    found = pictures.meant(reference, folder=folder_of(name), address="", shared=shared)
                if isinstance(reference, str):
                    called = called or _called(stem(reference))
            one = _arrived(item, sidecar, picture=partial(picture_bytes, tree, found) if found else None)
            one = replace(one, name=called)
            if (holds := row.get(HOLDS)) in (JOINED, *CAPTION_FACETS):
                readings[one.address] = _CaptionReading(holds, one.caption, one.tags)
            yield one
        except (BadSource, InvalidRecord) as error:
            yield Refusal(item, str(error))


def _called(stem_of_file: str) -> str:
    """The name that `import` gives a coin whose picture's file is called so."""
    bare = stem(stem_of_file) if suffix(stem_of_file) in SUFFIXES else stem_of_file  # frog.png.txt
    return bare.replace("_", " ").strip()


def _arrived(item: str, sidecar: dict[str, Any], *, picture: Callable[[], bytes] | None) -> ImportedCaption:
    caption = sidecar.get("caption") or {}
    if not isinstance(caption, dict) or not all(isinstance(text, str) for text in caption.values()):
        raise BadSource("its caption must be an object of texts")
    found: dict[Facet, str] = {facet: caption[facet] for facet in CAPTION_FACETS if facet in caption}
    tags = list(sidecar["tags"]) if "tags" in sidecar else None
    others = {key: value for key, value in sidecar.items() if key not in ("caption", "tags")}
    return ImportedCaption(item, str(sidecar.get("token_address", "")), found, tags, others, picture)
