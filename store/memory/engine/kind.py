"""How kinds of text memory differ: their tables, the SQL that reads them, and their vectors.

An entry names no vector. Its vector is the one of its text by the kind's model, so a text that comes back has
it again, and a change of model is the change of one name. Vectors are in a table of each kind, of all models
together; nothing throws one away but `memory delete-vectors`, and the deletion of its text for good.

A model's name stands for its first version that made vectors of the kind, whose fingerprint `meta` has. Later
versions, which make other numbers of the same text, are other models here (`version_name`).

Searches are exact, in memory (`ResidentEntries`): matrices as the library's, with one facet.
"""

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from store.catalog.filters import matching
from store.catalog.words import cjk_runs, without_cjk
from store.disk.sqlite import marks
from store.embedding.embedding_cache import EmbeddingSource
from store.embedding.protocol import (
    OFFLINE,
    OFFLINE_TEXT,
    Embedder,
    Vector,
    are_unit,
    content_key,
    unit,
    version_name,
    without_version,
)
from store.memory.engine.inputs import InvalidInput
from store.records import Facet
from store.settings import settings
from store.vectors.matrices import Matrices, Vectors, VectorSnapshot, load

LOCAL = "sentence-transformers:all-MiniLM-L6-v2"  # 384 dimensions; other memories have it too
MEASURED = (LOCAL, OFFLINE_TEXT)  # floors and thresholds were measured with these
DEFAULT = "default"  # in `meta`: the default model that a kind was given, since nobody chose one

Row = dict[str, Any]
Value = str | int | float
Where = Mapping[str, Value | Collection[Value]]  # column → what it has to be, or one of several
TAGS = "tags"  # a filter: entries that have all of these
GIVEN = "(SELECT value FROM json_each(?))"  # as a list in JSON, of any length
MOMENTS = {"since": ">=", "until": "<="}  # filters: when it was written or last edited, in UNIX seconds


