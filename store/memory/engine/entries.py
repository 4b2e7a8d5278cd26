"""The store of embedded text under all kinds of memory.

All kinds are in one SQLite file (`database.py`), so that one transaction can change several, and one undo can
take it back. Deleting a session for good makes its kind's tables again, not those of others (`erasing.py`).

The source of truth of each kind:

    memories         SQLite
    documents        SQLite (passages may be edited), made from the originals in memory/originals/
    world lore       memory/worlds/*.yaml for base lore, loaded on opening; SQLite for what `add_lore` added
    session memory   SQLite only
    transcripts      SQLite, as imported

Vectors are stored by model and text (`kind.py`). One transaction is the write path: one
commit decides texts, vectors, full-text rows, history and the line in `changes` that Chroma follows.
Everything that can fail (reading, splitting, embedding) comes before it. Chroma and the resident vectors are
derived, and only have vectors, ids and the columns to filter by.
"""

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, cast
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from store.catalog.history import FORGET_VECTORS
from store.embedding import embedding_cache, open_embedder
from store.embedding.active_model import ActiveModel, not_read
from store.embedding.embedding_cache import ModelVectors
from store.embedding.protocol import OFFLINE_TEXT, Embedder, Vector
from store.errors import ModelUnavailable, NotPermitted, NotWritten
from store.memory.engine.change import (
    EntryVersion,
    MemoryChange,
    PendingEntry,
    refuse_agents,
    versions,
    written,
)
from store.memory.engine.database import ERASING, Database
from store.memory.engine.inputs import (
    LONGEST,
    InvalidInput,
    UnknownEntry,
    changed_meanwhile,
    check_known,
    checked_text,
    offered,
)
from store.memory.engine.kind import (
    DEFAULT,
    GIVEN,
    LOCAL,
    MEASURED,
    NEXT_MODEL,
    TEXT,
    EntryScores,
    MemoryKind,
    NewVectors,
    ResidentEntries,
    Row,
    Where,
    source,
)
from store.memory.engine.retrievals import Retrievals
from store.permissions import Actor
from store.settings import settings
from store.vectors.matrices import VectorSnapshot

log = logging.getLogger(__name__)

_OWN = ("number", "rowid_")  # columns of a row that are none of its entry
_COMPARED = 2_000  # ids that are compared with one that does not exist
AskedVectors = Callable[[Embedder, str], Vector]


def asked_vectors(count: int) -> AskedVectors:
    """Embeds questions, and keeps the vectors of the last ones; thread-safe."""
    kept = lru_cache(count)(lambda model, text: np.asarray(model.embed_texts([text])[0], dtype=np.float32))
    return cast(AskedVectors, kept)


