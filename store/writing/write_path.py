"""Step 1 of design section 4: all that can fail is computed before an operation goes to the journal."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from store import embedded, listing
from store.catalog import Catalog
from store.embedding import Embedder
from store.errors import InvalidRecord, MemedexError
from store.importing.candidate import Refusal
from store.in_hand import InHand
from store.layout import Layout
from store.opening import take_in_of
from store.outcome import Outcome
from store.records import Facet, Record, validate
from store.writing.journal import CHANGED_OUTSIDE, Journal, Payload
from store.writing.operations import Change, Operation, Source, State


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody does in one go: the operations it takes share its id, and are undone together."""

    verb: str
    who: str
    reason: str = ""
    reverses: str | None = None
    sources: Mapping[Facet, Source] = field(default_factory=dict)  # of facets that a model wrote
    id: str = field(default_factory=lambda: uuid4().hex)


class WritePath:
    """The one way every change goes."""

    def __init__(
        self,
        catalog: Catalog,
        layout: Layout,
        journal: Journal,
        *,
        embedder: Callable[[], Embedder],
        in_hand: InHand,
    ) -> None:
        self._catalog = catalog
        self._layout = layout
        self._journal = journal
        self._embedder = embedder
        self._in_hand = in_hand

    def changes(
        self, addresses: Sequence[str], after: Callable[[Record, State], State], outcome: Outcome
    ) -> Iterator[Change]:
        """What has to change for these records to be as `after` says; refusals go to the outcome."""
        for address in addresses:
            with self._catalog.reading() as db:
                row = db.execute("SELECT * FROM records WHERE address = ?", [address]).fetchone()
                record = listing.get(db, address)
            try:
                if row is None or record is None:
                    raise InvalidRecord("no record has this address")
                state = listing.state_of(row)
                goal = after(record, state)
            except MemedexError as error:
                outcome.refused.append(Refusal(address, str(error)))
                continue
            if goal == state:
                outcome.done.append(address)
            else:
                yield Change(address, state, goal, row["revision"])

    def carry_out(
        self, decision: Decision, changes: Sequence[Change], payload: Payload, outcome: Outcome
    ) -> bool:
        """One operation; what goes wrong is told for each record it concerns. False: the disk refused all."""
        ready = [fit for change in changes if (fit := self._with_embeddings(change, payload, outcome))]
        if not ready:
            return True
        try:
            with self._in_hand.decided({source.key for source in payload.wanted}):
                self._compute_vectors(payload)
                operation = Operation(
                    uuid4().hex, decision.id, decision.verb, decision.who, time.time(), tuple(ready),
                    decision.reason, decision.reverses, decision.sources,
                )  # fmt: skip
                refused = self._journal.perform(operation, payload)
        except (MemedexError, OSError) as error:
            outcome.refused += [Refusal(change.address, str(error)) for change in ready]
            return False
        if outside := [address for address, reason in refused.items() if reason == CHANGED_OUTSIDE]:
            refused |= take_in_of(self._catalog, self._layout, outside)
        outcome.refused += [Refusal(address, reason) for address, reason in refused.items()]
        if done := [change.address for change in ready if change.address not in refused]:
            outcome.done += done
            outcome.decision = decision.id
        return True

    def _with_embeddings(self, change: Change, payload: Payload, outcome: Outcome) -> Change | None:
        """The change with the keys of its vectors, when it ends in the library and is fit for it."""
        if change.after.tier != "library" or change.before is None:
            return change
        sidecar = self._sidecar(change.after.sidecar_hash, payload)
        try:
            validate(sidecar, tier="library")
        except InvalidRecord as error:
            outcome.refused.append(Refusal(change.address, f"{error}; write the caption first"))
            return None
        embedder = self._embedder()
        payload.model = embedder.name
        wanted = embedded.sources(
            sidecar,
            picture=self._layout.image(change.before.tier, change.address),
            image_hash=change.after.image_hash,
            embedder=embedder,
        )
        payload.wanted += wanted.values()
        return replace(change, embeddings={facet: source.key for facet, source in wanted.items()})

    def _compute_vectors(self, payload: Payload) -> None:
        with self._catalog.reading() as db:
            unknown = embedded.unknown(db, payload.wanted)
        if unknown:
            payload.vectors |= embedded.embed(unknown, self._embedder())

    def _sidecar(self, digest: str, payload: Payload) -> dict[str, Any]:
        content: bytes | str | None = payload.sidecars.get(digest)
        if content is None:
            with self._catalog.reading() as db:
                content = db.execute("SELECT text FROM sidecars WHERE hash = ?", [digest]).fetchone()[0]
        sidecar: dict[str, Any] = json.loads(content)
        return sidecar
