"""Undo decisions, and delete for good."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from store.errors import NothingToUndo
from store.memory.engine import foreign_metadata
from store.memory.engine.change import BESIDE, PENDING, MemoryChange
from store.memory.engine.errors import UnknownEntry
from store.memory.engine.listing import last_decision, last_erasure, last_undo
from store.outcome import Outcome, Refusal

AT_FORGETTING = (
    "nothing to undo: the last thing you did was to delete something for good, "
    "and undo never reaches past that"
)


def reverse(change: MemoryChange, verb: str, actor: str, *, number: int = 0) -> Outcome:
    """Restore what this person's last decision (or undo) replaced; entries changed since are refused.

    To a person it is one of their own, to an agent one of its own. `number` is that of another decision, of
    any person.

    Raises NothingToUndo if there is none, or if it lies before a forgetting.
    """
    agent = change.agent
    if number:
        chosen: int | None = number
    elif verb == "redo":
        chosen = undone["number"] if (undone := last_undo(change.db, actor, agent=agent)) else None
    else:
        chosen = last.number if (last := last_decision(change.db, actor, agent=agent)) else None
    if chosen is None:
        is_barred = verb == "undo" and last_erasure(change.db, actor, agent=agent)
        raise NothingToUndo(AT_FORGETTING if is_barred else f"nothing to {verb}")
    outcome = Outcome(decision=str(chosen))
    events = change.db.execute(
        "SELECT number FROM history WHERE decision = ? ORDER BY number DESC", [chosen]
    ).fetchall()
    done, others, refused = dict[str, None](), dict[str, None](), set[tuple[str, str]]()
    # Newest first: each finds the row as it left it, if nothing else came after.
    for (event_number,) in events:
        event = change.db.execute("SELECT * FROM history WHERE number = ?", [event_number]).fetchone()
        place = (event["tbl"], event["id"])
        row = change.db.execute("SELECT version FROM changes WHERE tbl = ? AND id = ?", place).fetchone()
        if row and row["version"] == event["version"] and place not in refused:
            _put_back(change, event)
            counted = done if event["tbl"] in (change.kind.table, *BESIDE) else others
            counted[event["id"]] = None
        elif place not in refused:
            refused.add(place)
            outcome.refused.append(Refusal(event["id"], f"it was changed since; {verb} would lose that"))
    outcome.done += done or others  # such as a world whose name alone was changed
    change.db.execute("UPDATE decisions SET reversed = 1 WHERE number = ?", [chosen])
    change.reverses = chosen
    return outcome


def erase(change: MemoryChange, column: str, value: str) -> int:
    """Delete rows with all traces of them; the rest of the file stays.

    Raises UnknownEntry if there is nothing of it.
    """
    db, kind = change.db, change.kind
    gone = f"SELECT id FROM {kind.table} WHERE {column} = ?"
    past = "SELECT id FROM history WHERE tbl = ? AND json_extract(before, ?) = ?"
    ids = [row[0] for row in db.execute(f"{gone} UNION {past}", [value, kind.table, f"$.{column}", value])]
    waiting = _waiting(db, column, value, ids)
    if not ids and not waiting:
        raise UnknownEntry(f"there is nothing of {value!r} in {kind.name}")
    count = db.execute(f"SELECT count(*) FROM {kind.table} WHERE {column} = ?", [value]).fetchone()[0]
    db.execute(f"DELETE FROM {kind.table} WHERE {column} = ?", [value])
    for table in ("changes", "history", "new_vectors", "kept_vectors", *BESIDE):
        db.executemany(f"DELETE FROM {table} WHERE id = ?", [(id,) for id in (*ids, *waiting)])
    foreign_metadata.delete(db, ids)
    db.execute(
        "DELETE FROM decisions WHERE number NOT IN (SELECT decision FROM history) AND verb <> 'forget'"
    )
    db.execute("DELETE FROM queried WHERE scope = ?", [value])
    db.execute("INSERT INTO words (words) VALUES ('rebuild')")  # deleted terms stay in its segments otherwise
    db.execute("UPDATE meta SET value = value + 1 WHERE key = 'epoch'")
    db.execute("INSERT OR REPLACE INTO meta VALUES ('forgetting', '1')")
    change.record_final("entries", "", {}, count=count)  # that it happened, and nothing of what it was
    return int(count)


def _waiting(db: sqlite3.Connection, column: str, value: str, ids: Sequence[str]) -> list[str]:
    """The ids of what waits, or waited, to become an entry of this value or to change one of these."""
    inside = f"$.{column}"
    found = db.execute(
        "SELECT id FROM pending WHERE json_extract(row, ?) = ? UNION "
        "SELECT id FROM history WHERE tbl = ? AND json_extract(json_extract(before, '$.row'), ?) = ?",
        [inside, value, PENDING, inside, value],
    ).fetchall()
    named = (
        "SELECT id FROM pending WHERE target = ? UNION "
        "SELECT id FROM history WHERE tbl = ? AND json_extract(before, '$.target') = ?"
    )
    rows = [row for id in ids for row in db.execute(named, [id, PENDING, id])]
    return list({row[0] for row in (*found, *rows)})


def _put_back(change: MemoryChange, event: sqlite3.Row) -> None:
    if event["before"] is None:
        change.remove(event["id"], table=event["tbl"], version=event["before_version"])
        return
    row: dict[str, Any] = json.loads(event["before"])
    if event["vector"] is not None:
        row["vector"] = event["vector"]
    elif event["tbl"] == change.kind.table:
        row["vector"] = None
    change.upsert(row, table=event["tbl"], version=event["before_version"])
