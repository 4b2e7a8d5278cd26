"""Texts in a Chroma: agents' memories, lore and sessions of a story engine, and world files."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from store.adopting.documents import PageNumbers, PassageCounter, document_entry
from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, FoundKind
from store.adopting.texts import VERB, Adoption, Entry, model_of
from store.chroma.collections import COLLECTIONS
from store.chroma.contents import (
    DATABASE,
    MARK,
    FoundCollection,
    added_at,
    metadata_keys,
    model_named_by,
    read_contents,
    read_entries,
)
from store.chroma.foreign import ForeignEntry, opened_copy
from store.chroma.process import ChromaFailed
from store.disk.files import read_regular
from store.errors import CatalogDamaged, MemedexError
from store.memory.engine.foreign import TIMES, as_vector, moment, time_of
from store.memory.engine.inputs import as_json, checked_text
from store.memory.memory import Memory
from store.memory.story.lore import LARGEST, TIMES_OF_LORE, World, parse_world
from store.outcome import Refusal
from store.progress import Progress, batches

Metadata = Mapping[str, Any]
Make = Callable[[str, str, Metadata, str], Entry]  # id, text, metadata, when it was added

_OF_MEMORIES = {"timestamp", "tags", "user_id", "agent_id", "run_id", "memory_type"}
_BY_NAME = {"memories": "memories", "mem0": "memories", "langchain": "documents"}  # of entries without fields
_TEXTS = ("data", "memory", "text", "content", "page_content")  # of an entry without a document
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?")

TITLES = {
    "memories": "memories",
    "world_lore": "chunks of lore",
    "session_memory": "exchanges of sessions",
    "documents": "passages of documents",
}
_PLACES = ("", "worlds", "assets/worlds", "engine/assets/worlds")
_ENDINGS = (".yaml", ".yml")
_BATCH = 500  # entries of one transaction
_DEEPEST = 3  # folders below the given one
_COINS = frozenset(COLLECTIONS.values())


def kind_of(name: str, keys: set[str]) -> str:
    """The kind of memory that a collection with these metadata belongs to; "" if none is known."""
    if {"data", "hash"} <= keys:  # mem0's, whatever else a person put there
        return "memories"
    if "world_id" in keys:
        return "world_lore"
    if "session_id" in keys:
        return "session_memory"
    is_of_file = keys & {"source", "file_path", "page_number"} and not keys & _OF_MEMORIES
    if keys & {"protocol", "page_label", "_node_content"} or is_of_file:
        return "documents"
    return "memories" if keys & _OF_MEMORIES else _BY_NAME.get(name, "")


def text_of(entry: ForeignEntry) -> str:
    """The text of an entry, which mem0 keeps among its metadata."""
    return entry.document or next((str(entry.metadata[key]) for key in _TEXTS if entry.metadata.get(key)), "")


def memory_entry(id: str, text: str, metadata: Metadata, added: str) -> Entry:
    """An agent's memory. Raises ValueError if it has no text."""
    rest = {name: value for name, value in metadata.items() if name not in ("timestamp", "tags")}
    at, unread = _time(metadata)
    if at is None and not unread:
        at = _second_of(id) or _timestamp(added)
    row = {
        "id": checked_text(id, what="the id"),
        "content": checked_text(text, what="the text"),
        "tags": json.dumps(tags_of(metadata.get("tags"))),
        "timestamp": at or "",
    }
    if unread:
        rest = dict(metadata)
    return Entry(row, metadata=rest, may_be_renamed=True, unread=unread)


def lore_entry(id: str, text: str, metadata: Metadata, added: str) -> Entry:
    """A chunk of a world's lore. Raises ValueError if it names no world."""
    world = checked_text(_text(metadata.get("world_id")), what="its world_id")
    rest = {name: value for name, value in metadata.items() if name != "world_id"}
    row = {
        "id": checked_text(id, what="the id"),
        "world_id": world,
        "lore_id": id.removeprefix(f"{world}_"),
        "text": checked_text(text, what="the text"),
        "metadata": as_json(rest),
    }
    return Entry(row, unread=_time({name: metadata.get(name) for name in TIMES_OF_LORE})[1])


