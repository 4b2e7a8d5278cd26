"""The one store of embedded text that all kinds of memory stand on.

Each kind is a SQLite file of its own (`database.py`): deleting a session for good rewrites a small file,
bringing an old transcript database up to date touches no other, and a damaged file costs one kind.

Where the truth of each kind is:

    memories         SQLite
    documents        SQLite (passages may be edited), made from the originals kept in memory/originals/
    world lore       memory/worlds/*.yaml for base lore, loaded on opening; SQLite for what `add_lore` added
    session memory   SQLite, and nowhere else
    transcripts      SQLite, as imported

Vectors lie beside their text, each with the name of its model. One transaction is the write path: texts,
vectors, full-text rows, history and the line in `changes` that Chroma follows are decided by one commit.
Everything that can fail (reading, splitting, embedding) comes before it. Chroma and the resident vectors are
derived, and get nothing but vectors, ids and the columns to filter by.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.chosen_model import ChosenModel
from store.embedding import Embedder, open_embedder
from store.errors import ModelUnavailable
from store.files import Disk
from store.memory import switching, undoing
from store.memory.change import Change
from store.memory.database import Database
from store.memory.entries import Entries, Row
from store.memory.errors import InvalidInput, UnknownEntry
from store.memory.inputs import checked_text
from store.memory.kind import Kind
from store.memory.places import Places
from store.memory.questions import Questions
from store.memory.resident import Found, Resident, Where
from store.memory.settings import LOCAL, memory_settings
from store.outcome import Outcome
from store.people import myself
from store.progress import Progress

_BATCH = 64  # texts given to the model at once


class Passages(Entries):
    """The entries of one kind: written, listed, searched exactly, undone."""

    # What a viewer may call (store/desk.py); that a question was asked is counted for them as well.
    READING = frozenset(
        {
            "embed", "to_embed", "get", "rows", "find", "count", "counts", "written", "vector", "history",
            "decisions", "question", "nearest", "search", "resident", "last_decision",
        }
    )  # fmt: skip

    def __init__(
        self,
        root: Path,
        kind: Kind,
        *,
        embedder: Embedder | None = None,
        models: Callable[[str], Embedder] = open_embedder,
        disk: Disk | None = None,
        clock: Callable[[], float] = time.time,
        writable: bool = True,
        changed: Callable[[], None] = lambda: None,
        latest: Callable[[], int] | None = None,
    ) -> None:
        path = Places(root).database(kind.file)
        super().__init__(kind, Database(path, kind, disk=disk or Disk(), writable=writable))
        self.can_write = writable
        self.clock = clock
        self._model = ChosenModel(self.database, embedder, models=models)
        self.questions = Questions(self.database, clock, writable=writable)
        self._resident: Resident | None = None
        self._latest = latest or self.latest_decision  # of all kinds, so that their order needs no clock
        self.changed = changed  # called after every change: Chroma has something to follow
        if writable:
            self._choose_model(embedder)

    # -- the model ----------------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The embedding model of this kind, by name."""
        return self._model.name

    def _choose_model(self, given: Embedder | None) -> None:
        """The configured one for a new kind, and for one with nothing in it that has another by default."""
        configured = memory_settings().embedder_of(self.kind.name)
        if not self.model:
            self.database.set_meta("model", given.name if given else configured)
        elif given is None and configured not in (LOCAL, self.model) and not self.count():
            self.database.set_meta("model", configured)

    @property
    def embedder(self) -> Embedder:
        """The model itself; its weights are loaded when it is first used."""
        return self._model.embedder

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """The float32 bytes of each text's vector; a text longer than the model reads goes in windows."""
        embedder = self.embedder
        vectors: list[bytes] = []
        for start in range(0, len(texts), _BATCH):
            rows = np.ascontiguousarray(embedder.embed_texts(texts[start : start + _BATCH]), dtype=np.float32)
            if not np.isfinite(rows).all():
                raise ModelUnavailable(f"{embedder.name} answered with numbers that are none")
            vectors += [row.tobytes() for row in rows]
        return vectors

    def to_embed(self) -> int:
        """How many entries have no vector of this kind's model yet."""
        with self.database.reading() as db:
            row = db.execute(
                f"SELECT count(*) FROM {self.kind.table} WHERE vector IS NULL OR embedding_model IS NOT ?",
                [self.model],
            ).fetchone()
        return int(row[0])

    def embed_all(self, embedder: Embedder | None = None, *, progress: Progress | None = None) -> bool:
        """Embed what lacks a vector of this model, then make it this kind's; False when cancelled.

        New vectors wait beside the old ones until all are there, so a crash loses neither.
        """
        embedder = embedder or self.embedder
        done = switching.embed_all(self, embedder, progress=progress or Progress())
        if done:
            self._model.use(embedder)
            self.changed()
        return done

    # -- writing ------------------------------------------------------------------------------------------

    @contextmanager
    def change(self, verb: str, *, who: str = "") -> Iterator[Change]:
        """One decision and one transaction; with nothing put or removed there is no trace of it."""
        with self.database.writing() as db:
            change = Change(db, self.kind, verb, who=who or myself(), at=self.clock(), after=self._latest())
            yield change
            change.finish()
        self.changed()

    def put(self, rows: Iterable[Row], *, verb: str, who: str = "") -> None:
        """Add or replace entries, each embedded by this kind's model, in one decision."""
        given = list(rows)
        model = self.model
        vectors = self.embed([row[self.kind.text] for row in given])
        with self.change(verb, who=who) as change:
            for row, vector in zip(given, vectors, strict=True):
                change.put({**row, "vector": vector, "embedding_model": model})

    def edit(self, id: str, /, *, who: str = "", **columns: Any) -> None:
        """Change columns of one entry; a new text is embedded first. UnknownEntry, InvalidInput."""
        fixed = {"id", "vector", "embedding_model", self.kind.scope}
        if not columns.keys() <= set(self.get(id)) - fixed:
            raise InvalidInput(f"{', '.join(sorted(columns))}: not all of these can be edited")
        if self.kind.text in columns:
            text = checked_text(columns[self.kind.text], what="the text")
            columns |= {"vector": self.embed([text])[0], "embedding_model": self.model}
        with self.change("edit", who=who) as change:
            row = change.row(self.kind.table, id)
            if row is None:
                raise UnknownEntry(f"{id} was removed in the meantime")
            change.put({**row, **columns})

    def remove(self, ids: Iterable[str], *, who: str = "") -> int:
        """Remove entries, to be taken back by undo; how many there were."""
        with self.change("remove", who=who) as change:
            for id in ids:
                change.remove(id)
            return change.count

    def undo(self, *, who: str = "") -> Outcome:
        """Take back one's own last decision; NothingToUndo when there is none."""
        return self._reverse("undo", who)

    def redo(self, *, who: str = "") -> Outcome:
        """Do again what was undone last, unless something new was decided since."""
        return self._reverse("redo", who)

    def _reverse(self, verb: str, who: str) -> Outcome:
        with self.change(verb, who=who) as change:
            return undoing.reverse(change, verb, who or myself())

    # -- search -------------------------------------------------------------------------------------------

    def question(self, text: str) -> NDArray[np.float32]:
        """The vector of a question."""
        return np.asarray(self.embedder.embed_texts([text])[0], dtype=np.float32)

    def nearest(
        self, vector: NDArray[np.float32], *, n: int, where: Where | None = None, floor: float | None = None
    ) -> list[Found]:
        """The n entries with the highest cosine, exactly; below `floor` none. Best first, ties by id."""
        return self.resident().nearest(vector, n=n, where=where or {}, floor=floor)

    def search(
        self, text: str, *, n: int, where: Where | None = None, floor: float | None = None
    ) -> list[tuple[Row, float]]:
        """The entries nearest in meaning with their cosines, best first."""
        found = self.nearest(self.question(text), n=n, where=where, floor=floor)
        scores = {hit.id: hit.score for hit in found}
        rows = self.rows([hit.id for hit in found])
        return [(row, scores[row["id"]]) for row in rows]

    def resident(self) -> Resident:
        """The vectors in memory, as the file has them now."""
        if self._resident is None or self._resident.model != self.model:
            self._resident = Resident(self.kind, model=self.model)
        with self.database.reading() as db:
            self._resident.refresh(db)
        return self._resident

    # -- for good -----------------------------------------------------------------------------------------

    def forget(self, column: str, value: str, *, who: str = "") -> int:
        """Remove entries without a trace: texts, vectors, full-text rows, history, counts of questions.

        It cannot be undone. `finish_forgetting` must follow, and does on the next opening after a crash.
        """
        with self.database.writing() as db:
            count = undoing.forget(db, self.kind, column, value, who=who or myself(), at=self.clock())
        self._resident = None
        return count

    def finish_forgetting(self, purge: Callable[[], None]) -> None:
        """Write the file anew and let `purge` clean what was derived from it; nothing if there is no need."""
        if self.database.meta("forgetting"):
            self.database.rewrite()
            purge()
            self.database.set_meta("forgetting", "")

    def close(self) -> None:
        self.database.close()
