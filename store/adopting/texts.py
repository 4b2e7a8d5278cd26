"""Take texts of other programs into the memory: one decision, in batches, resumable; check their vectors."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import uuid4

import numpy as np

from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey
from store.disk.sqlite import marks
from store.embedding.protocol import checked, unit
from store.errors import ModelUnavailable
from store.memory.engine.change import MemoryChange
from store.memory.engine.entries import Entries
from store.memory.engine.foreign import keep_fields, model_name
from store.memory.engine.kind import UNKNOWN, NewVectors, source
from store.memory.engine.reembedding import embed_new
from store.memory.kinds import TRANSCRIPTS
from store.memory.memory import Memory
from store.memory.text.secrets import masked, told
from store.memory.transcripts.intake import CHUNK_COLUMNS, COLUMNS, Messages
from store.memory.transcripts.transcripts import AWAITED
from store.outcome import Refusal
from store.progress import Progress, batches

VERB = "adopt"
_BEGUN = "adopting"  # in `meta`: the adoption that has not come to its end, and its decision
_REMOVED = "it was removed here after an earlier adoption"
_NAMED = 5  # values that cannot be read
_OTHER = "there is another entry with this id here; it was not overwritten"
SAMPLE = 8  # texts
TOLERANCE = 1e-3  # for each number of two unit vectors
_SHORT = 500  # characters: longer texts may be cut by one program and not by another

Sample = Sequence[tuple[str, bytes | None]]  # texts with their vectors

_AT_ONCE = 500  # ids in one question to the database


@dataclass(slots=True)
class Entry:
    """An entry to take, as a row of its kind."""

    row: dict[str, Any]
    vector: bytes | None = None  # float32
    model: str = ""  # of the vector, as `model_name` spells it
    metadata: Mapping[str, Any] = field(default_factory=dict)  # what came with it and has no column
    may_be_renamed: bool = False  # if another entry has the id
    is_listed: bool = True  # in the report
    written: str | None = None  # when, if the kind has no column for it: ISO 8601 in UTC
    unread: tuple[str, ...] = ()  # what of it means nothing, such as "its page 'iv' is no number"
    masked: Counter[str] = field(default_factory=Counter)  # secrets that were masked before, by what they are


def without_secrets(entry: Entry, text: str, found: Counter[str]) -> Entry:
    """The entry with masks in its column `text` and its metadata, for secrets, which are counted.

    A vector that came is of the text with its secrets, and is not taken.
    """
    row = {**entry.row, text: masked(entry.row[text], found)}
    metadata = masked(entry.metadata, found)
    return replace(entry, row=row, metadata=metadata, vector=None) if found else entry


class Adoption:
    """One source's entries on their way into the memory."""

    def __init__(
        self, memory: Memory, survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> None:
        self.memory = memory
        self.report = AdoptionReport(survey.system, str(survey.path))
        self.actor = request.actor or memory.actor.name
        self.progress = progress
        progress.total = survey.count
        # All systems of one source are one decision.
        self._key = sha256(str(survey.path).encode()).hexdigest()
        self._unread: list[str] = []
        self.secrets = Counter[str]()  # that were masked, by their kind
        self.decision, self._is_resumed = self._begun()
        self.report.texts = self.decision

    def take(self, into: Entries, entries: Sequence[Entry], *, table: str = "") -> int:
        """Take one batch in one transaction; entries that are here already stay as they are.

        Returns how many were taken now.
        """
        if not entries:
            return 0
        table = table or into.kind.table
        with into.change(VERB, actor=self.actor, decision=self.decision) as change:
            known = _Known(change, table, [entry.row["id"] for entry in entries])
            taken = sum(self._take_one(change, table, entry, known) for entry in entries)
        self._unread += [f"{entry.row['id']}: {what}" for entry in entries for what in entry.unread]
        self.progress.done += len(entries)
        return taken

    def take_messages(self, into: Entries, given: Messages) -> set[str]:
        """Take messages with their chunks in one transaction; returns the ids of those taken now."""
        ids = [one.id for one in given.fresh]
        with into.change(VERB, actor=self.actor, decision=self.decision) as change:
            known = _Known(change, "transcripts", [*ids, *(given.present if self._is_resumed else ())])
            new = [one for one in given.fresh if one.id not in known.rows.keys() | known.removed]
            came = datetime.fromtimestamp(into.clock(), UTC).isoformat(timespec="seconds")
            change.add((*COLUMNS, "synced_at"), [(*one.row, came) for one in new], table="transcripts")
            chunks = [(*row, came) for one in new for row in one.chunks]
            change.add((*CHUNK_COLUMNS, "created_at"), chunks)
        self.report.taken += (one.id for one in new)
        for one in given.fresh:
            if one.id in known.removed:
                self.refuse(one.id, _REMOVED)
            elif one.id in known.rows:
                row = dict(zip(COLUMNS, one.row, strict=True))
                self._count_present(one.id, known.rows[one.id], row, known)
        is_own = {id for id in given.present if self._is_resumed and known.adopted.get(id) == self.decision}
        self.report.taken += is_own
        self.report.present += [id for id in given.present if id not in is_own]
        return {one.id for one in new}

    def tell_unread(self) -> None:
        """Note the values of the entries so far that could not be read; they are in the metadata."""
        for sentence in self._unread[:_NAMED]:
            self.note(f"{sentence}; it is left empty")
        if (more := len(self._unread) - _NAMED) > 0:
            self.note(f"{more:,} more values that cannot be read are left empty")
        self._unread.clear()
        self.note(told(self.secrets))
        self.secrets.clear()

    def embed(self, into: Entries) -> None:
        """Embed what came without a usable vector; what the model cannot do waits for `memory doctor`."""
        self.tell_unread()
        if not (missing := into.without_vector()):
            return
        if into.kind.name == TRANSCRIPTS and missing > AWAITED:
            self.note(
                f"{missing:,} chunks are found by words alone; "
                f"`memory model {into.model} --kind {TRANSCRIPTS}` embeds them"
            )
            return
        self.progress.what = "embedding (found by words already)"
        self.progress.total, self.progress.done = missing, 0
        try:
            embed_new(into, progress=self.progress)
        except ModelUnavailable as error:
            self.note(f"{into.kind.name}: {missing:,} entries wait for a vector ({error})")
        self.report.embedded += self.progress.done

    def refuse(self, item: str, reason: str) -> None:
        """Report an item that was not adopted, and why."""
        self.report.refused.append(Refusal(item, reason))

    def note(self, sentence: str) -> None:
        """Report a sentence about the source once; an empty one is ignored."""
        if sentence and sentence not in self.report.notes:
            self.report.notes.append(sentence)

    def _begun(self) -> tuple[str, bool]:
        """The decision of the same adoption if it was interrupted, else a new one."""
        usable = self.memory.usable
        for into in usable:
            begun = json.loads(into.database.meta(_BEGUN) or "{}")
            if begun.get("key") == self._key:
                known = self.memory.log.get(str(begun["decision"]))  # a number, up to version 1.2
                if known and not known.is_undone:
                    return known.id, True
        decision = uuid4().hex
        usable[0].database.set_meta(_BEGUN, json.dumps({"key": self._key, "decision": decision}))
        return decision, False

    def _take_one(self, change: MemoryChange, table: str, entry: Entry, known: "_Known") -> bool:
        text = change.kind.text if table == change.kind.table else ""
        id, found = entry.row["id"], Counter(entry.masked)
        before = known.rows.get(id)
        if text and before != entry.row:
            entry = without_secrets(entry, text, found)
        row = entry.row
        is_new = known.adopted.get(id, self.decision) == self.decision  # not one that was edited since
        if before not in (None, row) and entry.may_be_renamed and is_new:
            id = f"{id}_{sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:8]}"
            row = {**row, "id": id}
            before = known.look_up(id)
        if before is not None:
            if entry.is_listed:
                self._count_present(id, before, row, known)
            return False
        if id in known.removed:
            self.refuse(id, _REMOVED)
            return False
        if text:
            self._store_vector(change, entry, row[text])
        self.secrets += found
        change.upsert(row, table=table)
        if entry.metadata:
            keep_fields(change, id, entry.metadata)
        known.rows[id] = row
        known.adopted[id] = self.decision
        if entry.is_listed:
            self.report.taken.append(id)
        return True

    def _count_present(self, id: str, before: dict[str, Any], row: dict[str, Any], known: "_Known") -> None:
        if self._is_resumed and known.adopted.get(id) == self.decision:
            self.report.taken.append(id)
        elif id in known.adopted or all(before.get(name) == value for name, value in row.items()):
            self.report.present.append(id)
        else:
            self.refuse(id, _OTHER)

    def _store_vector(self, change: MemoryChange, entry: Entry, text: str) -> None:
        """Keep a vector that came with an entry, under the name of its model."""
        if entry.vector is not None:
            self.report.reused += 1
            into = self.memory.kinds[change.kind.name]
            model = into.version if entry.model == into.model else entry.model
            change.store(NewVectors(model, {source(model, text).key: entry.vector}))


def finish(memory: Memory) -> None:
    """Nothing is left to be resumed."""
    for into in memory.usable:
        if into.database.meta(_BEGUN):
            into.database.set_meta(_BEGUN, "")


class _Known:
    """The memory's rows with these ids."""

    def __init__(self, change: MemoryChange, table: str, ids: Sequence[str]) -> None:
        self._db, self._table = change.db, table
        self.rows: dict[str, dict[str, Any]] = {}
        self.adopted: dict[str, str] = {}  # id → the adoption that brought it
        self.removed: set[str] = set()  # brought by an adoption, and removed by a person since
        for part in batches(ids, _AT_ONCE):
            self._read(part)

    def look_up(self, id: str) -> dict[str, Any] | None:
        """The row of an id that was not among those given."""
        self._read([id])
        return self.rows.get(id)

    def _read(self, ids: Sequence[str]) -> None:
        for row in self._db.execute(f"SELECT * FROM {self._table} WHERE id IN ({marks(ids)})", ids):
            self.rows[row["id"]] = {name: row[name] for name in row.keys() if name != "number"}  # noqa: SIM118
        events = self._db.execute(
            "SELECT h.id, d.id AS decision, d.verb, d.reversed FROM history h JOIN decisions d "
            f"ON d.number = h.decision WHERE h.tbl = ? AND h.id IN ({marks(ids)}) ORDER BY h.number",
            [self._table, *ids],
        )
        for event in events:
            if event["verb"] == VERB and not event["reversed"]:
                self.adopted[event["id"]] = event["decision"]
            if event["verb"].startswith("remove") and not event["reversed"]:
                self.removed.add(event["id"])
        self.removed -= self.rows.keys()


def model_of(into: Entries, sample: Sample, *, named: str = "") -> tuple[str, str]:
    """The model of these vectors, and a sentence if there is something to know about it.

    `named` is what the source or a person says. The kind's own model is only believed if a sample agrees,
    or if it is named and not at hand.
    """
    own, claim = into.model, model_name(named)
    if claim not in (UNKNOWN, own):
        return claim, ""
    chosen = _chosen(sample)
    if not chosen:
        return claim, ""
    try:
        texts = [text for text, _ in chosen]
        embedder = into.embedder
        if embedder.dimensions != len(chosen[0][1]) // 4:
            return UNKNOWN, f"the vectors have {len(chosen[0][1]) // 4:,} numbers and name no model"
        again = checked(embedder.embed_texts(texts), embedder)
    except ModelUnavailable as error:
        if claim == own:
            return own, f"the vectors are taken as those of {own}, unchecked: {error}"
        return UNKNOWN, f"the vectors name no model, and {own} is not at hand: {error}"
    theirs = np.stack([np.frombuffer(vector, "<f4") for _, vector in chosen])
    worst = float(np.abs(unit(again) - unit(theirs)).max())
    if worst <= TOLERANCE:
        return own, ""
    return UNKNOWN, f"the vectors are not those of {own} (a sample differs by {worst:.3f})"


def _chosen(sample: Sample) -> list[tuple[str, bytes]]:
    whole = [(text, vector) for text, vector in sample if vector and text.strip()]
    short = [one for one in whole if len(one[0]) <= _SHORT] or whole
    return short[:: max(1, len(short) // SAMPLE)][:SAMPLE]
