"""What models propose for a record, beside what people write: taken, refused, or still open.

    library.suggestions.of(address)                     # the open ones, newest first
    library.suggestions.settle([one.id], "taken")       # or "refused"; whoever takes it writes it

Drafting saves them (store/drafting.py); nothing here ever touches a record or a draft that somebody types.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from store.catalog import Catalog
from store.errors import UnknownRecord
from store.people import myself
from store.records import Facet

SuggestedFacet = Facet | Literal["tags", "new_tags"]
SuggestionState = Literal["open", "taken", "refused", "replaced", "trial"]
Write = Callable[[sqlite3.Connection], None]  # part of somebody else's transaction


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One text for one facet of one record; tags (known to the taxonomy, or new) are separated by commas."""

    id: int
    address: str
    facet: SuggestedFacet
    text: str
    model: str  # by its name, or "nearest · …" where no language model was asked
    prompt: str  # "caption v3"
    hint: str
    who: str  # who asked for it
    job: int | None
    at: float  # UNIX seconds
    state: SuggestionState
    settled_at: float
    settled_by: str

    @property
    def tags(self) -> list[str]:
        """Of the facets `tags` and `new_tags`."""
        return [tag for tag in self.text.split(",") if tag]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where suggestions come from."""

    model: str
    prompt: str = ""
    hint: str = ""
    who: str = ""
    job: int | None = None


class Suggestions:
    """`library.suggestions`: what waits for somebody to look at it, and what became of the others."""

    READING = frozenset({"of", "of_job", "waiting"})

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def of(self, address: str, *, states: Iterable[SuggestionState] = ("open",)) -> list[Suggestion]:
        """Of one record, newest first."""
        wanted = tuple(states)
        among = ", ".join("?" * len(wanted))
        return self._found(f"address = ? AND state IN ({among}) ORDER BY id DESC", address, *wanted)

    def of_job(self, job: int) -> list[Suggestion]:
        """What one run of drafting has brought, oldest first."""
        return self._found("job = ? ORDER BY id", job)

    def waiting(self) -> list[str]:
        """The addresses of the records with open suggestions, oldest suggestion first."""
        with self._catalog.reading() as db:
            rows = db.execute(
                "SELECT address FROM suggestions WHERE state = 'open' GROUP BY address ORDER BY min(id)"
            ).fetchall()
        return [row[0] for row in rows]

    def save(
        self,
        address: str,
        texts: Mapping[SuggestedFacet, str],
        *,
        model: str,
        prompt: str = "",
        who: str = "",
    ) -> None:
        """Propose these for a record, beside what it says; UnknownRecord where there is none."""
        with self._catalog.writing() as db:
            if not db.execute("SELECT 1 FROM records WHERE address = ?", [address]).fetchone():
                raise UnknownRecord(f"no record has the address {address}")
            save(db, address, texts, Origin(model, prompt, who=who or myself()))

    def settle(self, ids: Iterable[int], state: SuggestionState, *, who: str = "") -> int:
        """Say what became of them; how many that concerns. A trial's may be made open, to be looked at."""
        changes = [(state, time.time(), who or myself(), number, state) for number in ids]
        with self._catalog.writing() as db:
            return db.executemany(
                "UPDATE suggestions SET state = ?, settled_at = ?, settled_by = ? "
                "WHERE id = ? AND state <> ?",
                changes,
            ).rowcount

    def _found(self, where: str, *values: str | int) -> list[Suggestion]:
        with self._catalog.reading() as db:
            rows = db.execute(f"SELECT * FROM suggestions WHERE {where}", values).fetchall()
        return [Suggestion(**dict(row)) for row in rows]


def save(
    db: sqlite3.Connection,
    address: str,
    texts: Mapping[SuggestedFacet, str],
    origin: Origin,
    *,
    state: SuggestionState = "open",
) -> None:
    """Keep these within the caller's transaction; open ones of the same model for the same facet give way."""
    now = time.time()
    for facet, text in texts.items():
        if state == "open":
            db.execute(
                "UPDATE suggestions SET state = 'replaced', settled_at = ? "
                "WHERE address = ? AND facet = ? AND model = ? AND state = 'open'",
                [now, address, facet, origin.model],
            )
        db.execute(
            "INSERT INTO suggestions (address, facet, text, model, prompt, hint, who, job, at, state) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                address, facet, text, origin.model, origin.prompt, origin.hint, origin.who, origin.job, now,
                state,
            ],
        )  # fmt: skip
