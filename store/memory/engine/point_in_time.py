"""One kind as it was at a moment, or as it would be: in memory, for questions alone.

    past = as_of(entries, moment)           # the entries that counted then
    other = as_of(entries, None, changed=…) # today's entries, some of them changed

The rows are those of today, with each that changed since as the history has it. Nothing is stored, so what is
forgotten later is not in it.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from itertools import groupby
from typing import Any

from store.disk.files import Disk
from store.disk.sqlite import SqliteFile, marks
from store.embedding import embedding_cache
from store.embedding.active_model import ActiveModel
from store.embedding.protocol import Embedder
from store.errors import ModelUnavailable, ReadOnly
from store.memory.engine.change import ADOPTED, RECALL, written
from store.memory.engine.database import Database, prepare
from store.memory.engine.entries import Entries
from store.memory.engine.kind import MemoryKind, ResidentEntries, source
from store.memory.engine.retrievals import Retrievals

Rows = list[dict[str, Any]]
Changed = Callable[[Rows], Rows]  # entries as they would be


class PastDatabase(Database):
    """The tables of one kind in memory, read-only."""

    def __init__(self, present: Database, build: Callable[[], sqlite3.Connection]) -> None:
        SqliteFile.__init__(self, present.path, disk=Disk())
        self.actor, self.fault, self._kind = present.actor, present.fault, present._kind
        self._build = build
        self._made: list[sqlite3.Connection] = []  # one at most, shared by all actors

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend the one connection; its tables are made at the first question."""
        self.actor.check_login()
        with self.lock:
            if not self._made:
                self._made.append(self._build())
            yield self._made[0]

    def check_writable(self) -> None:
        """Raises ReadOnly."""
        raise ReadOnly("the past can be looked at, not changed")

    def close(self) -> None:
        if self._is_own and self._made:
            self._made.pop().close()


def as_of(
    entries: Entries,
    moment: float | None,
    *,
    changed: Changed | None = None,
    embedder: Embedder | None = None,
) -> Entries:
    """The entries as they were then (None: now), for questions, or as `changed` and `embedder` make them."""
    past = copy(entries)
    model = embedder or entries.embedder_or_none()
    past.database = PastDatabase(
        entries.database, lambda: _built(entries, moment, changed=changed, embedder=model)
    )
    if embedder is not None:
        past._model = ActiveModel(past.database, embedder)
    past._resident = ResidentEntries(entries.kind)
    past._counted = None
    past._retrievals = Retrievals(entries.database.path, kind=entries.kind.name, detail="", days=0)
    return past


def texts_at(entries: Entries, moment: float | None) -> dict[str, str]:
    """The text of every entry that counted at this moment (UNIX seconds; None: now), by id."""
    kind = entries.kind
    with entries.database.one_moment() as db:
        return {row["id"]: row[kind.text] for row in _rows(db, kind, kind.table, moment)}


def _built(
    entries: Entries, moment: float | None, *, changed: Changed | None, embedder: Embedder | None
) -> sqlite3.Connection:
    kind = entries.kind
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    prepare(db)
    with entries.database.one_moment() as present:
        rows = {table: _rows(present, kind, table, moment) for table in (*kind.tables, RECALL, ADOPTED)}
        _copy_history(present, db, kind, moment)
    model = entries.version
    if embedder and embedder.name != entries.model:
        model = entries.version_of(embedder)
    if changed:
        rows[kind.table] = changed(rows[kind.table])
    texts = [row[kind.text] for row in rows[kind.table]]
    found = _vectors(entries, texts, model, embedder)
    db.execute("BEGIN")
    for table, alike in rows.items():
        for names, same in groupby(alike, key=tuple):  # restored rows lack the number of others
            values = [tuple(row.values()) for row in same]
            db.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks(names)})", values)
    embedding_cache.store(db, model, found, table=kind.vectors)
    changes = f"INSERT INTO changes (kind, tbl, id) SELECT ?, ?, id FROM {kind.table}"
    db.execute(changes, [kind.name, kind.table])
    db.execute("INSERT INTO meta VALUES (?, ?)", [kind.key("model"), model])
    db.execute("COMMIT")
    return db