def session_entry(id: str, text: str, metadata: Metadata, added: str) -> Entry:
    """An exchange of a session. Raises ValueError if it names no session."""
    key = checked_text(_text(metadata.get("session_id")), what="its session_id")
    rest = {name: value for name, value in metadata.items() if name != "session_id"}
    given, unread = _time(metadata)
    at = moment(given) if given or unread else moment(added)
    row = {
        "id": checked_text(id, what="the id"),
        "session_id": key,
        "memory_id": id.removeprefix(f"{key}_"),
        "text": checked_text(text, what="the text"),
        "at": datetime.fromisoformat(at).timestamp() if at else 0.0,
    }
    return Entry(row, metadata=rest, unread=unread)


ENTRIES: Mapping[str, Make] = {
    "memories": memory_entry,
    "world_lore": lore_entry,
    "session_memory": session_entry,
}


_OWNER = {
    "world_lore": {"world_id": "unnamed"},
    "session_memory": {"session_id": "unnamed"},
}  # of what a person says is of this kind


def tags_of(value: Any) -> list[str]:
    """The tags of a list, of a JSON list, of an object, or of one text with commas (or semicolons)."""
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            with suppress(ValueError, RecursionError):  # else it is a text with commas that begins so
                return tags_of(json.loads(value))
        value = value.split("," if "," in value else ";")
    if isinstance(value, Mapping):
        value = [name for name, holds in value.items() if holds]
    if not isinstance(value, list):
        return []
    names = (one.get("name") if isinstance(one, Mapping) else one for one in value)
    return list(dict.fromkeys(tag.strip() for tag in names if isinstance(tag, str) and tag.strip()))


def _time(metadata: Metadata) -> tuple[str | None, tuple[str, ...]]:
    """The time of an entry, as it was written if it is in ISO 8601; what cannot be read, as a sentence."""
    try:
        found = time_of(metadata)
    except ValueError as error:
        return None, (str(error),)
    given = next((value for name in TIMES if (value := metadata.get(name)) and moment(value) == found), None)
    return (_timestamp(given) if found else None), ()


def _timestamp(value: Any) -> str | None:
    """A time as it was written if SQLite reads it too; any other as 2026-01-31T10:00:00Z."""
    found = moment(value)
    if found is None or (isinstance(value, str) and _ISO.fullmatch(value)):
        return value if found else None
    return f"{datetime.fromisoformat(found):%Y-%m-%dT%H:%M:%SZ}"


def _second_of(id: str) -> str | None:
    """The time in an id such as mem_1706745600."""
    number = id.rpartition("_")[2]
    if not (id.startswith("mem_") and number.isdecimal() and len(number) <= 11):
        return None
    return f"{datetime.fromtimestamp(int(number), UTC):%Y-%m-%dT%H:%M:%SZ}"


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


@dataclass(frozen=True, slots=True)
class WorldFile:
    """A world that can be taken, with its file."""

    path: Path
    content: bytes
    world: World


def find_worlds(path: Path) -> Iterator[WorldFile | Refusal]:
    """The worlds in this folder, or in its `assets/worlds`.

    In a folder not named `worlds`, only files that name an id or lore are worlds, others are passed over.
    """
    folders = [path / place for place in _PLACES] if path.is_dir() else []
    for folder in (folder for folder in folders if folder.is_dir()):
        for file in sorted(one for one in folder.iterdir() if one.suffix.lower() in _ENDINGS):
            try:
                content = read_regular(file, limit=LARGEST)
                world = parse_world(content, file=file.name)
            except (OSError, ValueError) as error:
                if folder.name == "worlds":
                    yield Refusal(file.relative_to(path).as_posix(), str(error))
                continue
            if folder.name == "worlds" or world.lore:
                yield WorldFile(file, content, world)


def take_worlds(adoption: Adoption, path: Path) -> int:
    """Take the worlds that are not here yet; returns how many were found."""
    found = 0
    for one in find_worlds(path):
        if isinstance(one, Refusal):
            adoption.report.refused.append(one)
            continue
        found += 1
        if adoption.progress.cancelled:
            break
        _take_world(adoption, one)
        adoption.progress.done += 1
    return found


