"""Step 1 of the write path: compute all that can fail before an operation goes to the journal."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

from store.catalog import rows
from store.catalog.catalog import Catalog
from store.disk.layout import Layout
from store.embedding import embedding_cache
from store.embedding.prefetch import InFlight
from store.embedding.protocol import Embedder
from store.errors import CatalogDamaged, InvalidRecord, LibraryStuck, MemedexError
from store.operations import Change, DecisionIntent, Operation, State
from store.outcome import Outcome, Refusal
from store.records import Record, validate
from store.writing.journal import CHANGED_OUTSIDE, Journal, Payload
from store.writing.reconcile import reconcile_addresses


class WritePath:
    """The one path of every change."""

    def __init__(
        self,
        catalog: Catalog,
        layout: Layout,
        journal: Journal,
        *,
        embedder: Callable[[], Embedder],
        in_flight: InFlight,
    ) -> None:
        self._catalog = catalog
        self._layout = layout
        self._journal = journal
        self._embedder = embedder
        self._in_flight = in_flight

    def finish_waiting(self) -> None:
        """Finish decisions that wait for the disk, if it lets them be finished by now."""
        if self._journal.stuck:
            with suppress(LibraryStuck), self._catalog.lock:
                self._journal.finish_all()

    def changes(
        self, addresses: Sequence[str], after: Callable[[Record, State], State], outcome: Outcome
    ) -> Iterator[Change]:
        """The changes that bring these records to the states of `after`; refusals go to the outcome."""
        for address in addresses:
            with self._catalog.reading() as db:
                row = db.execute("SELECT * FROM records WHERE address = ?", [address]).fetchone()
                record = rows.get(db, address)
                is_sound = row is not None and rows.is_sound(db, row["sidecar_hash"])
            try:
                if row is None or record is None:
                    raise InvalidRecord("no record has this address")
                state = rows.state_of(row)
                if not is_sound:  # what is made of it would be written into its file
                    raise CatalogDamaged(rows.DAMAGED)
                goal = after(record, state)
            except MemedexError as error:
                outcome.refused.append(Refusal(address, str(error)))
                continue
            if goal == state:
                outcome.done.append(address)
                outcome.unchanged.append(address)
            else:
                yield Change(address, state, goal, row["revision"])

    def carry_out(
        self, decision: DecisionIntent, changes: Sequence[Change], payload: Payload, outcome: Outcome
    ) -> bool:
        """Carry out one operation; problems are reported for each record. False: the disk refused all."""
        ready = [fit for change in changes if (fit := self._with_embeddings(change, payload, outcome))]
        if not ready:
            return True
        try:
            with self._in_flight.foreground({source.key for source in payload.wanted}):
                self._compute_vectors(payload)
                operation = Operation(
                    uuid4().hex, decision.id, decision.verb, decision.actor,
                    time.time() if decision.moment is None else decision.moment,
                    tuple(ready), decision.reason, decision.reverses, decision.sources,
                )  # fmt: skip
                refused = self._journal.perform(operation, payload)
        except (MemedexError, OSError) as error:
            outcome.refused += [Refusal(change.address, str(error)) for change in ready]
            outcome.failure = str(error)
            cause = error.__cause__ if isinstance(error.__cause__, LibraryStuck) else error
            outcome.stuck = str(cause) if self._journal.stuck else ""
            return False
        if outside := [address for address, reason in refused.items() if reason == CHANGED_OUTSIDE]:
            refused |= reconcile_addresses(self._catalog, self._layout, outside)
        outcome.refused += [Refusal(address, reason) for address, reason in refused.items()]
        if done := [change.address for change in ready if change.address not in refused]:
            outcome.done += done
            outcome.decision = decision.id
        return True

    def _with_embeddings(self, change: Change, payload: Payload, outcome: Outcome) -> Change | None:
        """The change with the keys of its vectors, if it ends in the library and is valid for it."""
        if change.after.tier != "library":
            return change
        sidecar = self._sidecar(change.after.sidecar_hash, payload)
        try:
            validate(sidecar, tier="library")
        except InvalidRecord as error:
            outcome.refused.append(Refusal(change.address, f"{error}; write the caption first"))
            return None
        if change.before is None:  # what comes in at once has files, and vectors later
            return change
        if self._says_the_same(change, sidecar):
            with self._catalog.reading() as db:
                return replace(change, embeddings=embedding_cache.keys_of(db, change.address))
        if self._journal.is_changed_outside(change):  # and refused: what lies there is not what is known
            return change
        embedder = self._embedder()
        payload.model = embedder.name
        wanted = embedding_cache.sources(
            sidecar,
            picture=self._layout.image(change.before.tier, change.address),
            image_hash=change.after.image_hash,
            embedder=embedder,
        )
        payload.wanted += wanted.values()
        return replace(change, embeddings={facet: source.key for facet, source in wanted.items()})

    def _says_the_same(self, change: Change, sidecar: dict[str, Any]) -> bool:
        """Whether caption and picture stay as they were in the library, so that no vector changes."""
        before = change.before
        if before is None or before.tier != "library" or before.image_hash != change.after.image_hash:
            return False
        return self._sidecar(before.sidecar_hash, Payload()).get("caption") == sidecar.get("caption")

    def _compute_vectors(self, payload: Payload) -> None:
        with self._catalog.reading() as db:
            unknown = embedding_cache.unknown(db, payload.wanted)
        if unknown:
            payload.vectors |= embedding_cache.embed(unknown, self._embedder())

    def _sidecar(self, digest: str, payload: Payload) -> dict[str, Any]:
        content: bytes | str | None = payload.sidecars.get(digest)
        if content is None:
            content = self._catalog.row("SELECT text FROM sidecars WHERE hash = ?", [digest])[0]
        sidecar: dict[str, Any] = json.loads(content)
        return sidecar
