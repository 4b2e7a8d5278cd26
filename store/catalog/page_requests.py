"""Requests of pages by the key that each page made up: sent again, they are answered and not done again."""

import json
import sqlite3
import time
from dataclasses import dataclass

from store.catalog.catalog import Catalog, read_json, writing_errors

REMEMBERED = 500  # requests of everybody
_ROW = "answered requests"  # in `meta`


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request that was begun, and how it was answered."""

    begun_at: float  # UNIX seconds
    answer: str | None  # None: the program ended in between, or it is under way


class AnsweredRequests:
    """`library.requests`: the last requests of pages, each with its answer, by person and key."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, key: str) -> PageRequest | None:
        """This person's request with this key."""
        with self._catalog.reading() as db:
            found = self._stored(db).get(self._name(key))
        return PageRequest(*found) if found else None

    def begin(self, key: str) -> None:
        """Record that this is about to be done, and forget the oldest requests."""
        with writing_errors("the request"), self._catalog.writing() as db:
            answers = self._stored(db)
            answers[self._name(key)] = (time.time(), None)
            self._store(db, dict(list(answers.items())[-REMEMBERED:]))

    def finish(self, key: str, answer: str) -> None:
        """Record how it was answered."""
        with writing_errors("the request"), self._catalog.writing() as db:
            answers = self._stored(db)
            answers[self._name(key)] = (time.time(), answer)
            self._store(db, answers)

    def cancel(self, key: str) -> None:
        """Forget a request that was refused: with what it lacked, it may be sent again."""
        with writing_errors("the request"), self._catalog.writing() as db:
            answers = self._stored(db)
            answers.pop(self._name(key), None)
            self._store(db, answers)

    def _name(self, key: str) -> str:
        return f"{self._catalog.actor.name} {key}"

    def _stored(self, db: sqlite3.Connection) -> dict[str, tuple[float, str | None]]:
        row = db.execute("SELECT value FROM meta WHERE key = ?", [_ROW]).fetchone()
        answers: dict[str, tuple[float, str | None]] = read_json(row[0] if row else "{}", f"the {_ROW}")
        return answers

    def _store(self, db: sqlite3.Connection, answers: dict[str, tuple[float, str | None]]) -> None:
        value = json.dumps(answers, ensure_ascii=False)
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_ROW, value])