def _take_world(adoption: Adoption, one: WorldFile) -> None:
    memory, world = adoption.memory, one.world
    item = f"world {world.id}"
    here = {known.id: known for known in memory.lore.worlds()}
    if world.id in here:
        if here[world.id].hash == world.hash:
            adoption.report.present.append(item)
            _put_file(adoption, one)
        else:
            adoption.refuse(item, f"there is such a world here, from {here[world.id].file}; it stays")
        return
    place = memory.places.worlds / one.path.name
    if place.exists() and place.read_bytes() != one.content:
        adoption.refuse(item, f"there is another file {one.path.name} among the worlds; it stays")
        return
    try:
        memory.lore.put_world(world, verb=VERB, actor=adoption.actor, decision=adoption.decision)
    except MemedexError as error:
        adoption.refuse(item, str(error))
        return
    _put_file(adoption, one)
    adoption.report.taken.append(item)


def _put_file(adoption: Adoption, one: WorldFile) -> None:
    """After its rows: an interrupted adoption must not leave a file that the next opening loads."""
    places = adoption.memory.places
    if not (places.worlds / one.path.name).exists():
        adoption.memory.lore.put_file(one.path.name, one.content)


@dataclass(frozen=True, slots=True)
class _TextCollection:
    """A collection of texts, in one folder, for one kind of memory."""

    folder: Path
    collection: FoundCollection
    kind: str


