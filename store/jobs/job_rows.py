"""The rows of jobs and their items; every function is one transaction."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from store.catalog import named_values
from store.catalog.catalog import Catalog
from store.disk.sqlite import marks, renamed
from store.jobs.job import EPHEMERAL, Item, ItemState, Job, State

KEPT = 200  # jobs that are over and still remembered, with their items
_STILL_WAITS = "SELECT 1 FROM job_items WHERE job = ? AND state = 'waiting' LIMIT 1"
CUT_SHORT = "the program ended before it was done; begin it again"

Settled = tuple[Item, ItemState, str, Callable[[sqlite3.Connection], None] | None]


class JobRepository:
    """Jobs and items as stored in the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    # -- reading ------------------------------------------------------------------------------------------

    def job(self, number: int) -> Job | None:
        """The job with this number; None if there is none."""
        row = self._catalog.row("SELECT * FROM jobs WHERE id = ?", [number])
        return _job(row) if row else None

    def of_decision(self, decision: str) -> Job | None:
        """The job that carries out this decision; None if there is none."""
        row = self._catalog.row("SELECT * FROM jobs WHERE decision = ?", [decision])
        return _job(row) if row else None

    def jobs(self, *, states: Sequence[State] = (), limit: int = KEPT) -> list[Job]:
        """Jobs, newest first."""
        where = f"state IN ({marks(states)})" if states else "TRUE"
        rows = self._catalog.rows(
            f"SELECT * FROM jobs WHERE {where} ORDER BY id DESC LIMIT ?", [*states, limit]
        )
        return [_job(row) for row in rows]

    def items(self, number: int, *, state: ItemState | None, offset: int, limit: int) -> list[Item]:
        """A job's items, in the order in which they were given."""
        where, values = ("job = ? AND state = ?", [number, state]) if state else ("job = ?", [number])
        rows = self._catalog.rows(
            f"SELECT * FROM job_items WHERE {where} ORDER BY position LIMIT ? OFFSET ?",
            [*values, limit, offset],
        )
        return [_item(row) for row in rows]

    def waiting_after(self, number: int, position: int, count: int) -> list[Item]:
        """The next waiting items of a job behind this position, at most `count`."""
        rows = self._catalog.rows(
            "SELECT * FROM job_items WHERE job = ? AND state = 'waiting' AND position > ? "
            "ORDER BY position LIMIT ?",
            [number, position, count],
        )
        return [_item(row) for row in rows]

    def next_waiting(self, kinds: Iterable[str], behind: int) -> Job | None:
        """The oldest waiting job of these kinds that came after this one; None if there is none."""
        names = tuple(kinds)
        row = self._catalog.row(
            f"SELECT * FROM jobs WHERE state = 'waiting' AND kind IN ({marks(names)}) AND id > ? "
            "ORDER BY id LIMIT 1",
            [*names, behind],
        )
        return _job(row) if row else None

    def keys_under_way(self, kind: str, options: Mapping[str, Any]) -> set[str]:
        """Keys that unfinished jobs of this kind, with these options, will still process."""
        same = "".join(" AND json_extract(j.options, ?) = ?" for _ in options)
        values = [value for name, wanted in options.items() for value in (f'$."{name}"', wanted)]
        rows = self._catalog.rows(
            "SELECT i.key FROM jobs j JOIN job_items i ON i.job = j.id AND i.state = 'waiting' "
            f"WHERE j.kind = ? AND j.state IN ('waiting', 'running'){same}",
            [kind, *values],
        )
        return {row[0] for row in rows}

    def verbs_under_way(self, keys: Sequence[str]) -> dict[str, str]:
        """The verb of the job that will still move each of these records."""
        rows = self._catalog.rows(
            "SELECT i.key, json_extract(j.options, '$.verb') AS verb FROM jobs j JOIN job_items i "
            "ON i.job = j.id AND i.state = 'waiting' WHERE j.kind = 'move' "
            f"AND j.state IN ('waiting', 'running') AND i.key IN ({marks(keys)})",
            [*keys],
        )
        return {row["key"]: row["verb"] for row in rows}

    # -- writing ------------------------------------------------------------------------------------------

    def add(
        self,
        kind: str,
        name: str,
        items: Iterable[str | tuple[str, Any]],
        options: Mapping[str, Any],
        *,
        actor: str,
        decision: str | None = None,
    ) -> int:
        """Add a waiting job, a repeated key once; its number, or that of the same decision's."""
        options_json = json.dumps(dict(options), allow_nan=False)
        pairs = [(item, None) if isinstance(item, str) else item for item in items]
        with self._catalog.writing() as db:
            there = db.execute(
                "SELECT id FROM jobs WHERE decision = ? AND who = ?", [decision, actor]
            ).fetchone()
            if there:
                return int(there[0])
            number = db.execute(
                "INSERT INTO jobs (kind, name, who, decision, state, options, made_at) "
                "VALUES (?, ?, ?, ?, 'waiting', ?, ?)",
                [kind, name, actor, decision or uuid4().hex, options_json, time.time()],
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
        note: Mapping[str, Any] | None = None,
    ) -> bool:
        """Set a job's state if it is in one of `among`, and add to its note; returns whether it changed."""
        ended = time.time() if state in ("done", "cancelled", "failed") else 0.0
        with self._catalog.writing() as db:
            return bool(
                db.execute(
                    "UPDATE jobs SET state = ?, error = ?, ended_at = ?, "
                    "options = json_patch(options, ?), "
                    f"note = json_patch(note, ?) WHERE id = ? AND state IN ({marks(among)})",
                    [
                        state,
                        error,
                        ended,
                        json.dumps(dict(options or {}), allow_nan=False),
                        json.dumps(dict(note or {})),
                        number,
                        *among,
                    ],
                ).rowcount
            )

    def count(self, number: int, *, total: int, done: int, refused: int, worked: float) -> None:
        """Store the progress of work without items, and how long it took in seconds."""
        with self._catalog.writing() as db:
            db.execute("UPDATE jobs SET worked = worked + ? WHERE id = ?", [worked, number])
            db.execute(
                "UPDATE jobs SET total = ?, done = ?, refused = ? "
                "WHERE id = ? AND NOT EXISTS (SELECT 1 FROM job_items WHERE job = jobs.id)",
                [total, done, refused, number],
            )

    def record(self, number: int, settled: Sequence[Settled], *, worked: float) -> None:
        """Mark items as done or refused, and write their results, at once; adds `worked` seconds."""
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

    def store_note(self, number: int, note: Mapping[str, Any]) -> None:
        """Add to the job's note."""
        with self._catalog.writing() as db:
            store_note(db, number, note)

    def try_again(self, number: int) -> bool:
        """Set refused items and their job to waiting; False if nothing was refused."""
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
        """Mark jobs that an earlier run of the program left unfinished."""
        with self._catalog.writing() as db:
            db.execute(
                "UPDATE jobs SET state = 'interrupted', error = '' "
                "WHERE state IN ('waiting', 'running') AND kind <> ?",
                [EPHEMERAL],
            )
            db.execute(
                "UPDATE jobs SET state = 'failed', error = ?, ended_at = ? "
                "WHERE state IN ('waiting', 'running') AND kind = ?",
                [CUT_SHORT, time.time(), EPHEMERAL],
            )

    def resume_interrupted(self) -> None:
        """Let jobs wait again that the end of the program interrupted."""
        with self._catalog.writing() as db:
            # 1.1.1 stored a budget without limit as JSON that SQLite does not read.
            db.execute(
                "UPDATE jobs SET options = replace(options, 'Infinity', 'null') WHERE NOT json_valid(options)"
            )
            db.execute("UPDATE jobs SET state = 'waiting' WHERE state = 'interrupted'")

    @staticmethod
    def _forget_old(db: sqlite3.Connection) -> None:
        old = db.execute(
            "SELECT * FROM jobs WHERE state IN ('done', 'cancelled', 'failed') "
            "ORDER BY id DESC LIMIT -1 OFFSET ?",
            [KEPT],
        ).fetchall()
        for row in old:
            if row["state"] == "failed" and db.execute(_STILL_WAITS, [row["id"]]).fetchone():
                continue  # it may still be resumed
            named_values.record_deleted(db, "job", row["name"], dict(row), actor="")
            db.execute("DELETE FROM job_items WHERE job = ?", [row["id"]])
            db.execute("DELETE FROM jobs WHERE id = ?", [row["id"]])


def store_note(db: sqlite3.Connection, number: int, note: Mapping[str, Any]) -> None:
    """Add to a job's note, within the caller's transaction."""
    db.execute("UPDATE jobs SET note = json_patch(note, ?) WHERE id = ?", [json.dumps(dict(note)), number])


def _job(row: sqlite3.Row) -> Job:
    fields = renamed(row, actor="who")
    return Job(**{**fields, "options": json.loads(fields["options"]), "note": json.loads(fields["note"])})


def _item(row: sqlite3.Row) -> Item:
    fields = renamed(row, ended_at="at")
    return Item(**{**fields, "payload": json.loads(fields["payload"]) if fields["payload"] else None})
