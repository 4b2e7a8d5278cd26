"""Export kinds of memory to a place: a Chroma, a table of passages, or a transcript database."""

import csv
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex

import numpy as np

from store.chroma.foreign import CollectionWriter, Texts, WriterProcess
from store.chroma.process import ChromaFailed
from store.errors import BadSource, NotWritten
from store.memory.engine.errors import InvalidInput
from store.memory.exporting import notes
from store.memory.exporting.entries import ExportEntry, batches, metadata_of
from store.memory.opened import OpenedMemory
from store.memory.transcripts.tables import TABLES
from store.outcome import Outcome, Refusal

IN_CHROMA = ("memories", "world_lore", "session_memory")
MEMORIES, DOCUMENTS, TRANSCRIPTS = "memories", "documents", "transcript_vectors"
NOTES = "notes"  # the form
_LINES = (".jsonl", ".ndjson")


def export(
    memory: OpenedMemory, path: Path, *, kinds: Sequence[str], model: str = "", form: str = ""
) -> Outcome:
    """Write these kinds in the layout of their reference; the result is there whole, or not at all.

    Memories, lore and sessions go into a new Chroma folder, documents into a .csv or .jsonl file, transcripts
    into a new SQLite file; with the form "notes" memories become a folder of Markdown notes. `model` chooses
    whose vectors; an entry without one is refused for a Chroma.
    Raises InvalidInput for kinds that do not go together, BadSource if there is something at the path.
    """
    if path.exists():
        raise BadSource(f"there is something at {path} already; an export needs a new place")
    outcome = Outcome()
    with _staged(path) as staged:
        if form == NOTES and [*kinds] == [MEMORIES]:
            _to_notes(memory, staged, outcome)
        elif form:
            raise InvalidInput(f"only {MEMORIES} are exported as {NOTES}, and there is no other form")
        elif set(kinds) <= set(IN_CHROMA) and kinds:
            _to_chroma(memory, staged, kinds, model, outcome)
        elif [*kinds] == [DOCUMENTS]:
            _to_table(memory, staged, path.suffix.lower(), model, outcome)
        elif [*kinds] == [TRANSCRIPTS]:
            _to_database(memory, staged, outcome)
        else:
            raise InvalidInput(f"{', '.join(kinds)} do not go into one export")
    return outcome


@contextmanager
def _staged(path: Path) -> Iterator[Path]:
    """A place next to the path that is renamed to it at the end."""
    staged = path.with_name(f".{path.name}.{token_hex(4)}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield staged
        os.replace(staged, path)  # noqa: PTH105
    except (OSError, sqlite3.Error, ChromaFailed) as error:
        raise NotWritten(f"nothing was exported to {path}: {error}") from error
    finally:
        if staged.is_dir():
            shutil.rmtree(staged, ignore_errors=True)
        staged.unlink(missing_ok=True)


def _to_chroma(
    memory: OpenedMemory, staged: Path, kinds: Sequence[str], model: str, outcome: Outcome
) -> None:
    chroma = WriterProcess(CollectionWriter, staged)
    try:
        for kind in kinds:
            text = memory.kinds[kind].kind.text
            for batch in batches(memory.kinds[kind], model=model):
                whole = [entry for entry in batch if entry.vector is not None]
                chroma.add(kind, _texts(kind, text, whole))
                outcome.done += [entry.row["id"] for entry in whole]
                outcome.refused += [
                    Refusal(entry.row["id"], "it has no vector of this model, which a Chroma needs")
                    for entry in batch
                    if entry.vector is None
                ]
    finally:
        chroma.close()


def _texts(kind: str, text: str, whole: Sequence[ExportEntry]) -> Texts:
    return Texts(
        ids=[entry.row["id"] for entry in whole],
        documents=[entry.row[text] for entry in whole],
        metadata=[metadata_of(kind, entry) for entry in whole],
        vectors=[entry.vector or b"" for entry in whole],
    )


def _to_notes(memory: OpenedMemory, staged: Path, outcome: Outcome) -> None:
    for batch in batches(memory.kinds[MEMORIES]):
        for entry in batch:
            place = staged / notes.place(entry.row, entry.metadata)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(notes.written(entry.row, entry.metadata), encoding="utf-8", newline="")
            outcome.done.append(entry.row["id"])
    staged.mkdir(exist_ok=True)


def _to_table(memory: OpenedMemory, staged: Path, suffix: str, model: str, outcome: Outcome) -> None:
    with staged.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if suffix not in _LINES:
            writer.writerow(("id", "content", "embedding", "metadata"))
        for batch in batches(memory.kinds[DOCUMENTS], model=model):
            for entry in batch:
                numbers = _numbers(entry.vector)
                metadata = metadata_of(DOCUMENTS, entry)
                if suffix in _LINES:
                    row = {"id": entry.row["id"], "content": entry.row["content"], "embedding": numbers}
                    file.write(json.dumps({**row, "metadata": metadata}, ensure_ascii=False) + "\n")
                else:
                    vector = json.dumps(numbers, separators=(",", ":")) if numbers else ""
                    cells = (entry.row["id"], entry.row["content"], vector)
                    writer.writerow((*cells, json.dumps(metadata, ensure_ascii=False)))
                outcome.done.append(entry.row["id"])


def _to_database(memory: OpenedMemory, staged: Path, outcome: Outcome) -> None:
    entries = memory.kinds[TRANSCRIPTS]
    with closing(sqlite3.connect(staged)) as db:
        db.executescript(TABLES)
        for table in ("transcripts", "transcript_vectors", "events"):
            for batch in batches(entries, table=table):
                for entry in batch:
                    row = dict(entry.row)
                    if model := row.get("embedding_model"):
                        row["embedding_model"] = model.removeprefix("litellm:")
                    db.execute(
                        f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                        [*row.values()],
                    )
                if table == "transcripts":
                    outcome.done += [entry.row["id"] for entry in batch]
        db.commit()


def _numbers(vector: bytes | None) -> list[float] | None:
    """The numbers in as few digits as give the same float32 again."""
    return None if vector is None else [float(str(one)) for one in np.frombuffer(vector, "<f4")]
