"""Undo decisions, and delete for good."""

import json
import sqlite3
from collections.abc import Callable, Sequence

from store.catalog import history
from store.catalog.catalog import count_up
from store.memory.engine.change import BESIDE, PENDING, RECALL, MemoryChange
from store.memory.engine.errors import UnknownEntry
from store.memory.engine.resident import EPOCH
from store.outcome import Outcome, Refusal

_AT_ONCE = 500  # rows that are removed together
ERASING = "forgetting"  # in `meta`: something was deleted for good, and files may still have copies of it
AT_FORGETTING = (
    "nothing to undo: the last thing you did was to delete something for good, "
    "and undo never reaches past that"
)


def reverse(
    db: sqlite3.Connection, decision: str, *, verb: str, change_of: Callable[[str], MemoryChange]
) -> Outcome:
    """Restore what this decision (or undo) replaced, in all kinds; entries changed since are refused.

    `change_of` gives the part of this reversal in one kind, by the kind's name.
    """
    outcome = Outcome(reversed=decision)
    (number,) = db.execute("SELECT number FROM decisions WHERE id = ?", [decision]).fetchone()
    events = db.execute("SELECT number FROM history WHERE decision = ? ORDER BY number DESC", [number])
    done, others, refused = dict[str, None](), dict[str, None](), set[tuple[str, str, str]]()
    added = list[sqlite3.Row]()  # of one table, to be removed together
    # Newest first: each finds the row as it left it, if nothing else came after.
    for (event_number,) in events.fetchall():
        event = db.execute("SELECT * FROM history WHERE number = ?", [event_number]).fetchone()
        place = (event["kind"], event["tbl"], event["id"])
        query = "SELECT version FROM changes WHERE kind = ? AND tbl = ? AND id = ?"
        row = db.execute(query, place).fetchone()
        if row and row["version"] == event["version"] and place not in refused:
            change = change_of(event["kind"])
            change.reverses = decision
            if len(added) == _AT_ONCE or not (added and _is_alike(added[0], event)):
                _remove_added(added, change_of)
            if event["before"] is None and not event["before_version"]:
                added.append(event)
            else:
                _put_back(change, event)
            counted = done if event["tbl"] in (change.kind.table, PENDING, RECALL) else others
            counted[event["id"]] = None
        elif place not in refused:
            refused.add(place)
            outcome.refused.append(Refusal(event["id"], f"it was changed since; {verb} would lose that"))
    _remove_added(added, change_of)
    outcome.done += done or others  # such as a world whose name alone was changed
    history.mark_reversed(db, decision)
    return outcome


def _is_alike(one: sqlite3.Row, other: sqlite3.Row) -> bool:
    """Whether two rows of one table were added where there was none before."""
    is_added = other["before"] is None and not other["before_version"]
    return is_added and (one["kind"], one["tbl"]) == (other["kind"], other["tbl"])


def _remove_added(added: list[sqlite3.Row], change_of: Callable[[str], MemoryChange]) -> None:
    if added:
        change_of(added[0]["kind"]).remove_added([one["id"] for one in added], table=added[0]["tbl"])
        added.clear()


def erase(change: MemoryChange, column: str, value: str) -> int:
    """Delete rows with all traces of them; the rest of the file stays.

    Raises UnknownEntry if there is nothing of it.
    """
    db, kind = change.db, change.kind
    gone = f"SELECT id FROM {kind.table} WHERE {column} = ?"
    past = "SELECT id FROM history WHERE tbl = ? AND json_extract(before, ?) = ?"
    ids = [row[0] for row in db.execute(f"{gone} UNION {past}", [value, kind.table, f"$.{column}", value])]
    waiting = _waiting(change, column, value, ids)
    if not ids and not waiting:
        raise UnknownEntry(f"there is nothing of {value!r} in {kind.name}")
    count = db.execute(f"SELECT count(*) FROM {kind.table} WHERE {column} = ?", [value]).fetchone()[0]
    db.execute(f"DELETE FROM {kind.table} WHERE {column} = ?", [value])
    places = [(kind.name, id) for id in (*ids, *waiting)]
    decided = set[int]()
    for place in places:
        found = db.execute("SELECT DISTINCT decision FROM history WHERE kind = ? AND id = ?", place)
        decided.update(row[0] for row in found)
    for table in ("history", *BESIDE):
        db.executemany(f"DELETE FROM {table} WHERE kind = ? AND id = ?", places)
    for table in (*kind.tables, *BESIDE):
        db.executemany(f"DELETE FROM changes WHERE kind = ? AND id = ? AND tbl = '{table}'", places)
    db.executemany(
        "DELETE FROM decisions WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM history WHERE decision = ?1)",
        [(number,) for number in decided],
    )
    db.execute("DELETE FROM queried WHERE kind = ? AND scope = ?", [kind.name, value])
    count_up(db, kind.key(EPOCH))
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", [kind.key(ERASING)])
    change.record_final("entries", "", {}, count=count)  # that it happened, and nothing of what it was
    return int(count)


def _waiting(change: MemoryChange, column: str, value: str, ids: Sequence[str]) -> list[str]:
    """The ids of what waits, or waited, to become an entry of this value or to change one of these."""
    db, kind, inside = change.db, change.kind.name, f"$.{column}"
    found = db.execute(
        "SELECT id FROM pending WHERE kind = ? AND json_extract(row, ?) = ? UNION SELECT id FROM history "
        "WHERE kind = ? AND tbl = ? AND json_extract(json_extract(before, '$.row'), ?) = ?",
        [kind, inside, value, kind, PENDING, inside, value],
    ).fetchall()
    named = (
        "SELECT id FROM pending WHERE kind = ? AND target = ? UNION "
        "SELECT id FROM history WHERE kind = ? AND tbl = ? AND json_extract(before, '$.target') = ?"
    )
    rows = [row for id in ids for row in db.execute(named, [kind, id, kind, PENDING, id])]
    return list({row[0] for row in (*found, *rows)})


def _put_back(change: MemoryChange, event: sqlite3.Row) -> None:
    if event["before"] is None:
        change.remove(event["id"], table=event["tbl"], version=event["before_version"])
        return
    change.upsert(json.loads(event["before"]), table=event["tbl"], version=event["before_version"])
