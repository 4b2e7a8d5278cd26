"""Selections of records under an id, so that a line, and with it a link, finds them again: `set:3f9a0c12be`.

A selection is stored once, also if another person makes it again. Ids come from the addresses, so they mean
the same in every copy of a library.
"""

import json
import time
from collections.abc import Iterable
from hashlib import sha256

from store.catalog.catalog import Catalog, read_json, writing_errors
from store.errors import InvalidRecord

KEPT = 300  # that nothing names; beyond it the oldest go. Each takes about 44 bytes a record
_KEY = "set "  # the catalog's `meta` keeps each under this and its id
_LENGTH = 10  # hex digits
_NAMED_BY = (("meta", "value"), ("jobs", "options"), ("golden", "line"), ("judgements", "line"))


class CoinSets:
    """`library.coin_sets`: selections of records by id."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def store(self, addresses: Iterable[str]) -> str:
        """Store a selection and return its id. Raises InvalidRecord for an empty one."""
        chosen = sorted(set(addresses))
        if not chosen:
            raise InvalidRecord("a selection has one coin at least")
        id = sha256("\n".join(chosen).encode()).hexdigest()[:_LENGTH]
        value = json.dumps({"at": time.time(), "addresses": chosen})
        with writing_errors("the selection"), self._catalog.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_KEY + id, value])
            rows = db.execute(
                "SELECT substr(key, ?) AS id FROM meta WHERE key GLOB ? ORDER BY value ->> '$.at' DESC",
                [len(_KEY) + 1, f"{_KEY}*"],
            ).fetchall()
            for row in rows[KEPT:]:
                named = f"%set:{row['id']}%"
                if not any(
                    db.execute(f"SELECT 1 FROM {table} WHERE {column} LIKE ?", [named]).fetchone()
                    for table, column in _NAMED_BY
                ):
                    db.execute("DELETE FROM meta WHERE key = ?", [_KEY + row["id"]])
        return id

    def addresses(self, id: str) -> list[str] | None:
        """The addresses of a selection, in any tier by now; None if it is not stored."""
        row = self._catalog.row("SELECT value FROM meta WHERE key = ?", [_KEY + id])
        if row is None:
            return None
        addresses: list[str] = read_json(row[0], f"the selection {id}")["addresses"]
        return addresses


def condition(id: str) -> tuple[str, list[str]]:
    """SQL for the rows `r` of records in this selection; none of one that is not stored."""
    return (
        "r.address IN (SELECT value FROM json_each((SELECT value FROM meta WHERE key = ?), '$.addresses'))",
        [_KEY + id],
    )