class Entries:
    """The entries of one kind: rows, counts, history, vectors, and their changes."""

    def __init__(
        self,
        kind: MemoryKind,
        database: Database,
        retrievals: Path,
        *,
        embedder: Embedder | None = None,
        models: Callable[[str], Embedder] = open_embedder,
        clock: Callable[[], float] = time.time,
        writable: bool = True,
        asked: AskedVectors | None = None,
        finish_erasing: Callable[["Entries"], None] = lambda entries: None,
    ) -> None:
        """`database` is the kind's view of the file; kinds that share `asked` embed a question once."""
        self.kind = kind
        self.database = database
        self.clock = clock
        self._model = ActiveModel(self.database, embedder, models=models)
        self._asked = asked or asked_vectors(1)
        self._counted = database if writable else None  # where viewers' questions count as well
        self._retrievals = Retrievals(
            retrievals,
            kind=kind.name,
            detail=settings().retrieval_log,
            days=settings().keep_contexts,
        )
        self._resident = ResidentEntries(kind)  # the same for every actor
        self._finish_erasing = finish_erasing  # leaves nothing of what was deleted for good in any file
        if writable:
            self._choose_model(embedder)

    def for_actor(self, actor: Actor) -> Self:
        """The same entries with this person's permissions; the vectors in memory and the model are shared."""
        used = copy(self)
        used.database = self.database.for_actor(actor)
        return used

    # -- rows ---------------------------------------------------------------------------------------------

    @property
    def actor(self) -> Actor:
        """The person who reads and changes them here."""
        return self.database.actor

    @property
    def can_write(self) -> bool:
        """Whether this kind is open for writing, and this actor may change it."""
        return self.database.can_write

    @property
    def fault(self) -> str:
        """Why this kind's file cannot be used, with the remedy; "" if it can. It then reads as empty."""
        return self.database.fault

    def get(self, id: str) -> Row:
        """One entry, all columns but its vector. Raises UnknownEntry, with the nearest ids."""
        found = self.rows([id])
        if not found:
            raise self.unknown(id)
        return found[0]

    def unknown(self, id: str) -> UnknownEntry:
        """The error for an id that no entry has, with the nearest ids."""
        known = [row["id"] for row in self.find(limit=_COMPARED)]
        return UnknownEntry(f"there is no entry {id!r} in {self.kind.name}{offered(id, known)}")

    def rows(self, ids: Sequence[str]) -> list[Row]:
        """The entries with these ids, in this order; missing ones are left out."""
        with self.database.reading() as db:
            return self._rows(db, "id", ids)

    def find(
        self,
        *,
        words: str = "",
        where: Where | None = None,
        before: float | None = None,
        order: str = "",
        offset: int = 0,
        limit: int | None = 100,
    ) -> list[Row]:
        """A page of the entries with all the words that pass; `before`: unchanged since then."""
        passing, values = self.kind.conditions(words, where, before)
        with self.database.reading() as db:
            columns = [row["name"] for row in db.execute(f"PRAGMA table_info({self.kind.table})")]
            chosen = db.execute(  # numbers alone: sorting whole rows would move every text
                f"SELECT rowid FROM {self.kind.table} WHERE {passing} "
                f"ORDER BY {self.kind.ordered(order, columns=columns)} LIMIT ? OFFSET ?",
                [*values, -1 if limit is None else limit, offset],
            ).fetchall()
            return self._rows(db, "rowid_", [row[0] for row in chosen])

    def _rows(self, db: sqlite3.Connection, key: str, values: Sequence[Any]) -> list[Row]:
        """The entries with these values of the key, in this order, each with the model of its vector."""
        source = self.kind.with_any_vector("embedding_model")
        found = db.execute(f"SELECT * FROM {source} WHERE {key} IN {GIVEN}", [json.dumps(values)])
        by_key = {row[key]: {name: row[name] for name in row.keys() if name not in _OWN} for row in found}  # noqa: SIM118
        return [by_key[one] for one in dict.fromkeys(values) if one in by_key]

    def count(self, *, words: str = "", where: Where | None = None, before: float | None = None) -> int:
        """How many entries match, at a moment in the past if `before` (UNIX seconds) is given."""
        passing, values = self.kind.conditions(words, where, before)
        query = f"SELECT count(*) FROM {self.kind.table} WHERE {passing}"
        return int(self.database.row(query, values)[0])

    def written(self, ids: Sequence[str]) -> dict[str, float]:
        """When each entry was written or last edited (UNIX seconds)."""
        with self.database.reading() as db:
            return written(db, self.kind, ids)

    def counts(self, column: str = "") -> dict[str, int]:
        """How many entries each world, session or protocol has, or each value of another filter column."""
        column = column or self.kind.scope
        if column not in (*self.kind.filters, *self.kind.more_filters, self.kind.scope):
            raise InvalidInput(f"{self.kind.name} is not filtered by {column}")
        found = self.database.rows(
            f"SELECT {column}, count(*) FROM {self.kind.table} WHERE {column} IS NOT NULL "
            f"GROUP BY {column} ORDER BY {column}"
        )
        return {str(row[0]): row[1] for row in found}

    def scopes(self) -> list[str]:
        """Every world, session or protocol, also an empty world; none for kinds without them."""
        self.actor.check_login()
        named = [row[0] for row in self.database.rows(self.kind.scopes)] if self.kind.scopes else []
        return sorted({*named, *(self.counts() if self.kind.scope else ())})

    def within(self, scope: str) -> dict[str, str]:
        """The filter for one world, session or protocol, none for "". Raises UnknownEntry."""
        if not scope:
            return {}
        if not (column := self.kind.scope):
            raise InvalidInput(f"{self.kind.name} belong to no world, session or protocol")
        check_known(scope, self.scopes(), what=column.removesuffix("_id"))
        return {column: scope}

    def count_question(self, scope: str) -> None:
        """Count a question about a scope, and nothing of it; a full disk must not prevent an answer."""
        self.actor.check_login()
        if self._counted:
            with suppress(NotWritten), self._counted.recording() as db:
                db.execute(
                    "INSERT INTO queried VALUES (?, ?, 1, ?) "
                    "ON CONFLICT (kind, scope) DO UPDATE SET times = times + 1, last = excluded.last",
                    [self.kind.name, scope, self.clock()],
                )

    def asked(self) -> dict[str, tuple[int, float]]:
        """How often each world, session or protocol was asked about, and when last (UNIX seconds)."""
        rows = self.database.rows("SELECT * FROM queried WHERE kind = ?", [self.kind.name])
        return {row["scope"]: (row["times"], row["last"]) for row in rows}

    def vector(self, id: str) -> NDArray[np.float32] | None:
        """The entry's vector, by the model that it names; None if it has none yet."""
        row = self.database.row(f"SELECT vector FROM {self.kind.with_any_vector()} WHERE id = ?", [id])
        return np.frombuffer(row[0], np.float32) if row and row[0] is not None else None

    def versions(self, id: str) -> list[EntryVersion]:
        """Every version of this entry, newest first. Raises UnknownEntry if there never was one."""
        with self.database.reading() as db:
            current = next(iter(self._rows(db, "id", [id])), None)
            at = written(db, self.kind, [id]).get(id, 0.0)
            found = versions(db, self.kind, id, current=current, written=at)
        if not found:
            raise self.unknown(id)
        return found

    def waiting(self) -> list[PendingEntry]:
        """Agents' changes of this kind that wait for a person, oldest first."""
        rows = self.database.rows("SELECT * FROM pending WHERE kind = ? ORDER BY at, rowid", [self.kind.name])
        return [
            PendingEntry(
                row["id"], self.kind.name, row["target"], json.loads(row["row"]) if row["row"] else None,
                row["verb"], row["who"], row["agent"], row["via"], row["at"],
            )
            for row in rows
        ]  # fmt: skip

    def waiting_count(self) -> int:
        """How many changes of this kind wait."""
        query = "SELECT count(*) FROM pending WHERE kind = ?"
        return int(self.database.row(query, [self.kind.name])[0])

    def decided(self, decision: str | None) -> list[str] | None:
        """The entries that this decision changed, in order; None if it was not made. Raises NotPermitted."""
        if decision is None:
            return None
        with self.database.reading() as db:
            row = db.execute("SELECT number, who FROM decisions WHERE id = ?", [decision]).fetchone()
            if row is None:
                return None
            if row["who"] != self.actor.name:
                raise NotPermitted("another user made a decision with this id")
            query = "SELECT id FROM history WHERE decision = ? AND kind = ? ORDER BY number"
            found = db.execute(query, [row["number"], self.kind.name]).fetchall()
        return [*dict.fromkeys(one["id"] for one in found)]

    # -- the model ----------------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The name of this kind's embedding model."""
        return self._model.name

    @property
    def version(self) -> str:
        """What the table of vectors calls the version of the model that made those in use."""
        return self.database.meta("model")

    def version_of(self, embedder: Embedder) -> str:
        """What the table of vectors calls this version of a model."""
        with self.database.reading() as db:
            return self.kind.version(db, embedder)

    @property
    def embedder(self) -> Embedder:
        """The model; its weights are loaded at first use."""
        return self._model.embedder

    def embedder_or_none(self) -> Embedder | None:
        """The model; None while it is away."""
        try:
            return self._model.embedder
        except ModelUnavailable:
            return None

    def embed(self, texts: Sequence[str]) -> NewVectors:
        """The vectors of those of these texts that this kind's model has not embedded yet."""
        if not texts:
            return NewVectors("", {})
        embedder = self.embedder
        version = self.version_of(embedder)
        sources = [source(version, text) for text in texts]
        with self.database.reading() as db:
            new = embedding_cache.unknown(db, sources, table=self.kind.vectors)
        return NewVectors(version, embedding_cache.embed(new, embedder), embedder)

    def to_embed(self) -> int:
        """How many entries have no vector of this kind's model yet."""
        query = f"SELECT count(*) FROM {self.kind.table} p {self.kind.joined()} WHERE v.key IS NULL"
        return int(self.database.row(query)[0])

    def without_vector(self) -> int:
        """How many entries `embed_new` embeds: not those that wait with another model's vector."""
        if not self.kind.keeps_models:
            return self.to_embed()
        query = f"SELECT count(*) FROM {self.kind.with_any_vector()} WHERE vector IS NULL"
        return int(self.database.row(query)[0])

    def vectors_by_model(self) -> list[ModelVectors]:
        """Every model that has vectors, earlier models included."""
        with self.database.reading() as db:
            return embedding_cache.by_model(db, model=self.version, table=self.kind.vectors)

    def _choose_model(self, given: Embedder | None) -> None:
        """The configured model for a new kind, and for an empty one that has another by default."""
        configured = self.kind.configured_model
        if not self.model:
            self.database.set_meta("model", given.name if given else configured)
            self.database.set_meta(DEFAULT, configured)
        elif given is None and configured not in (LOCAL, OFFLINE_TEXT, self.model) and not self.count():
            self.database.set_meta("model", configured)

    def use(self, embedder: Embedder) -> None:
        """Search with this model, of which all entries have a vector now (`reembedding.py`)."""
        self.database.check_writable()
        self._model.use(embedder)

    def delete_vectors(self, model: str, *, actor: str = "") -> ModelVectors | None:
        """Delete every vector of a model not in use, from every file; how many. Raises InvalidInput."""
        refuse_agents(self.actor, "delete vectors")
        found = next((one for one in self.vectors_by_model() if one.model == model), None)
        if found and found.is_in_use:
            raise InvalidInput(f"{model} is the model of {self.kind.name}; choose another one for it first")
        if found:
            note = {"vectors": found.count, "bytes": found.size}
            with self.database.writing() as db:
                db.execute(f"DELETE FROM {self.kind.vectors} WHERE model = ?", [model])
                if self.database.meta(NEXT_MODEL) == model:  # whoever changes to it gives up
                    self.database.set_meta(NEXT_MODEL, "")
                self.begin(db, FORGET_VECTORS, actor=actor).record_final(
                    "vectors", model, note, count=found.count
                )
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", [self.kind.key(ERASING)])
            self._finish_erasing(self)
        return found

    # -- by meaning ------------------------------------------------------------------------------------------

    def question(self, text: str) -> Vector:
        """The vector of a question; a long one takes longer to embed than to answer."""
        return self._asked(self._model.embedder, text)

    def question_or_none(self, text: str) -> Vector | None:
        """The vector of a question; None, with the reason in the log, while the model is away."""
        try:
            return self.question(text)
        except ModelUnavailable as error:
            log.warning("%s is searched by words alone: %s", self.kind.name, error)
            return None

    def nearest(
        self, vector: Vector, *, n: int, where: Where | None = None, floor: float | None = None
    ) -> dict[str, float]:
        """The n entries with the highest cosine, exactly, none below `floor`. Best first, ties by id."""
        return self.scores(vector, where).best(n, floor=floor)

    def scores(self, vector: Vector, where: Where | None = None) -> EntryScores:
        """Every entry's cosine, and whether it passes: the kind's columns, `tags`, `since` and `until`."""
        snapshot = self.resident()
        if len(snapshot) and len(vector) != snapshot.dimensions:
            raise InvalidInput(f"a vector of {len(vector)} numbers was not made by {self.version}")
        cosines, passing = np.empty(len(snapshot), np.float32), np.ones(len(snapshot), np.bool_)
        if where:  # as one text, since rows take five times as long
            filters, values = self.kind.conditions(where=where)
            query = f"SELECT json_group_array(id) FROM {self.kind.table} WHERE {filters}"
            passing = snapshot.mask(json.loads(self.database.row(query, values)[0]))
        snapshot.products(TEXT, vector, out=cosines)
        return EntryScores(snapshot.addresses, cosines, passing)

    def cosines(self, vector: Vector, ids: Iterable[str]) -> dict[str, float]:
        """The cosines of these entries with this vector; those without a vector are left out."""
        return {id: float(own @ vector) for id, own in self.resident().of(ids, TEXT).items()}

    def resident(self) -> VectorSnapshot:
        """The vectors of all entries that have one, by id (`of`, facet TEXT), as they are now."""
        with self.database.one_moment() as db:
            return self._resident.snapshot(db)

    @property
    def least(self) -> float:
        """The score below which nothing answers a question: 0 with models it was not measured with."""
        return self.kind.least if self._model.name in MEASURED else 0.0

    def not_read(self, text: str) -> str:
        """The sentence that says that this kind's model does not read the language of a text, or ""."""
        self.actor.check_login()
        return not_read(text, self._model.name)

    def caveat(self, question: str) -> str:
        """Why an answer may lack what is stored: the fault of the file, or the language; or ""."""
        return self.fault or self.not_read(question)

    # -- what is handed out ----------------------------------------------------------------------------------

    def pinned(self, where: Where | None = None) -> list[str]:
        """The entries that are in every context and pass these filters, oldest first."""
        return self._recalled("pinned", where)

    def never_recalled(self, where: Where | None = None) -> list[str]:
        """The entries that are in no context and pass these filters, oldest first."""
        return self._recalled("never", where)

    def _recalled(self, state: str, where: Where | None) -> list[str]:
        filters, values = self.kind.conditions(where=where)
        query = (
            f"SELECT id FROM {self.kind.table} WHERE {filters} AND id IN "
            "(SELECT id FROM recall WHERE kind = ? AND state = ?) ORDER BY rowid"
        )
        return [row[0] for row in self.database.rows(query, [*values, self.kind.name, state])]

    # -- writing ------------------------------------------------------------------------------------------

    @contextmanager
    def change(self, verb: str, *, actor: str = "", decision: str | None = None) -> Iterator[MemoryChange]:
        """One decision, or a part of one, in one transaction; leaves no trace if nothing is written."""
        with self.database.writing() as db:
            change = self.begin(db, verb, actor=actor, decision=decision)
            yield change
            change.finish()

    def begin(
        self, db: sqlite3.Connection, verb: str, *, actor: str = "", decision: str | None = None
    ) -> MemoryChange:
        """A decision, or a part of one, in the caller's transaction, ended by `finish`. Raises ReadOnly."""
        by = self.actor
        by.permit()
        return MemoryChange(
            db, self.kind, verb, decision=decision or uuid4().hex, actor=actor or by.name, at=self.clock(),
            via=by.via, agent=by.agent, waits=by.is_reviewed,
        )  # fmt: skip

    def upsert(self, rows: Iterable[Row], *, verb: str, actor: str = "", decision: str | None = None) -> None:
        """Add or replace entries as one decision, each embedded; InvalidInput for an id of another scope."""
        if self.decided(decision) is not None:
            return
        given = list(rows)
        new = self.embed([row[self.kind.text] for row in given])
        with self.change(verb, actor=actor, decision=decision) as change:
            change.store(new)
            for row in given:
                if self.kind.scope:
                    check_owner(change.row(self.kind.table, row["id"]), row, self.kind)
                change.upsert(row)

    def edit(
        self,
        id: str,
        /,
        *,
        was: str | None = None,
        actor: str = "",
        decision: str | None = None,
        **columns: Any,
    ) -> None:
        """Change columns of one entry; a new text is embedded first. Raises UnknownEntry or InvalidInput.

        `was` is the text that the change was made from: if it is another by now, nothing is changed.
        """
        if self.decided(decision) is not None:
            return
        fixed = {"id", "embedding_model", self.kind.scope}
        if not columns.keys() <= set(self.get(id)) - fixed:
            raise InvalidInput(f"{', '.join(sorted(columns))}: not all of these can be edited")
        texts = [columns[self.kind.text]] if self.kind.text in columns else []
        for text in texts:
            checked_text(text, what="the text", most=LONGEST)
        new = self.embed(texts)
        with self.change("edit", actor=actor, decision=decision) as change:
            row = change.row(self.kind.table, id)
            if row is None:
                raise UnknownEntry(f"{id} was removed in the meantime")
            if was not in (None, row[self.kind.text]):
                raise changed_meanwhile(id)
            change.store(new)
            change.upsert({**row, **columns})

    def remove(self, ids: Iterable[str], *, actor: str = "", decision: str | None = None) -> int:
        """Remove entries; undo restores them. Returns how many there were."""
        if (removed := self.decided(decision)) is not None:
            return len(removed)
        with self.change("remove", actor=actor, decision=decision) as change:
            for id in ids:
                change.remove(id)
            return change.count

    # -- for good -----------------------------------------------------------------------------------------

    def finish_erasing(self) -> None:
        """Leave nothing of what `erase` deleted in any file, whichever process keeps them."""
        self._finish_erasing(self)

    def close(self) -> None:
        """Close what this kind alone has open."""
        self._retrievals.close()
        self.database.close()


def check_owner(before: Row | None, row: Row, kind: MemoryKind) -> None:
    """Raises InvalidInput if the id is another scope's: ("a_b", "c") and ("a", "b_c") are joined alike."""
    if before is not None and before[kind.scope] != row[kind.scope]:
        other = before[kind.scope]
        raise InvalidInput(
            f"{row['id']} is already an entry of {other}; choose an id that does not begin like it"
        )
