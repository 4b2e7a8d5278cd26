"""The rows of jobs and their items; every function is one transaction."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from store.catalog import Catalog
from store.jobs.job import PASSING, Item, ItemState, Job, State

KEPT = 200  # jobs that are over and still remembered, with their items
CUT_SHORT = "the program ended before it was done; begin it again"

Settled = tuple[Item, ItemState, str, Callable[[sqlite3.Connection], None] | None]


class Book:
    """What the catalog says of long work."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    # -- reading ------------------------------------------------------------------------------------------

    def job(self, number: int) -> Job | None:
        with self._catalog.reading() as db:
            row = db.execute("SELECT * FROM jobs WHERE id = ?", [number]).fetchone()
        return _job(row) if row else None

    def jobs(self, *, states: Sequence[State] = (), limit: int = KEPT) -> list[Job]:
        """Newest first."""
        where = f"state IN ({_marks(states)})" if states else "TRUE"
        with self._catalog.reading() as db:
            rows = db.execute(
                f"SELECT * FROM jobs WHERE {where} ORDER BY id DESC LIMIT ?", [*states, limit]
            ).fetchall()
        return [_job(row) for row in rows]

    def items(self, number: int, *, state: ItemState | None, offset: int, limit: int) -> list[Item]:
        """In the order in which they were given."""
        where, values = ("job = ? AND state = ?", [number, state]) if state else ("job = ?", [number])
        with self._catalog.reading() as db:
            rows = db.execute(
                f"SELECT * FROM job_items WHERE {where} ORDER BY position LIMIT ? OFFSET ?",
                [*values, limit, offset],
            ).fetchall()
        return [_item(row) for row in rows]

    def waiting_after(self, number: int, position: int, count: int) -> list[Item]:
        with self._catalog.reading() as db:
            rows = db.execute(
                "SELECT * FROM job_items WHERE job = ? AND state = 'waiting' AND position > ? "
                "ORDER BY position LIMIT ?",
                [number, position, count],
            ).fetchall()
        return [_item(row) for row in rows]

    def next_waiting(self, kinds: Iterable[str]) -> Job | None:
        names = tuple(kinds)
        with self._catalog.reading() as db:
            row = db.execute(
                f"SELECT * FROM jobs WHERE state = 'waiting' AND kind IN ({_marks(names)}) "
                "ORDER BY id LIMIT 1",
                names,
            ).fetchone()
        return _job(row) if row else None

    def keys_under_way(self, kind: str, options: Mapping[str, Any]) -> set[str]:
        """Keys that jobs of this kind, with these options, will come to by themselves."""
        same = "".join(" AND json_extract(j.options, ?) = ?" for _ in options)
        values = [value for name, wanted in options.items() for value in (f'$."{name}"', wanted)]
        with self._catalog.reading() as db:
            rows = db.execute(
                "SELECT i.key FROM jobs j JOIN job_items i ON i.job = j.id AND i.state = 'waiting' "
                f"WHERE j.kind = ? AND j.state IN ('waiting', 'running'){same}",
                [kind, *values],
            ).fetchall()
        return {row[0] for row in rows}

    def verbs_under_way(self, keys: Sequence[str]) -> dict[str, str]:
        """Of these records those that a move will come to by itself, with its verb."""
        with self._catalog.reading() as db:
            rows = db.execute(
                "SELECT i.key, json_extract(j.options, '$.verb') AS verb FROM jobs j JOIN job_items i "
                "ON i.job = j.id AND i.state = 'waiting' WHERE j.kind = 'move' "
                f"AND j.state IN ('waiting', 'running') AND i.key IN ({_marks(keys)})",
                [*keys],
            ).fetchall()
        return {row["key"]: row["verb"] for row in rows}

    # -- writing ------------------------------------------------------------------------------------------

    def add(
        self,
        kind: str,
        name: str,
        items: Iterable[str | tuple[str, Any]],
        options: Mapping[str, Any],
        *,
        who: str,
    ) -> int:
        """A new job, waiting; a key that stands twice counts once."""
        pairs = [(item, None) if isinstance(item, str) else item for item in items]
        with self._catalog.writing() as db:
            number = db.execute(
                "INSERT INTO jobs (kind, name, who, decision, state, options, made_at) "
                "VALUES (?, ?, ?, ?, 'waiting', ?, ?)",
                [kind, name, who, uuid4().hex, json.dumps(dict(options)), time.time()],
            ).lastrowid
            db.executemany(
                "INSERT OR IGNORE INTO job_items (job, position, key, payload) VALUES (?, ?, ?, ?)",
                [
                    (number, place, key, None if payload is None else json.dumps(payload))
                    for place, (key, payload) in enumerate(pairs, start=1)
                ],
            )
            db.execute(
                "UPDATE jobs SET total = (SELECT count(*) FROM job_items WHERE job = id) WHERE id = ?",
                [number],
            )
            self._forget_old(db)
        assert number is not None
        return number

    def change(
        self,
        number: int,
        state: State,
        *,
        among: Sequence[State],
        error: str = "",
        options: Mapping[str, Any] | None = None,
    ) -> bool:
        """Put it into another state, if it is in one of these; whether it was."""
        ended = time.time() if state in ("done", "cancelled", "failed") else 0.0
        with self._catalog.writing() as db:
            return bool(
                db.execute(
                    "UPDATE jobs SET state = ?, error = ?, ended_at = ?, options = json_patch(options, ?) "
                    f"WHERE id = ? AND state IN ({_marks(among)})",
                    [state, error, ended, json.dumps(dict(options or {})), number, *among],
                ).rowcount
            )

    def count(self, number: int, *, total: int, done: int, worked: float) -> None:
        """Keep how far work without items has come, and how long it took."""
        with self._catalog.writing() as db:
            db.execute("UPDATE jobs SET worked = worked + ? WHERE id = ?", [worked, number])
            db.execute(
                "UPDATE jobs SET total = ?, done = ? "
                "WHERE id = ? AND NOT EXISTS (SELECT 1 FROM job_items WHERE job = jobs.id)",
                [total, done, number],
            )

    def settle(self, number: int, settled: Sequence[Settled], *, worked: float) -> None:
        """Mark items as done or refused, and write what came of them, all at once; `worked` seconds more."""
        now = time.time()
        with self._catalog.writing() as db:
            db.execute("UPDATE jobs SET worked = worked + ? WHERE id = ?", [worked, number])
            for item, state, reason, write in settled:
                marked = db.execute(
                    "UPDATE job_items SET state = ?, reason = ?, at = ? "
                    "WHERE job = ? AND position = ? AND state = 'waiting'",
                    [state, reason, now, number, item.position],
                ).rowcount
                if not marked:
                    continue
                if write:
                    write(db)
                db.execute(f"UPDATE jobs SET {state} = {state} + 1 WHERE id = ?", [number])

    def keep(self, number: int, note: Mapping[str, Any]) -> None:
        """Remember what the work notes for itself, beside what it noted before."""
        with self._catalog.writing() as db:
            keep(db, number, note)

    def try_again(self, number: int) -> bool:
        """Everything refused waits once more, and so does the job; False when nothing was refused."""
        with self._catalog.writing() as db:
            again = db.execute(
                "UPDATE job_items SET state = 'waiting', reason = '' WHERE job = ? AND state = 'refused'",
                [number],
            ).rowcount
            if again:
                db.execute(
                    "UPDATE jobs SET refused = 0, error = '', ended_at = 0, "
                    "state = CASE state WHEN 'running' THEN state ELSE 'waiting' END WHERE id = ?",
                    [number],
                )
        return bool(again)

    def reopen(self) -> None:
        """On opening: what an earlier run of the program left unfinished."""
        with self._catalog.writing() as db:
            db.execute(
                "UPDATE jobs SET state = 'interrupted' WHERE state IN ('waiting', 'running') AND kind <> ?",
                [PASSING],
            )
            db.execute(
                "UPDATE jobs SET state = 'failed', error = ?, ended_at = ? "
                "WHERE state IN ('waiting', 'running') AND kind = ?",
                [CUT_SHORT, time.time(), PASSING],
            )

    def go_on(self) -> None:
        with self._catalog.writing() as db:
            db.execute("UPDATE jobs SET state = 'waiting' WHERE state = 'interrupted'")

    @staticmethod
    def _forget_old(db: sqlite3.Connection) -> None:
        old = [
            row[0]
            for row in db.execute(
                "SELECT id FROM jobs WHERE state IN ('done', 'cancelled', 'failed') "
                "ORDER BY id DESC LIMIT -1 OFFSET ?",
                [KEPT],
            )
        ]
        for table, column in (("job_items", "job"), ("jobs", "id")):
            db.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(number,) for number in old])


def keep(db: sqlite3.Connection, number: int, note: Mapping[str, Any]) -> None:
    """Add to a job's note, within the caller's transaction."""
    db.execute("UPDATE jobs SET note = json_patch(note, ?) WHERE id = ?", [json.dumps(dict(note)), number])


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _job(row: sqlite3.Row) -> Job:
    fields = dict(row)
    return Job(**{**fields, "options": json.loads(fields["options"]), "note": json.loads(fields["note"])})


def _item(row: sqlite3.Row) -> Item:
    fields = dict(row)
    return Item(**{**fields, "payload": json.loads(fields["payload"]) if fields["payload"] else None})