@dataclass(frozen=True, slots=True)
class MemoryKind:
    """One table of embedded text and what belongs to it (`schema/`); one collection in Chroma."""

    name: str  # the collection, as the references name it
    file: str  # the SQLite file below memory/ that it had up to version 1.2, without its ending
    tables: tuple[str, ...]  # those whose rows have a history; embedded text first
    text: str  # the column that is embedded
    filters: tuple[str, ...] = ()  # columns to filter by; with the id all that Chroma is given
    more_filters: tuple[str, ...] = ()  # columns to filter by that Chroma is not given
    labels: tuple[str, ...] = ()  # columns whose words say as much of an entry as its text does
    scope: str = ""  # the column that says to which world, session or protocol an entry belongs
    scopes: str = ""  # SQL: the names of worlds that exist although nothing is stored under them
    order: str = "rowid"  # how entries are listed by default
    written: str = (
        "0"  # SQL: when what an entry says was written, in UNIX seconds; a later edit counts by itself
    )
    stored: Mapping[str, str] = field(default_factory=dict)  # SQL by table: when a row without a history came
    siblings: tuple[str, ...] = ()  # columns that entries cut from the same text have in common
    sequence: tuple[str, ...] = ("number",)  # … and what brings those in reading order
    has_token_states: bool = False  # its first answers are ordered by late interaction
    keeps_models: bool = False  # one that came with another model's vector is not embedded unless asked for
    default_model: str = LOCAL  # local for every kind, so that nothing uses the network
    least: float = 0.0  # score by words and meaning below which an entry answers no question
    metadata: Callable[[Any], dict[str, Any]] = lambda row: {}  # what else Chroma gets of a row
    takes_over: tuple[str, ...] = ()  # tables by which another program's file of this kind is known
    check: Callable[[sqlite3.Connection], None] = lambda db: None  # raises, before anything is written
    upgrade: Callable[[sqlite3.Connection, Callable[[str], None]], None] = lambda db, step: None

    @property
    def configured_model(self) -> str:
        """The model of this kind when it is created; from then on its file names its model."""
        chosen = settings().document_embedder if self.name == "documents" else ""
        return chosen or settings().memory_embedder or self.default_model

    @property
    def table(self) -> str:
        """The table that holds the entries."""
        return self.tables[0]

    @property
    def vectors(self) -> str:
        """The table of the entries' vectors (`vector_key`)."""
        return f"{self.table}_vectors"

    @property
    def words(self) -> str:
        """The full-text index of the entries."""
        return f"{self.table}_words"

    def key(self, name: str) -> str:
        """The key in `meta` of this kind's value of a name."""
        return f"{self.name} {name}"

    def fields(self, row: Any) -> dict[str, Any]:
        """What Chroma gets of a row besides its vector; it has no NULL, so missing values are left out."""
        found = {column: row[column] for column in self.filters if row[column] is not None}
        return {**found, **self.metadata(row)}

    @property
    def last_written(self) -> str:
        """SQL: when an entry was written or last edited, in UNIX seconds."""
        edited = (
            "SELECT max(d.at) FROM history h JOIN decisions d ON d.number = h.decision "
            f"WHERE h.id = {self.table}.id AND h.tbl = '{self.table}' AND d.verb = 'edit'"
        )
        return f"max(coalesce({self.written}, 0), coalesce(({edited}), 0))"

    def conditions(
        self, words: str = "", where: Where | None = None, before: float | None = None
    ) -> tuple[str, list[Any]]:
        """SQL for these filters, with its values. Raises InvalidInput for one that the kind does not have."""
        parts, values = ["TRUE"], list[Any]()
        for column, wanted in (where or {}).items():
            some = [wanted] if isinstance(wanted, str | int | float) else [*wanted]
            if column in MOMENTS:
                parts.append(f"{self.last_written} {MOMENTS[column]} ?")
                values.append(some[0])
                continue
            if column == TAGS and TAGS in self.labels:
                parts += [f"EXISTS (SELECT 1 FROM json_each({self.table}.tags) WHERE value = ?)"] * len(some)
                values += some
                continue
            if column not in (*self.filters, *self.more_filters):
                known = ", ".join((*self.filters, *self.more_filters, *self.labels, *MOMENTS))
                raise InvalidInput(f"{self.name} can be filtered by {known}, not {column}")
            parts.append(f"{column} IN ({marks(some)})")
            values += some
        for run in cjk_runs(words):
            parts.append(f"instr({self.text}, ?)")
            values.append(run)
        if (rest := without_cjk(words) if cjk_runs(words) else words).strip():
            parts.append(f"{self.table}.rowid IN (SELECT rowid FROM {self.words} WHERE {self.words} MATCH ?)")
            values.append(matching(rest))
        if before is not None:
            parts.append(f"{self.last_written} < ?")
            values.append(before)
        return " AND ".join(parts), values

    def ordered(self, order: str, *, columns: Collection[str]) -> str:
        """SQL for one of these columns to sort by, with "-" before it for descending; ties by age."""
        column = order.removeprefix("-")
        if not column:
            return self.order
        if column not in {*columns, "length", "written"}:
            raise InvalidInput(f"{self.name} cannot be sorted by {column}")
        by = {"length": f"length({self.text})", "written": self.last_written}.get(column, column)
        return f"{by} {'DESC' if order.startswith('-') else 'ASC'}, rowid"

    def vector_key(self, model: str = "") -> str:
        """SQL: the key of an entry's vector, as a rule by the kind's model."""
        model = model or f"(SELECT value FROM meta WHERE key = '{self.key('model')}')"
        return f"vector_key({model}, CAST(p.{self.text} AS BLOB))"  # a damaged text may not be UTF-8

    def joined(self, *, model: str = "") -> str:
        """SQL after the entries as `p`: as `v` their vectors by a model (SQL), as a rule the kind's."""
        return f"LEFT JOIN {self.vectors} v ON v.key = {self.vector_key(model)}"

    def with_any_vector(self, *names: str) -> str:
        """SQL: the entries with `embedding_model` and `vector`, another model's where their own has none."""
        models = f"SELECT json_group_array(DISTINCT model) FROM {self.vectors}"
        found = {
            name: f"coalesce(v.{column}, (SELECT o.{column} FROM json_each(({models})) m "
            f"CROSS JOIN {self.vectors} o ON o.key = {self.vector_key('m.value')} LIMIT 1))"
            for name, column in (("embedding_model", "model"), ("vector", "vector"))
        }
        found["embedding_model"] = f"without_version({found['embedding_model']})"
        listed = ", ".join(f"{found[name]} AS {name}" for name in names or found)
        return f"(SELECT p.rowid AS rowid_, p.*, {listed} FROM {self.table} p {self.joined()})"

    def version(self, db: sqlite3.Connection, embedder: Embedder) -> str:
        """What the table of vectors calls this version of a model."""
        (first,) = db.execute(f"SELECT {self._first}", self._named(embedder)).fetchone()
        return embedder.name if first == embedder.fingerprint else version_name(embedder)

    def note_version(self, db: sqlite3.Connection, embedder: Embedder) -> None:
        """Let the model's name stand for this version, if it is the first that makes vectors of this kind."""
        db.execute(f"INSERT OR IGNORE INTO meta VALUES (:key, {self._first})", self._named(embedder))

    @property
    def _first(self) -> str:
        """SQL: the fingerprint of the version that a model's name stands for.

        Of vectors from before there were fingerprints only those of OFFLINE are of an earlier version.
        """
        stored = f"SELECT 1 FROM {self.vectors} WHERE model ="
        is_earlier = f"EXISTS ({stored} :version) OR (:name = '{OFFLINE}' AND EXISTS ({stored} :name))"
        return f"coalesce((SELECT value FROM meta WHERE key = :key), iif({is_earlier}, '', :fingerprint))"

    def _named(self, embedder: Embedder) -> dict[str, str]:
        return {
            "key": self.key(f"fingerprint {embedder.name}"), "name": embedder.name,
            "version": version_name(embedder), "fingerprint": embedder.fingerprint,
        }  # fmt: skip

    def delete_unused_vectors(self, db: sqlite3.Connection) -> None:
        """Delete the vectors of texts that no entry has, and none had as far as the history knows."""
        past = "SELECT before ->> ? FROM history WHERE kind = ? AND tbl = ? AND before IS NOT NULL"
        db.execute(
            f"DELETE FROM {self.vectors} WHERE key NOT IN (SELECT vector_key(m.model, CAST(t.text AS BLOB)) "
            f"FROM (SELECT DISTINCT model FROM {self.vectors}) m, "
            f"(SELECT {self.text} AS text FROM {self.table} UNION {past}) t WHERE t.text IS NOT NULL)",
            [f"$.{self.text}", self.name, self.table],
        )


