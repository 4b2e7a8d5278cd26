"""Every version of an entry: what it said, who wrote it, and from when to when it counted.

Nothing is overwritten: a change stores the row that it replaces in the history, so the versions are read from
there.
"""

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from store.memory.engine import listing
from store.memory.engine.kind import MemoryKind


@dataclass(frozen=True, slots=True)
class EntryVersion:
    """One version of an entry."""

    version: int  # 0: from before it had a history
    row: dict[str, Any] | None  # without vector; None: it was removed
    created_at: float  # since when it counts, in UNIX seconds; 0 if unknown
    actor: str  # the person; "" if unknown
    agent: str  # the program that wrote it in the person's place; "" if the person did
    via: str  # page, command line, MCP, import, adoption; "" if unknown
    verb: str
    superseded_at: float | None  # until when it counted; None: it counts
    superseded_by: str | None  # the decision that made the next version

    @property
    def author(self) -> str:
        """Who wrote it: the agent with the person in whose place it did, or the person."""
        return f"{self.agent} for {self.actor}" if self.agent else self.actor


def versions(db: sqlite3.Connection, kind: MemoryKind, id: str) -> list[EntryVersion]:
    """The versions of this entry, newest first; [] if there never was one."""
    lines = db.execute(
        "SELECT h.*, d.id AS decided, d.verb, d.who, d.at FROM history h "
        "JOIN decisions d ON d.number = h.decision WHERE h.tbl = ? AND h.id = ? ORDER BY h.number",
        [kind.table, id],
    ).fetchall()
    current = next(iter(listing.rows(db, kind, [id])), None)
    states = [json.loads(line["before"]) if line["before"] else None for line in lines] + [current]
    if not lines and current is None:
        return []
    made: dict[int, sqlite3.Row] = {}  # undo brings back an earlier version, which keeps its author
    for line in lines:
        made.setdefault(line["version"], line)
    found = []
    for number, state in enumerate(states):
        before, after = lines[number - 1] if number else None, lines[number] if number < len(lines) else None
        if before is None and state is None:
            continue
        wrote = made[before["version"]] if before else None
        first = listing.written(db, kind, [id]).get(id, 0.0) if before is None and not lines else 0.0
        found.append(
            EntryVersion(
                version=before["version"] if before else 0,
                row=state
                and {name: state[name] for name in state if name not in ("number", "embedding_model")},
                created_at=before["at"] if before else first,
                actor=wrote["who"] if wrote else "",
                agent=wrote["agent"] if wrote else "",
                via=wrote["via"] if wrote else "",
                verb=before["verb"] if before else "",
                superseded_at=after["at"] if after else None,
                superseded_by=after["decided"] if after else None,
            )
        )
    return found[::-1]
