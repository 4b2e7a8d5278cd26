"""Making the catalog agree with the sidecars: on opening by size and time, in doctor by content."""

import sqlite3
import time
from dataclasses import dataclass
from uuid import uuid4

from store import history, listing
from store.catalog import Catalog, next_generation
from store.errors import InvalidRecord
from store.journal import Journal
from store.layout import Layout
from store.operations import Change, Operation, State, state_json
from store.records import Tier
from store.sidecars import Pair, read, scan

OUTSIDE = "outside the program"  # who changed a file that we did not
_LATER_FIRST: tuple[Tier, ...] = ("library", "approved", "pending", "trash")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a record's files, in plain words."""

    address: str
    reason: str


def agree(catalog: Catalog, layout: Layout, journal: Journal) -> list[Fault]:
    """Take in what was changed outside, each with a history event; return what cannot be taken in."""
    pairs = scan(layout)
    with catalog.reading() as db:
        rows = {row["address"]: row for row in db.execute("SELECT * FROM records")}
    busy = {change.address for operation in journal.unfinished() for change in operation.changes}
    agreement = _Agreement(catalog, layout, journal)
    for address, pair in _places(pairs, rows, agreement):
        if address not in busy:
            agreement.compare(address, rows.get(address), pair)
    for address in rows.keys() - {address for _, address in pairs} - busy:
        agreement.vanished(rows[address])
    agreement.write()
    return agreement.faults


def is_stale(catalog: Catalog, layout: Layout) -> bool:
    """Whether the files differ from the catalog, by size and time alone."""
    pairs = scan(layout)
    with catalog.reading() as db:
        if db.execute("SELECT 1 FROM journal").fetchone():
            return True
        known = {
            (row["tier"], row["address"]): Pair(row["sidecar_stat"], row["image_stat"])
            for row in db.execute("SELECT tier, address, sidecar_stat, image_stat FROM records")
        }
    return pairs != known


def _places(
    pairs: dict[tuple[Tier, str], Pair], rows: dict[str, sqlite3.Row], agreement: "_Agreement"
) -> list[tuple[str, tuple[Tier, Pair]]]:
    """One tier for each address: where the catalog says, else the later one."""
    by_address: dict[str, dict[Tier, Pair]] = {}
    for (tier, address), pair in pairs.items():
        by_address.setdefault(address, {})[tier] = pair
    chosen = []
    for address, places in by_address.items():
        whole = [tier for tier in _LATER_FIRST if tier in places and places[tier].sidecar] or list(places)
        known = rows[address]["tier"] if address in rows else None
        tier = known if known in places and (places[known].sidecar or len(places) == 1) else whole[0]
        for other in places.keys() - {tier}:
            agreement.faults.append(Fault(address, f"also lies in {other}; the one in {tier} counts"))
        chosen.append((address, (tier, places[tier])))
    return chosen


class _Agreement:
    """What was found, gathered first and written in one transaction."""

    def __init__(self, catalog: Catalog, layout: Layout, journal: Journal) -> None:
        self.faults: list[Fault] = []
        self._catalog = catalog
        self._layout = layout
        self._journal = journal
        self._touched: list[tuple[str, State]] = []  # same content, other size or time
        self._changed: list[Change] = []
        self._gone: list[sqlite3.Row] = []
        self._texts: dict[str, str] = {}

    def compare(self, address: str, row: sqlite3.Row | None, place: tuple[Tier, Pair]) -> None:
        tier, pair = place
        if (
            row
            and row["tier"] == tier
            and (row["sidecar_stat"], row["image_stat"]) == (pair.sidecar, pair.image)
        ):
            return
        if not pair.sidecar:
            what = "the sidecar is missing" if row else f"a picture in {tier} without a sidecar"
            self.faults.append(Fault(address, what))
            return
        if not pair.image:
            self.faults.append(Fault(address, f"the picture is missing in {tier}"))
            return
        try:
            state, content = read(self._layout, tier, address)
        except InvalidRecord as error:
            self.faults.append(Fault(address, str(error)))
            return
        before = listing.state_of(row) if row else None
        if before and before.tier == tier:
            state = State(tier, state.sidecar_hash, state.image_hash, before.came_from)
        if state == before:
            self._touched.append((address, state))
        else:
            self._texts[state.sidecar_hash] = content.decode()
            self._changed.append(Change(address, before, state, row["revision"] if row else 0))

    def vanished(self, row: sqlite3.Row) -> None:
        """Both files are gone: somebody removed the record by hand."""
        self._gone.append(row)

    def write(self) -> None:
        if not (self._touched or self._changed or self._gone):
            return
        now, decision = time.time(), f"outside-{uuid4().hex}"
        with self._catalog.writing() as db:
            generation = next_generation(db)
            for address, state in self._touched:
                db.execute(
                    "UPDATE records SET sidecar_stat = ?, image_stat = ? WHERE address = ?",
                    [*self._journal.stats(state, address), address],
                )
            db.executemany("INSERT OR IGNORE INTO sidecars VALUES (?, ?)", self._texts.items())
            for change in self._changed:
                self._take_in(db, change, now, generation)
            changes = tuple(self._changed)
            if changes:
                history.note(db, Operation(uuid4().hex, decision, "change", OUTSIDE, now, changes))
            for row in self._gone:
                self._take_out(db, row, now, decision, generation)

    def _take_in(self, db: sqlite3.Connection, change: Change, now: float, generation: int) -> None:
        try:
            db.execute("SAVEPOINT one")
            listing.put(
                db,
                change.address,
                change.after,
                stats=self._journal.stats(change.after, change.address),
                now=now,
                generation=generation,
                embeddings={},
            )
        except sqlite3.IntegrityError:
            db.execute("ROLLBACK TO one")
            self.faults.append(Fault(change.address, "differs only in case from another record's address"))
        finally:
            db.execute("RELEASE one")
        if "library" in (change.after.tier, change.before and change.before.tier):
            db.execute("INSERT OR REPLACE INTO chroma_queue VALUES (?, ?)", [change.address, generation])

    def _take_out(
        self, db: sqlite3.Connection, row: sqlite3.Row, now: float, decision: str, generation: int
    ) -> None:
        listing.forget(db, row["id"])
        db.execute(
            "INSERT INTO history (decision, verb, address, at, who, reason, before, after) "
            "VALUES (?, 'remove', ?, ?, ?, 'its files were removed', ?, NULL)",
            [decision, row["address"], now, OUTSIDE, state_json(listing.state_of(row))],
        )
        db.execute("INSERT OR REPLACE INTO chroma_queue VALUES (?, ?)", [row["address"], generation])
