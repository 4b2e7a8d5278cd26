"""Decisions about the text memory: listed, undone and redone in all kinds that they changed."""

import sqlite3
from collections.abc import Callable
from uuid import uuid4

from store.catalog import history
from store.errors import NothingToUndo, NotPermitted
from store.memory.engine import listing
from store.memory.engine.change import MemoryChange, refuse_agents
from store.memory.engine.database import Database
from store.memory.engine.entries import Entries
from store.memory.engine.listing import MemoryDecision
from store.memory.engine.places import Places
from store.memory.engine.undo import AT_FORGETTING, reverse
from store.outcome import Outcome, Refusal
from store.permissions import Actor
from store.reading import audit
from store.reading.audit import AuditFilter

_ALL = AuditFilter()


class Decisions:
    """The decisions of one memory: each is one transaction or several, and its undo is one."""

    database: Database
    kinds: dict[str, Entries]
    places: Places
    actor: Actor

    @property
    def generation(self) -> tuple[int, ...]:
        """Changes with every change of an entry or a model, and with every counted question."""
        with self.database.reading() as db:
            row = db.execute(
                "SELECT (SELECT coalesce(max(number), 0) FROM changes), "
                "(SELECT coalesce(sum(times), 0) FROM queried), "
                "(SELECT coalesce(max(number), 0) FROM decisions), "
                "(SELECT coalesce(sum(value), 0) FROM meta WHERE key GLOB '* epoch')"
            ).fetchone()
        return tuple(row)

    def decisions(self, filter: AuditFilter = _ALL, *, limit: int = 20) -> list[MemoryDecision]:
        """Decisions about all kinds that pass the filter, newest first."""
        where, values = audit.conditions("d", filter)
        with self.database.reading() as db:
            return listing.decisions(db, where, values, limit=limit)

    def count_decisions(self, filter: AuditFilter = _ALL) -> int:
        """How many decisions pass the filter."""
        where, values = audit.conditions("d", filter)
        return int(self.database.row(f"SELECT count(*) FROM decisions d WHERE {where}", values)[0])

    def decision(self, id: str) -> MemoryDecision | None:
        """One decision; None if there is none with this id."""
        with self.database.reading() as db:
            return next(iter(listing.decisions(db, "d.id = ?", [id])), None)

    def last_decision(self, *, by: str) -> MemoryDecision | None:
        """This person's latest decision that can be undone, or, to an agent, its own; None if none."""
        with self.database.reading() as db:
            return listing.last_decision(db, by, agent=self.actor.agent)

    def why_no_undo(self, *, by: str) -> str:
        """Why this person has nothing to undo, as a sentence without a full stop."""
        with self.database.reading() as db:
            is_barred = listing.last_erasure(db, by, agent=self.actor.agent)
        return AT_FORGETTING if is_barred else "nothing to undo"

    def last_undo(self, *, by: str) -> MemoryDecision | None:
        """This person's latest decision, if it was an undo that can be redone; else None."""
        with self.database.reading() as db:
            return listing.last_undo(db, by, agent=self.actor.agent)

    def undo(self, *, actor: str = "", decision: str | None = None) -> Outcome:
        """Undo the person's own last decision; an agent's own, nobody else's, to an agent.

        Raises NothingToUndo if there is none, or only decisions before the person deleted something for good.
        """

        def last(db: sqlite3.Connection, by: str) -> str:
            if found := listing.last_decision(db, by, agent=self.actor.agent):
                return found.id
            raise NothingToUndo(self.why_no_undo(by=by))

        return self._reverse("undo", last, actor=actor, id=decision)

    def redo(self, *, actor: str = "", decision: str | None = None) -> Outcome:
        """Redo the person's own last undo.

        Raises NothingToUndo if there is none, or the person decided something since.
        """

        def last(db: sqlite3.Connection, by: str) -> str:
            if found := listing.last_undo(db, by, agent=self.actor.agent):
                return found.id
            raise NothingToUndo("nothing to redo")

        return self._reverse("redo", last, actor=actor, id=decision)

    def undo_decision(self, id: str, *, actor: str = "", decision: str | None = None) -> Outcome:
        """Undo this decision of any person, or redo it if it is an undo; nothing if it is undone already.

        One that was undone and redone is undone again. `decision` is the id of the reversal.
        """
        refuse_agents(self.actor, "undo")
        with self.database.reading() as db:
            done = self._done(db, decision)
            last, others = history.last_link(db, id)
            row = db.execute("SELECT verb, reversed, is_final FROM decisions WHERE id = ?", [last]).fetchone()
        if done:
            return done
        if row is None:
            return Outcome(refused=[Refusal(id, "there is no such decision")])
        if row["is_final"]:
            return Outcome(refused=[Refusal(id, "it cannot be undone")])
        if row["reversed"] or others % 2:
            return Outcome()
        verb = "redo" if row["verb"] == "undo" else "undo"
        return self._reverse(verb, lambda *_: last, actor=actor, id=decision)

    def _reverse(
        self, verb: str, choose: Callable[[sqlite3.Connection, str], str], *, actor: str, id: str | None
    ) -> Outcome:
        """Reverse the chosen decision in one transaction; asked again with its id, say what was done."""
        refuse_agents(self.actor, verb)
        parts = dict[str, MemoryChange]()
        with self.database.writing() as db:
            if done := self._done(db, id):
                return done
            chosen = choose(db, actor or self.actor.name)

            def part(kind: str) -> MemoryChange:
                if kind not in parts:
                    parts[kind] = self.kinds[kind].begin(db, verb, actor=actor, decision=new)
                return parts[kind]

            new = id or uuid4().hex
            outcome = reverse(db, chosen, verb=verb, change_of=part)
            for change in parts.values():
                change.finish()
        if parts:
            outcome.decision = new
        for kind in parts:
            self.kinds[kind].changed()
        return outcome

    def _done(self, db: sqlite3.Connection, id: str | None) -> Outcome | None:
        """What the decision with this id has done; None if there is none yet."""
        if id is None or not (found := listing.decisions(db, "d.id = ?", [id])):
            return None
        if found[0].actor != self.actor.name:
            raise NotPermitted("another user made a decision with this id")
        rows = db.execute(
            "SELECT h.id FROM history h JOIN decisions d ON d.number = h.decision WHERE d.id = ? "
            "ORDER BY h.number",
            [id],
        )
        return Outcome([*dict.fromkeys(row["id"] for row in rows)], decision=id, reversed=found[0].reverses)
