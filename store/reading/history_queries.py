"""Queries over decisions, and over the texts that they left behind."""

from typing import Any

from store.captions import revisions
from store.captions.revisions import Revision
from store.catalog import history
from store.catalog.catalog import Catalog
from store.catalog.history import Event, PastDecision


class HistoryQueries:
    """What was decided, by whom, and what a record said before."""

    catalog: Catalog

    def history(
        self, *, address: str | None = None, decision: str | None = None, limit: int = 100
    ) -> list[Event]:
        """Events of records, newest first."""
        with self.catalog.reading() as db:
            return history.events(db, address=address, decision=decision, limit=limit)

    def decisions(self, *, limit: int = 20) -> list[PastDecision]:
        """Decisions, newest first."""
        with self.catalog.reading() as db:
            return history.decisions(db, limit=limit)

    def decision(self, decision: str) -> PastDecision | None:
        """The decision with this id; None if there is none."""
        with self.catalog.reading() as db:
            return next(iter(history.decisions(db, only=decision)), None)

    def to_undo(self, *, actor: str) -> PastDecision | None:
        """This person's last decision that can be undone; None if there is none."""
        with self.catalog.reading() as db:
            last = history.to_undo(db, actor)
            return history.decisions(db, only=last)[0] if last else None

    def revisions(self, address: str) -> list[Revision]:
        """Every text that a record's caption had, newest first."""
        with self.catalog.reading() as db:
            return revisions.of(db, address)

    def sidecars_of(self, address: str) -> list[dict[str, Any]]:
        """Each sidecar that a record had here, without those that were undone."""
        with self.catalog.reading() as db:
            return history.sidecars(db, address)

    def sidecar_text(self, digest: str) -> str:
        """A former sidecar, by the hash in the history."""
        with self.catalog.reading() as db:
            row = db.execute("SELECT text FROM sidecars WHERE hash = ?", [digest]).fetchone()
        return str(row[0]) if row else ""
