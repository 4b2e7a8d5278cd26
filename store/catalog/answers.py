"""The answers to pages' decisions: asked again, they get the same answer, and nothing is done twice."""

import time

from store.catalog.catalog import Catalog, writing_errors
from store.errors import NotPermitted

REMEMBERED = 20_000  # answers of everybody


class Answers:
    """`library.answers`: by a decision's id, what the history alone does not tell of it, such as refusals."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, decision: str) -> str | None:
        """The answer to this decision; None if none was stored.

        Raises NotPermitted if another person made it.
        """
        with self._catalog.reading() as db:
            row = db.execute("SELECT who, answer FROM answers WHERE id = ?", [decision]).fetchone()
        if row is None:
            return None
        if row["who"] != self._catalog.actor.name:
            raise NotPermitted("another user made a decision with this id")
        return str(row["answer"])

    def store(self, decision: str, answer: str) -> None:
        """Store what is answered, and forget the oldest answers. Raises NotWritten if the disk refuses."""
        with writing_errors("the answer"), self._catalog.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)",
                [decision, self._catalog.actor.name, time.time(), answer],
            )
            db.execute(
                "DELETE FROM answers WHERE rowid <= (SELECT max(rowid) FROM answers) - ?", [REMEMBERED]
            )
