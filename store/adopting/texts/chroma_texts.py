"""Texts in a Chroma: agents' memories (reference 2), lore and sessions (reference 4), and world files."""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from store.adopting.report import AdoptionReport
from store.adopting.survey import DataSurvey, FoundKind
from store.adopting.system import AdoptionRequest
from store.adopting.texts.adoption import Adoption, Entry
from store.adopting.texts.chroma_entries import ENTRIES, TITLES, kind_of
from store.adopting.texts.document_entries import PageNumbers, PassageCounter, document_entry
from store.adopting.texts.vector_check import model_of
from store.adopting.texts.world_files import WorldFile, find_worlds, take_worlds
from store.chroma.collections import COLLECTIONS
from store.chroma.contents import DATABASE, MARK, FoundCollection, metadata_keys, read_contents, read_entries
from store.chroma.foreign import ForeignEntry, opened_copy
from store.chroma.origin import added_at, model_named_by
from store.chroma.process import ChromaFailed
from store.errors import CatalogDamaged
from store.memory.engine.foreign_vectors import as_vector
from store.memory.memory import Memory
from store.outcome import Refusal
from store.progress import Progress

_BATCH = 500  # entries of one transaction
_DEEPEST = 3  # folders below the given one
_COINS = frozenset(COLLECTIONS.values())


@dataclass(frozen=True, slots=True)
class _TextCollection:
    """A collection of texts, in one folder, for one kind of memory."""

    folder: Path
    collection: FoundCollection
    kind: str


class ChromaTexts:
    """Folders such as `chroma_db/` and `data/chroma/`, and the worlds beside them."""

    name = "chroma-texts"
    title = "Memories, lore and sessions in a Chroma"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The collections of texts below this path, and files of worlds; None if there are neither."""
        refused: list[Refusal] = []
        collections = list(_collections(path, refused))
        worlds = [one for one in find_worlds(path) if isinstance(one, WorldFile)]
        if not (collections or worlds):
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
        report = AdoptionReport(system=self.name, source=str(survey.path))
        adoption = Adoption(memory, survey.path, report, actor=request.actor, progress=progress)
        progress.total = survey.count
        kinds = set()
        for one in _collections(survey.path, report.refused):
            if progress.cancelled:
                return report
            try:
                _take_collection(adoption, one, named=request.vectors)
            except (OSError, ChromaFailed, CatalogDamaged) as error:
                adoption.refuse(one.collection.name, f"it was not taken: {error}")
            kinds.add(one.kind)
        if not progress.cancelled and take_worlds(adoption, survey.path):
            kinds.add("world_lore")
        for kind in sorted(kinds):
            adoption.embed(memory.passages[kind])
        return report


def _take_collection(adoption: Adoption, one: _TextCollection, *, named: str) -> None:
    passages = adoption.memory.passages[one.kind]
    adoption.progress.what = f"reading {one.collection.name}"
    model_name = named or model_named_by(one.folder, one.collection)
    counter, model = PassageCounter(adoption), ""
    pages = _page_numbers(one, adoption.report.refused) if one.kind == "documents" else PageNumbers(())
    for note in pages.notes:
        adoption.note(note)
    with opened_copy(one.folder) as chroma:
        added = added_at(chroma.folder, one.collection)
        for batch in _batches(chroma.entries(one.collection), _BATCH):
            if adoption.progress.cancelled:
                return
            if not model:
                sample = [(entry.document or "", _bytes(entry)) for entry in batch]
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
            text = given.document or ""
            if kind == "documents":
                entry = document_entry(id, text, given.metadata, pages)
            else:
                entry = ENTRIES[kind](id, text, given.metadata, added.get(id, ""))
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


def _batches(items: Iterable[ForeignEntry], size: int) -> Iterator[list[ForeignEntry]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def _collections(path: Path, refused: list[Refusal]) -> Iterator[_TextCollection]:
    """The collections of texts at this path and below it; others are refused, coins left to their system."""
    for folder in _folders(path):
        contents = read_contents(folder)
        if contents.fault:
            refused.append(Refusal(_relative(folder, path), f"its Chroma cannot be read: {contents.fault}"))
        for one in contents.collections:
            if MARK in one.metadata or one.name in _COINS:
                continue
            try:
                kind = kind_of(one.name, metadata_keys(folder, one)) if one.has_documents else ""
            except (OSError, sqlite3.Error) as error:
                refused.append(Refusal(one.name, f"it cannot be read: {error}"))
                continue
            if kind:
                yield _TextCollection(folder, one, kind)
            elif one.count:
                reason = (
                    "no kind of memory is known that has such entries"
                    if one.has_documents
                    else ("it has vectors and no texts")
                )
                refused.append(Refusal(one.name, reason))


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