UNKNOWN = "unknown"  # the model of a vector that came without a name
NEXT_MODEL = "next_model"  # in `meta`: the model of a change that is not complete


@dataclass(frozen=True, slots=True)
class NewVectors:
    """Vectors that a model made of new texts, to be stored with the entries that say them."""

    model: str  # its version, see `MemoryKind.version`
    by_key: Mapping[str, bytes]  # float32
    embedder: Embedder | None = None  # None for vectors that came with their texts


def add_functions(db: sqlite3.Connection) -> None:
    """Register the functions that make keys and names in SQL."""
    db.create_function("vector_key", 2, _vector_key, deterministic=True)
    db.create_function("without_version", 1, lambda name: name and without_version(name), deterministic=True)


def source(model: str, text: str) -> EmbeddingSource:
    """A text with the key of its vector by this model."""
    return EmbeddingSource(_vector_key(model, text.encode()) or "", text=text)


def _vector_key(model: str | None, content: bytes | str | None) -> str | None:
    """The key for a text in UTF-8, or for the SHA-256 of one; as a picture's, it is made of a hash."""
    if model is None or content is None:
        return None
    hashed = content if isinstance(content, str) else sha256(content).hexdigest()
    return content_key(model, "text", hashed)


EPOCH = "epoch"  # in `meta`: one more whenever all has to be read again
TEXT = cast(Facet, "text")  # the one facet of an entry, which no coin has
_READ_AT_ONCE = 1024  # rows read together
_NONE = VectorSnapshot(dimensions=0)


