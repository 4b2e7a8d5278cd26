"""What models propose for a record, apart from what people write: open, taken or refused.

    library.suggestions.of(address)                     # the open ones, newest first
    library.suggestions.resolve([one.id], "taken")       # or "refused"; taking one does not write it

Drafting saves them (store/tasks/draft.py). Nothing here changes a record or a person's draft.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from store.catalog.catalog import Catalog
from store.disk.sqlite import marks, renamed
from store.errors import InvalidRecord, UnknownRecord
from store.records import CAPTION_FACETS, Facet

SuggestedFacet = Facet | Literal["tags", "new_tags"]
SuggestionState = Literal["open", "taken", "refused", "replaced", "trial"]
BORROWED = "nearest · "  # from similar coins; then the embedding model and, for a text, the coin
Write = Callable[[sqlite3.Connection], None]  # part of the caller's transaction


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One text for one facet of one record; tags, known to the taxonomy or new, are separated by commas."""

    id: int
    address: str
    facet: SuggestedFacet
    text: str
    model: str  # by its name, or "nearest · …" where no language model was asked
    prompt: str  # "caption v3"
    hint: str
    actor: str  # who asked for it
    job: int | None
    created_at: float  # UNIX seconds
    state: SuggestionState
    settled_at: float
    settled_by: str

    @property
    def tags(self) -> list[str]:
        """The tags of a suggestion for the facets `tags` and `new_tags`."""
        return [tag for tag in self.text.split(",") if tag]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where suggestions come from."""

    model: str
    prompt: str = ""
    hint: str = ""
    actor: str = ""
    job: int | None = None


class Suggestions:
    """`library.suggestions`: open suggestions, and what became of the others."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def of(self, address: str, *, states: Iterable[SuggestionState] = ("open",)) -> list[Suggestion]:
        """Suggestions for one record, newest first."""
        parameters = tuple(states)
        return self._found(
            f"address = ? AND state IN ({marks(parameters)}) ORDER BY id DESC", address, *parameters
        )

    def of_job(self, job: int) -> list[Suggestion]:
        """The suggestions of one drafting job, oldest first."""
        return self._found("job = ? ORDER BY id", job)

    def waiting(self) -> list[str]:
        """Addresses of records with open suggestions, oldest suggestion first."""
        rows = self._catalog.rows(
            "SELECT address FROM suggestions WHERE state = 'open' GROUP BY address ORDER BY min(id)"
        )
        return [row[0] for row in rows]

    def save(
        self,
        address: str,
        texts: Mapping[SuggestedFacet, str],
        *,
        model: str,
        prompt: str = "",
        actor: str = "",
    ) -> None:
        """Propose texts for a record. Raises UnknownRecord if there is none, InvalidRecord for no facet."""
        known = (*CAPTION_FACETS, "tags", "new_tags")
        if unknown := [str(facet) for facet in texts if facet not in known]:
            raise InvalidRecord(f"{', '.join(unknown)} is no facet; these are: {', '.join(known)}")
        with self._catalog.writing() as db:
            if not db.execute("SELECT 1 FROM records WHERE address = ?", [address]).fetchone():
                raise UnknownRecord(f"no record has the address {address}")
            save(db, address, texts, Origin(model, prompt, actor=actor or self._catalog.actor.name))

    def resolve(self, ids: Iterable[int], state: SuggestionState, *, actor: str = "") -> int:
        """Set the state of suggestions; returns how many changed. A trial's suggestions may be opened."""
        changes = [(state, time.time(), actor or self._catalog.actor.name, number, state) for number in ids]
        with self._catalog.writing() as db:
            return db.executemany(
                "UPDATE suggestions SET state = ?, settled_at = ?, settled_by = ? "
                "WHERE id = ? AND state <> ?",
                changes,
            ).rowcount

    def _found(self, where: str, *values: str | int) -> list[Suggestion]:
        rows = self._catalog.rows(f"SELECT * FROM suggestions WHERE {where}", values)
        return [Suggestion(**renamed(row, actor="who", created_at="at")) for row in rows]


def save(
    db: sqlite3.Connection,
    address: str,
    texts: Mapping[SuggestedFacet, str],
    origin: Origin,
    *,
    state: SuggestionState = "open",
) -> None:
    """Store suggestions in the caller's transaction, in place of open ones of the same model and facet."""
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
                address, facet, text, origin.model, origin.prompt, origin.hint, origin.actor, origin.job, now,
                state,
            ],
        )  # fmt: skip