def _rows(db: sqlite3.Connection, kind: MemoryKind, table: str, moment: float | None) -> Rows:
    """The rows of this table that counted at the moment."""
    own = f"WHERE kind = '{kind.name}'" if table in (RECALL, ADOPTED) else ""
    found = [dict(row) for row in db.execute(f"SELECT * FROM {table} {own} ORDER BY rowid")]
    if moment is None:
        return found
    first = db.execute(  # what each row was before its first change since
        "SELECT h.id, h.before FROM history h JOIN (SELECT min(h.number) AS number FROM history h "
        "JOIN decisions d ON d.number = h.decision WHERE h.kind = ? AND h.tbl = ? AND d.at > ? "
        "GROUP BY h.id) f ON f.number = h.number",
        [kind.name, table, moment],
    )
    before: dict[str, dict[str, Any] | None] = {}
    for line in first:
        row = json.loads(line["before"]) if line["before"] else None
        if row is not None and own:
            row["kind"] = kind.name
        before[line["id"]] = row
    query = "SELECT DISTINCT id FROM history WHERE kind = ? AND tbl = ?"
    is_known = {row[0] for row in db.execute(query, [kind.name, table])}
    came = _stored(db, kind, table, [row["id"] for row in found if row["id"] not in is_known])
    then = []
    for row in found:
        id = row["id"]
        if id in before:
            if (earlier := before.pop(id)) is not None:
                then.append({**row, **earlier})
        elif id in is_known or came.get(id, 0.0) <= moment:
            then.append(row)
    return then + [row for row in before.values() if row is not None]


def _stored(db: sqlite3.Connection, kind: MemoryKind, table: str, ids: list[str]) -> dict[str, float]:
    """When rows without a history were stored; where that is unknown, when their text was written."""
    if table in kind.stored:
        return {row[0]: row[1] or 0.0 for row in db.execute(f"SELECT id, {kind.stored[table]} FROM {table}")}
    return written(db, kind, ids) if table == kind.table else {}


def _copy_history(
    present: sqlite3.Connection, db: sqlite3.Connection, kind: MemoryKind, moment: float | None
) -> None:
    """What orders and dates entries: decisions and lines of the history until then, without their texts."""
    until = float("inf") if moment is None else moment
    decisions = present.execute("SELECT number, id, verb, who, at FROM decisions WHERE at <= ?", [until])
    insert = "INSERT INTO decisions (number, id, verb, who, at) VALUES (?, ?, ?, ?, ?)"
    db.executemany(insert, map(tuple, decisions))
    lines = present.execute(
        "SELECT h.number, h.decision, h.kind, h.tbl, h.id, h.version, h.before_version, h.agent, h.via "
        "FROM history h JOIN decisions d ON d.number = h.decision WHERE h.kind = ? AND d.at <= ?",
        [kind.name, until],
    )
    db.executemany(
        "INSERT INTO history (number, decision, kind, tbl, id, version, before_version, agent, via) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        map(tuple, lines),
    )


def _vectors(
    entries: Entries, texts: Iterable[str], model: str, embedder: Embedder | None
) -> dict[str, bytes]:
    """The vectors of these texts by key; while the model is away, those that are stored."""
    sources = {one.key: one for one in (source(model, text) for text in texts)}
    query = f"SELECT vector FROM {entries.kind.vectors} WHERE key = ?"
    with entries.database.reading() as db:
        found = {key: row[0] for key in sources if (row := db.execute(query, [key]).fetchone())}
    with suppress(ModelUnavailable):
        if embedder:
            lacking = [one for key, one in sources.items() if key not in found]
            found |= embedding_cache.embed(lacking, embedder)
    return found