@dataclass(frozen=True, slots=True)
class EntryScores:
    """Every entry's cosine, and whether it passes the filters; rows in no order."""

    ids: Sequence[str]
    cosines: Vector  # (n,)
    passing: NDArray[np.bool_]  # (n,)

    def best(self, n: int, *, floor: float | None = None) -> dict[str, float]:
        """The n entries that pass with the highest cosines; ties by id, so that answers are reproducible."""
        keep = self.passing if floor is None else self.passing & (self.cosines >= floor)
        rows = np.flatnonzero(keep)
        if len(rows) > n:  # everything at least as good as the nth, so that ties are settled below
            threshold = np.partition(self.cosines[rows], len(rows) - n)[len(rows) - n]
            rows = rows[self.cosines[rows] >= threshold]
        found = [(-float(self.cosines[row]), self.ids[row]) for row in rows.tolist()]
        return {id: -score for score, id in sorted(found)[:n]}


class ResidentEntries:
    """Read at the first request, then updated from `changes`; entries without a vector are not here."""

    def __init__(self, kind: MemoryKind) -> None:
        self._kind = kind
        self._lock = threading.Lock()
        self._model = self._epoch = ""  # another one, and all is read again
        self._known = 0  # the last line of `changes` that is in here
        self._matrices: Matrices | None = None  # once an entry has a vector

    def snapshot(self, db: sqlite3.Connection) -> VectorSnapshot:
        """The vectors as they are now, read by a connection that sees one moment."""
        with self._lock:
            names = [self._kind.key("model"), self._kind.key(EPOCH)]
            meta = dict(db.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", names).fetchall())
            model, epoch = (meta.get(name, "") for name in names)
            if (model, epoch) != (self._model, self._epoch):
                self._model, self._epoch, self._known, self._matrices = model, epoch, 0, None
            (newest,) = db.execute("SELECT coalesce(max(number), 0) FROM changes").fetchone()
            if newest != self._known:
                self._apply_changes(db, newest)
            return self._matrices.snapshot() if self._matrices else _NONE

    def _apply_changes(self, db: sqlite3.Connection, newest: int) -> None:
        if self._matrices:
            self._matrices.update(self._changed(db, 4 * self._matrices.dimensions), generation=newest)
        elif size := self._size(db):
            rows = ((id, vectors) for id, vectors in self._changed(db, size) if vectors)
            self._matrices = load(rows, dimensions=size // 4, facets=[TEXT], generation=newest)
        self._known = newest

    def _size(self, db: sqlite3.Connection) -> int:
        """How many bytes the first vector has; 0 if there is none."""
        row = self._read(db, "length(v.vector)", "AND v.vector IS NOT NULL LIMIT 1").fetchone()
        return int(row[0]) if row else 0

    def _changed(self, db: sqlite3.Connection, size: int) -> Iterator[tuple[str, Vectors | None]]:
        """The unit vector of each entry that changed; None for one that is gone, or has none that fits."""
        changed = self._read(db, "c.id, v.vector")
        while rows := changed.fetchmany(_READ_AT_ONCE):
            fitting = {id: vector for id, vector in rows if vector and len(vector) == size}
            ids, matrix = [*fitting], np.frombuffer(b"".join(fitting.values()), "<f4").reshape(-1, size // 4)
            for at in np.flatnonzero(~are_unit(matrix)).tolist():  # adopted ones are stored as they came
                fitting[ids[at]] = unit(matrix[at : at + 1]).tobytes()
            yield from ((id, {TEXT: fitting[id]} if id in fitting else None) for id, _ in rows)

    def _read(self, db: sqlite3.Connection, columns: str, more: str = "") -> sqlite3.Cursor:
        return db.execute(
            f"SELECT {columns} FROM changes c LEFT JOIN {self._kind.table} p ON p.id = c.id "
            f"{self._kind.joined(model='?')} "
            f"WHERE +c.tbl = ? AND c.number > ? {more}",  # by number: the index of tables reads all of one
            [self._model, self._kind.table, self._known],
        )
