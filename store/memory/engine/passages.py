"""The store of embedded text under all kinds of memory.

Each kind is a SQLite file of its own (`database.py`): deleting a session for good rewrites a small file,
upgrading an old transcript database touches no other, and a damaged file costs one kind.

The source of truth of each kind:

    memories         SQLite
    documents        SQLite (passages may be edited), made from the originals in memory/originals/
    world lore       memory/worlds/*.yaml for base lore, loaded on opening; SQLite for what `add_lore` added
    session memory   SQLite only
    transcripts      SQLite, as imported

Vectors are stored with their text, each with the name of its model. One transaction is the write path: one
commit decides texts, vectors, full-text rows, history and the line in `changes` that Chroma follows.
Everything that can fail (reading, splitting, embedding) comes before it. Chroma and the resident vectors are
derived, and only have vectors, ids and the columns to filter by.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any, Self

from store.catalog import snapshots
from store.catalog.history import FORGET_VECTORS, MOVE_ASIDE, PROGRAM
from store.disk.aside import Aside
from store.disk.files import Disk
from store.embedding import open_embedder
from store.embedding.active_model import ActiveModel
from store.embedding.embedding_cache import ModelVectors
from store.embedding.protocol import Embedder
from store.errors import NotPermitted
from store.memory.engine import salvage, vector_cache
from store.memory.engine import undo as engine_undo
from store.memory.engine.change import MemoryChange
from store.memory.engine.commits import deciding
from store.memory.engine.damaged_rows import restore
from store.memory.engine.database import Database
from store.memory.engine.entries import Row
from store.memory.engine.errors import InvalidInput, UnknownEntry, changed_meanwhile
from store.memory.engine.inputs import LONGEST, checked_text
from store.memory.engine.kind import MemoryKind
from store.memory.engine.listing import FORGET
from store.memory.engine.places import Places
from store.memory.engine.questions import Questions
from store.memory.engine.resident import ResidentPassages
from store.memory.engine.retrievals import Retrievals
from store.memory.engine.search import SearchableEntries
from store.memory.engine.settings import LOCAL, memory_settings
from store.outcome import Outcome
from store.permissions import Actor
from store.writing.salvage import DAMAGED

ERASING = "forgetting"  # in `meta`: something was deleted for good, and files may still have copies of it


class Passages(SearchableEntries):
    """The entries of one kind: write, list, search and undo."""

    def __init__(
        self,
        root: Path,
        kind: MemoryKind,
        *,
        embedder: Embedder | None = None,
        models: Callable[[str], Embedder] = open_embedder,
        disk: Disk | None = None,
        clock: Callable[[], float] = time.time,
        writable: bool = True,
        changed: Callable[[], None] = lambda: None,
        latest: Callable[[], int] | None = None,
        finish_erasing: Callable[["Passages"], None] = lambda passages: None,
        fault: str = "",
    ) -> None:
        path = Places(root).database(kind.file)
        if writable:
            salvage.restore_if_lost(path, kind)
        database = Database(path, kind, disk=disk or Disk(), writable=writable, fault=fault)
        super().__init__(kind, database)
        self.clock = clock
        self._model = ActiveModel(self.database, embedder, models=models)
        self.questions = Questions(self.database, clock, writable=writable)
        self._retrievals = Retrievals(
            Places(root).retrievals,
            kind=kind.name,
            detail=memory_settings().retrieval_log,
            days=memory_settings().keep_contexts,
        )
        self._residents: dict[
            str, ResidentPassages
        ] = {}  # one at most, by its model; the same for every actor
        self._latest = latest or self.latest_decision  # of all kinds, so that their order needs no clock
        self._finish_erasing = finish_erasing  # leaves nothing of what was deleted for good in any file
        self.changed = changed  # called after every change: Chroma has something to follow
        if writable:
            self._choose_model(embedder)

    def for_actor(self, actor: Actor) -> Self:
        """The same entries with this person's permissions; the vectors in memory and the model are shared."""
        used = copy(self)
        used.database = self.database.for_actor(actor)
        used.questions = self.questions.for_actor(actor)
        return used

    # -- the model ----------------------------------------------------------------------------------------

    def _choose_model(self, given: Embedder | None) -> None:
        """The configured model for a new kind, and for an empty one that has another by default."""
        configured = memory_settings().embedder_of(self.kind.name)
        if not self.model:
            self.database.set_meta("model", given.name if given else configured)
        elif given is None and configured not in (LOCAL, self.model) and not self.count():
            self.database.set_meta("model", configured)

    def use(self, embedder: Embedder) -> None:
        """Search with this model, of which all entries have a vector now (`reembedding.py`)."""
        self.database.check_writable()
        self._model.use(embedder)
        self.changed()

    def delete_vectors(self, model: str, *, actor: str = "") -> ModelVectors | None:
        """Delete every vector of a model that is not in use; returns how many, None if there were none.

        They are gone from every file, the history included; texts stay. Cannot be undone; the history says
        who did it and when. Raises InvalidInput for the model in use.
        """
        self.refuse_agents("delete vectors")
        found = next((one for one in self.vectors_by_model() if one.model == model), None)
        if found and found.is_in_use:
            raise InvalidInput(f"{model} is the model of {self.kind.name}; choose another one for it first")
        if found:
            note = {"vectors": found.count, "bytes": found.size}
            with self._deciding() as db:
                vector_cache.delete(db, self.kind, model)
                change = self._decision(db, FORGET_VECTORS, actor)
                change.record_final("vectors", model, note, count=found.count)
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", [ERASING])
            self._residents.clear()
            self.finish_erasing()
            self.changed()
        return found

    # -- writing ------------------------------------------------------------------------------------------

    @contextmanager
    def change(self, verb: str, *, actor: str = "", number: int | None = None) -> Iterator[MemoryChange]:
        """One decision in one transaction; leaves no trace if nothing is written or removed.

        With `number` the transaction is a part of that decision, which may have others, in other kinds too.
        """
        with self._deciding() as db:
            change = self._decision(db, verb, actor, number=number)
            yield change
            change.finish()
        self.changed()

    @contextmanager
    def _deciding(self) -> Iterator[sqlite3.Connection]:
        """A transaction that gets a number among the decisions of all kinds and processes."""
        self.database.check_writable()
        with deciding(self.database.path.parent), self.database.writing() as db:
            yield db

    def _decision(
        self, db: sqlite3.Connection, verb: str, actor: str, *, number: int | None = None
    ) -> MemoryChange:
        by = self.actor
        return MemoryChange(
            db, self.kind, verb, actor=actor or by.name, at=self.clock(), after=self._latest(),
            number=number, via=by.via, agent=by.agent, waits=by.is_reviewed,
        )  # fmt: skip

    def upsert(self, rows: Iterable[Row], *, verb: str, actor: str = "") -> None:
        """Add or replace entries as one decision, each embedded by this kind's model."""
        given = list(rows)
        vectors, model = self.embed([row[self.kind.text] for row in given])
        with self.change(verb, actor=actor) as change:
            for row, vector in zip(given, vectors, strict=True):
                change.upsert({**row, "vector": vector, "embedding_model": model})

    def edit(self, id: str, /, *, was: str | None = None, actor: str = "", **columns: Any) -> None:
        """Change columns of one entry; a new text is embedded first. Raises UnknownEntry or InvalidInput.

        `was` is the text that the change was made from: if it is another by now, nothing is changed.
        """
        fixed = {"id", "vector", "embedding_model", self.kind.scope}
        if not columns.keys() <= set(self.get(id)) - fixed:
            raise InvalidInput(f"{', '.join(sorted(columns))}: not all of these can be edited")
        if self.kind.text in columns:
            text = checked_text(columns[self.kind.text], what="the text", most=LONGEST)
            (vector,), model = self.embed([text])
            columns |= {"vector": vector, "embedding_model": model}
        with self.change("edit", actor=actor) as change:
            row = change.row(self.kind.table, id)
            if row is None:
                raise UnknownEntry(f"{id} was removed in the meantime")
            if was not in (None, row[self.kind.text]):
                raise changed_meanwhile(id)
            change.upsert({**row, **columns})

    def remove(self, ids: Iterable[str], *, actor: str = "") -> int:
        """Remove entries; undo restores them. Returns how many there were."""
        with self.change("remove", actor=actor) as change:
            for id in ids:
                change.remove(id)
            return change.count

    def undo(self, *, actor: str = "", number: int = 0, part_of: int | None = None) -> Outcome:
        """Undo the person's own last decision, or the one of this number.

        `part_of` is the number of this undo itself, which may have parts in other kinds. Raises NothingToUndo
        if there is none to undo.
        """
        return self._reverse("undo", actor, number=number, part_of=part_of)

    def is_standing(self, number: int) -> bool:
        """Whether there is a decision of this number here that was not undone."""
        with self.database.reading() as db:
            query = "SELECT 1 FROM decisions WHERE number = ? AND NOT reversed"
            return db.execute(query, [number]).fetchone() is not None

    def redo(self, *, actor: str = "", part_of: int | None = None) -> Outcome:
        """Redo the last undo, unless the person decided something since; `part_of` as in `undo`."""
        return self._reverse("redo", actor, part_of=part_of)

    def _reverse(self, verb: str, actor: str, *, number: int = 0, part_of: int | None) -> Outcome:
        self.refuse_agents(verb)
        with self.change(verb, actor=actor, number=part_of) as change:
            return engine_undo.reverse(change, verb, actor or self.actor.name, number=number)

    def refuse_agents(self, verb: str) -> None:
        """Raises NotPermitted to an agent whose changes wait for a person, ReadOnly to a viewer."""
        self.actor.permit()
        if self.actor.is_reviewed:
            raise NotPermitted(f"what agents write is reviewed here; a person has to {verb}")

    # -- for good -----------------------------------------------------------------------------------------

    def erase(self, column: str, value: str, *, actor: str = "") -> int:
        """Delete entries for good: texts, vectors, full-text rows, history, counts of questions.

        Cannot be undone. Call `finish_erasing` afterwards; after a crash the next opening does. Raises
        UnknownEntry if there is nothing of it.
        """
        self.refuse_agents("delete for good")
        with self._deciding() as db:
            count = engine_undo.erase(self._decision(db, FORGET, actor), column, value)
        self._residents.clear()
        return count

    def finish_erasing(self) -> None:
        """Leave nothing of what `erase` deleted in any file, whichever process keeps them."""
        self._finish_erasing(self)

    def erase_traces(self, purge: Callable[[], None]) -> None:
        """Rewrite the file, and let `purge` clean what was derived from it, if there is need.

        Only for the process that keeps the memory.
        """
        if self.database.meta(ERASING):
            restore(self.database, self.kind)  # copies are replaced below
            self.database.rewrite()
            snapshots.renew(self.database.path)
            for old in self.database.path.parent.glob(f"{self.database.path.name}.{DAMAGED}*"):
                old.unlink()  # a new file was made of it
            with self.database.reading() as db:
                ids = {row[0] for row in db.execute(f"SELECT id FROM {self.kind.table}")}
            scopes = {"", *(self.counts() if self.kind.scope else ())}
            self._retrievals.keep_only(ids, scopes=scopes)
            purge()
            self.database.set_meta(ERASING, "")

    def record_aside(self, aside: Aside, *, root: Path) -> None:
        """Record in the history that another program's file was moved aside; it cannot be undone."""
        place = aside.place.relative_to(root).as_posix()
        if not self.history(id=place, limit=1):
            with self._deciding() as db:
                note = {"what": aside.what}
                self._decision(db, MOVE_ASIDE, PROGRAM).record_final("files", place, note)

    def close(self) -> None:
        """Close the database."""
        self._retrievals.close()
        self.database.close()
