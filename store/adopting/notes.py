"""Folders of Markdown notes, such as Obsidian's: each is a memory, and a change in an editor comes back."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from store.adopting.chroma_texts import memory_entry
from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, FoundKind
from store.adopting.texts import VERB, Adoption, Entry
from store.disk.files import read_regular
from store.errors import BadSource
from store.importing import encodings
from store.memory.engine.change import MemoryChange
from store.memory.engine.foreign import keep_fields, kept_fields
from store.memory.exporting import notes
from store.memory.memory import Memory
from store.memory.transcripts import markdown
from store.outcome import Refusal
from store.progress import Progress, batches

_ENDINGS = (".md", ".markdown")
_NO_NOTES = {"readme", "license", "changelog", "contributing"}
_LARGEST = 10_000_000  # bytes of a note
_DEEPEST = 8  # folders
_BATCH = 200
_CHANGED_TWICE = "it was changed here as well since it was exported or taken; nothing was overwritten"


class MarkdownNotes:
    """A folder most of whose files are Markdown."""

    name = "notes"
    title = "Markdown notes"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The notes of this folder; None for a file, and for a folder of other files."""
        if not (files := _files(path)):
            return None
        read = [*_notes(path, files)]
        refused = tuple(one for one in read if isinstance(one, Refusal))
        found = FoundKind("memories", len(read) - len(refused), path.name, "one for each note")
        return DataSurvey(self.name, self.title, path, (found,), refused)

    def adopt(
        self, memory: Memory, survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take what is new; of a note that was taken before, what an editor changed is a new version."""
        adoption = Adoption(memory, survey, request, progress)
        passages = memory.kinds["memories"]
        for batch in batches(_notes(survey.path, _files(survey.path)), _BATCH):
            if progress.cancelled:
                return adoption.report
            adoption.report.refused += [one for one in batch if isinstance(one, Refusal)]
            entries = [one for one in batch if isinstance(one, Entry)]
            with passages.change(VERB, actor=adoption.actor, decision=adoption.decision) as change:
                left = [entry for entry in entries if not _has_known(adoption, change, entry)]
            adoption.take(passages, left)
        adoption.embed(passages)
        return adoption.report


def _has_known(adoption: Adoption, change: MemoryChange, entry: Entry) -> bool:
    """Whether this memory is here; if its note alone was changed, the memory is as well."""
    id, new = entry.row["id"], entry.row
    row = change.row("memories", id)
    if row is None:
        return False
    given, here = (notes.hash_of(one["content"], json.loads(one["tags"])) for one in (new, row))
    metadata = kept_fields(change.db, change.kind, [id]).get(id, {})
    if given == here:
        adoption.report.present.append(id)
    elif here not in (entry.metadata.get("from"), metadata.get(notes.HASH)):
        adoption.refuse(id, _CHANGED_TWICE)
    else:
        change.upsert({**row, "content": new["content"], "tags": new["tags"]})
        keep_fields(change, id, {**metadata, **_kept(entry), notes.HASH: given})
        adoption.report.taken.append(id)
    adoption.progress.done += 1
    return True


def _kept(entry: Entry) -> dict[str, object]:
    return {name: value for name, value in entry.metadata.items() if name != "from"}


def _notes(root: Path, files: list[Path]) -> Iterator[Entry | Refusal]:
    for file in files:
        place = file.relative_to(root).as_posix()
        try:
            note = notes.read(encodings.read(read_regular(file, limit=_LARGEST))[0], name=file.stem)
            id = note.id or f"note-{sha256(place.encode()).hexdigest()[:16]}"
            given = {"tags": [*note.tags], "created_at": note.created, **note.more, notes.NOTE: place}
            saved = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds")
            entry = memory_entry(id, note.text, given, saved)
        except (OSError, ValueError, BadSource) as error:
            yield Refusal(place, str(error))
        else:
            said = notes.hash_of(entry.row["content"], json.loads(entry.row["tags"]))
            entry.metadata = {**note.more, notes.NOTE: place, notes.HASH: said}
            if note.hash:
                entry.metadata["from"] = note.hash
            yield entry


def _files(path: Path) -> list[Path]:
    """The notes below a folder, without recorded conversations; none if most files are of other kinds."""
    if not path.is_dir():
        return []
    found, others = list[Path](), 0
    waiting = [(path, 0)]
    while waiting:
        folder, depth = waiting.pop()
        for one in sorted(folder.iterdir()):
            if one.name.startswith(".") or one.is_symlink():
                continue
            if one.is_dir():
                waiting += [(one, depth + 1)] if depth < _DEEPEST else []
            elif one.suffix.lower() in _ENDINGS:
                is_none = one.stem.lower() in _NO_NOTES or markdown.is_known(one)
                found += [] if is_none else [one]
            else:
                others += 1
    return sorted(found) if len(found) > others else []