class ChromaTexts:
    """Folders such as `chroma_db/` and `data/chroma/`, and the worlds next to them."""

    title = "Memories, lore and sessions in a Chroma"

    def __init__(self, kind: str = "") -> None:
        """With a kind of memory, every collection of texts is taken as this one."""
        self.name, self._kind = kind or "chroma-texts", kind

    def recognise(self, path: Path) -> DataSurvey | None:
        """The collections of texts below this path, and files of worlds; None if there are neither."""
        refused: list[Refusal] = []
        collections = list(_collections(path, refused, kind=self._kind))
        worlds = [one for one in find_worlds(path) if isinstance(one, WorldFile)]
        if not (collections or worlds or refused):
            return None
        refused += [one for one in find_worlds(path) if isinstance(one, Refusal)]
        papers = [one for one in collections if one.kind == "documents"]
        notes = dict.fromkeys(note for one in papers for note in _page_numbers(one, refused).notes)
        found = [FoundKind(TITLES[one.kind], one.collection.count, _place(one, path)) for one in collections]
        if worlds:
            place = _relative(worlds[0].path.parent, path)
            found.append(FoundKind("worlds", len(worlds), place, "their lore is cut into chunks"))
        return DataSurvey(self.name, self.title, path, tuple(found), tuple(refused), tuple(notes))

    def adopt(
        self, memory: Memory, survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take all of it as one decision; vectors of the kind's own model are reused."""
        adoption = Adoption(memory, survey, request, progress)
        kinds = set()
        for one in _collections(survey.path, adoption.report.refused, kind=self._kind):
            if progress.cancelled:
                return adoption.report
            try:
                _take_collection(adoption, one, named=request.vectors)
            except (OSError, ChromaFailed, CatalogDamaged) as error:
                adoption.refuse(one.collection.name, f"it was not taken: {error}")
            kinds.add(one.kind)
        if not progress.cancelled and take_worlds(adoption, survey.path):
            kinds.add("world_lore")
        for kind in sorted(kinds):
            adoption.embed(memory.kinds[kind])
        return adoption.report


def _take_collection(adoption: Adoption, one: _TextCollection, *, named: str) -> None:
    passages = adoption.memory.kinds[one.kind]
    adoption.progress.what = f"reading {one.collection.name}"
    model_name = named or model_named_by(one.folder, one.collection)
    counter, model = PassageCounter(adoption), ""
    pages = _page_numbers(one, adoption.report.refused) if one.kind == "documents" else PageNumbers(())
    for note in pages.notes:
        adoption.note(note)
    with opened_copy(one.folder) as chroma:
        added = added_at(chroma.folder, one.collection)
        for batch in batches(chroma.entries(one.collection), _BATCH):
            if adoption.progress.cancelled:
                return
            if not model:
                sample = [(text_of(entry), _bytes(entry)) for entry in batch]
                model, sentence = model_of(passages, sample, named=model_name)
                adoption.note(f"{one.collection.name}: {sentence}" if sentence else "")
            entries = list(_entries(adoption, one.kind, batch, added, pages=pages, model=model))
            if one.kind == "documents":
                entries = [counter.number(entry) for entry in entries]
            adoption.take(passages, entries)
        counter.finish()
        if chroma.fault:
            adoption.note(f"{one.collection.name}: its vectors cannot be read ({chroma.fault})")


def _entries(
    adoption: Adoption,
    kind: str,
    batch: list[ForeignEntry],
    added: dict[str, str],
    *,
    pages: PageNumbers,
    model: str,
) -> Iterator[Entry]:
    for given in batch:
        id = given.id
        try:
            text = text_of(given)
            if kind == "documents":
                entry = document_entry(id, text, given.metadata, pages)
            else:
                owner = _OWNER.get(kind, {}) if adoption.report.system == kind else {}
                metadata = {**owner, **given.metadata}
                entry = ENTRIES[kind](id, text, metadata, added.get(id, ""))
            entry.vector, entry.model = as_vector(_bytes(given)), model
        except ValueError as error:
            adoption.refuse(id, str(error))
        else:
            yield entry


def _page_numbers(one: _TextCollection, refused: list[Refusal]) -> PageNumbers:
    try:
        return PageNumbers(metadata for _, _, metadata in read_entries(one.folder, one.collection))
    except (OSError, sqlite3.Error) as error:
        refused.append(Refusal(one.collection.name, f"its pages cannot be read: {error}"))
        return PageNumbers(())


def _bytes(entry: ForeignEntry) -> bytes | None:
    return None if entry.vector is None else entry.vector.tobytes()


def _collections(path: Path, refused: list[Refusal], *, kind: str) -> Iterator[_TextCollection]:
    """The collections of texts at this path and below it; others are refused, coins left to their system.

    With a `kind`, all that have texts are of it.
    """
    for folder in _folders(path):
        contents = read_contents(folder)
        if contents.fault:
            refused.append(Refusal(_relative(folder, path), f"its Chroma cannot be read: {contents.fault}"))
        for one in contents.collections:
            if MARK in one.metadata or one.name in _COINS:
                continue
            try:
                keys = metadata_keys(folder, one)
                has_texts = one.has_documents or bool(keys & {*_TEXTS})
                known = (kind or kind_of(one.name, keys)) if has_texts else ""
            except (OSError, sqlite3.Error) as error:
                refused.append(Refusal(one.name, f"it cannot be read: {error}"))
                continue
            if known:
                yield _TextCollection(folder, one, known)
            elif one.count:
                fields = ", ".join(sorted(keys)) or "no fields"
                what = (
                    f"a collection of {one.count:,} entries of {one.dimension or 0:,} numbers with {fields}"
                )
                remedy = (
                    f"no kind of memory is known that has these; say which with --as {', --as '.join(TITLES)}"
                )
                refused.append(Refusal(one.name, f"{what}: {remedy if has_texts else 'it has no texts'}"))


def _folders(path: Path) -> Iterator[Path]:
    """The folders of a Chroma at this path, or below it."""
    if path.is_file():
        if path.name == DATABASE:
            yield path.parent
        return
    if (path / DATABASE).is_file():
        yield path
        return
    yield from _below(path, _DEEPEST)


def _below(path: Path, depth: int) -> Iterator[Path]:
    try:
        inner = sorted(one for one in path.iterdir() if one.is_dir() and not one.is_symlink())
    except OSError:
        return
    for one in inner:
        if (one / DATABASE).is_file():
            yield one
        elif depth > 1 and not one.name.startswith("."):
            yield from _below(one, depth - 1)


def _place(one: _TextCollection, path: Path) -> str:
    return f"{_relative(one.folder, path)}: {one.collection.name}"


def _relative(place: Path, path: Path) -> str:
    return place.relative_to(path).as_posix() if place.is_relative_to(path) else place.name
