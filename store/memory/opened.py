"""The text memory of one root without its verbs: all kinds, opened together, with one writer."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import Self
from uuid import uuid4

from store.catalog import snapshots
from store.catalog.catalog import DISK_ERRORS
from store.catalog.history import (
    FORGET,
    FORGET_VECTORS,
    MOVE_ASIDE,
    PROGRAM,
    DecisionLog,
    Told,
    Undo,
    Verb,
)
from store.chroma.follower import ChromaFollower, FollowedByChroma, warn_behind
from store.chroma.place import describe_place
from store.disk.aside import Aside, finish_moves, moved_aside
from store.disk.exchange import finish_exchanges, finish_for_reading
from store.disk.files import Disk
from store.disk.lock import WriterLock, Writers, holder
from store.disk.sqlite import SqliteFile, is_replica
from store.embedding import open_embedder
from store.embedding.active_model import with_shared_models
from store.embedding.protocol import Embedder
from store.errors import MemedexError, ModelUnavailable, NotWritten, ReadOnly
from store.jobs.background_worker import Worker
from store.memory import memories
from store.memory.chroma_source import MemorySource, behind
from store.memory.documents import schema
from store.memory.documents.documents import Documents
from store.memory.engine import reembedding
from store.memory.engine.change import refuse_agents
from store.memory.engine.database import ERASING, SUMMED, Places
from store.memory.engine.entries import Entries, asked_vectors
from store.memory.engine.erasing import erase_traces
from store.memory.engine.inputs import InvalidInput
from store.memory.engine.kind import DEFAULT, LOCAL
from store.memory.engine.point_in_time import Changed, as_of
from store.memory.engine.retrievals import take_in_lines
from store.memory.kinds import Kinds, OpenedKinds
from store.memory.memories import Memories
from store.memory.story import lore, sessions
from store.memory.story.lore import Lore
from store.memory.story.sessions import Sessions
from store.memory.transcripts import tables
from store.memory.transcripts.transcripts import Transcripts
from store.outcome import Outcome, Refusal
from store.permissions import OPERATOR, Actor
from store.progress import Progress

PERIOD = 1.0  # seconds between two looks at what other processes wrote
PATIENCE = 60.0  # seconds that a deletion for good waits for the process that keeps the files
_STEP = 0.02
_COPIES = 3600.0  # seconds between two looks whether daily copies are due; closing looks as well


class MemoryMaintainer:
    """This process's part in keeping one memory."""

    def __init__(self, memory: "OpenedMemory", lock: WriterLock) -> None:
        self.follower: ChromaFollower | None = None  # once this process keeps the memory
        self._memory = memory
        self._lock = lock
        self._copies_due = time.monotonic() + _COPIES
        self._turn = threading.RLock()  # its own thread, and those that delete for good
        self._watch = Worker("keeping the text memory in order", self.maintain)
        self._renewal = Worker("embedding texts by the model's new version", self._renew, is_unhurried=True)

    def maintain(self, _: Progress | None = None) -> None:
        """Do what other processes left to do, or take over from one that ended; done from time to time."""
        if self._keep() and time.monotonic() >= self._copies_due:
            self._keep_copies()
        self._watch.wake(after=PERIOD)

    def finish_erasing(self, entries: Entries) -> None:
        """Leave nothing of what was deleted for good. Raises NotWritten if its keeper does not come to it."""
        until = time.monotonic() + PATIENCE
        while entries.database.meta(ERASING) and not self._keep():
            if time.monotonic() > until:
                keeper = holder(self._memory.places.lock)
                raise NotWritten(
                    f"it is deleted, but copies may be left in files that {keeper} keeps; "
                    "they go when that one has time, or ends"
                )
            time.sleep(_STEP)

    def close(self, progress: Progress | None = None, *, longest: float = inf) -> str:
        """Finish the current work as `ChromaFollower.close`, then let another process take over."""
        self._renewal.close()
        self._watch.close()
        try:
            if self._watch.has_begun:
                with suppress(MemedexError, *DISK_ERRORS):  # the next opening does it
                    self._keep()
            lag = self.follower.close(progress, longest=longest) if self.follower else ""
            if self._watch.has_begun:
                self._keep_copies()
            return lag
        finally:
            self._lock.release()

    def detach_after_fork(self) -> None:
        """In a forked child: leave the lock to the parent."""
        self._lock.detach_after_fork()

    def _keep(self) -> bool:
        """Finish deletions of all processes and let Chroma follow; False if another process keeps it."""
        with self._turn:
            if self.follower is None and not (self._lock.is_held or self._lock.try_acquire()):
                return False
            self.follower = follower = self.follower or self._take_over()
            for entries in self._memory.usable:
                if erase_traces(entries, follower.purge):  # the copies lack this kind
                    self._copies_due = time.monotonic()
            follower.wake_if_needed()
            return True

    def _take_over(self) -> ChromaFollower:
        memory = self._memory
        memory._recover()
        self._renewal.wake(after=PERIOD)
        return ChromaFollower(
            MemorySource(memory.places.root, memory.usable), memory.database, memory.places.chroma,
            into=memory.places.folder, note=memory._note_aside, disk=memory._disk,
        )  # fmt: skip

    def _keep_copies(self) -> None:
        """Have a copy of the file, if this process keeps the memory (`store/catalog/snapshots.py`)."""
        self._copies_due = time.monotonic() + _COPIES
        if self.follower and not self._memory.database.fault:
            with suppress(MemedexError, *DISK_ERRORS):  # no room, or damaged: doctor says so
                snapshots.keep_current(self._memory.database, SUMMED)

    def _renew(self, progress: Progress) -> None:
        """Embed again what another version embedded with other numbers, or, once, by a former default."""
        for entries in self._memory.usable:
            default = entries.kind.default_model
            has_former = entries.model == LOCAL != default == entries.kind.configured_model
            with suppress(ModelUnavailable):
                if has_former and entries.database.meta(DEFAULT) != default:
                    if reembedding.reembed(entries, self._memory._models(default), progress=progress):
                        entries.database.set_meta(DEFAULT, default)
                elif reembedding.is_outdated(entries):
                    reembedding.embed_new(entries, progress=progress)


log = logging.getLogger(__name__)

_QUESTIONS = 16  # whose vectors are kept
_ERASED = f"d.verb IN {(FORGET, FORGET_VECTORS)}"
_BY = "d.who = :by AND d.agent = :agent"
_TEXTS = Told(
    "(SELECT json_group_array(DISTINCT h.kind) FROM history h WHERE h.decision = d.number) AS kinds",
    "SELECT h.id FROM history h JOIN decisions d ON d.number = h.decision WHERE d.id = :id ORDER BY h.number",
    _BY,
    "(NOT d.is_final)",
    f"SELECT max(d.number) FROM decisions d WHERE {_BY} AND {_ERASED}",
)


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """The memory's health, in words for a page."""

    can_write: bool
    counts: dict[str, int]  # entries of each kind
    models: dict[str, str]
    to_embed: dict[str, int]  # entries without a vector of their kind's model
    chroma_behind: int  # entries
    chroma_fault: str  # "" while Chroma follows
    faults: dict[str, str] = field(default_factory=dict)  # kind → why its file cannot be used, what to do
    moved_aside: tuple[str, ...] = ()  # what others left in the way, and where it lies now


class OpenedMemory(FollowedByChroma):
    """Agent memories, lore, sessions, documents and transcripts below one root; thread-safe."""

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        embedder: Embedder | None = None,
        models: Callable[[str], Embedder] = open_embedder,
        disk: Disk | None = None,
        clock: Callable[[], float] = time.time,
        may_keep: bool = True,
    ) -> Self:
        """Open the text memory of this root, or create it; other processes may write to it as well.

        One that `may_keep` it keeps it in order; an agent's, open for days, may not. A replica is opened for
        reading. `models` opens a model by name, `embedder` replaces all.
        """
        root = Path(root).resolve()
        make = partial(cls, root, embedder=embedder, models=models, disk=disk, clock=clock)
        if is_replica(Places(root).database):
            return make()
        if not may_keep:
            finish_exchanges(root)
            return make(writes=True)
        opened = _writers.open(
            root, lambda lock: make(lock=lock), lock=Places(root).lock, acquire=WriterLock.try_acquire
        )
        assert isinstance(opened, cls)
        return opened

    @classmethod
    def open_for_reading(
        cls,
        root: Path,
        *,
        embedder: Embedder | None = None,
        models: Callable[[str], Embedder] = open_embedder,
    ) -> Self:
        """Open it while another process writes; created, or brought up to date, first if necessary."""
        root = Path(root).resolve()
        if not is_replica(Places(root).database):
            finish_for_reading(root)
        try:
            return cls(root, embedder=embedder, models=models)
        except ReadOnly:  # a file is missing or older: a process that may write has to open it once
            cls.open(root, embedder=embedder, models=models).close()
            return cls(root, embedder=embedder, models=models)

    def __init__(
        self,
        root: Path,
        *,
        embedder: Embedder | None,
        models: Callable[[str], Embedder],
        disk: Disk | None = None,
        clock: Callable[[], float] = time.time,
        lock: WriterLock | None = None,
        writes: bool = False,
    ) -> None:
        """`lock` is for a memory that may be kept in order here, whether this process has it now or not."""
        self.places = Places(root)
        self.actor: Actor = OPERATOR
        self._maintainer: MemoryMaintainer | None = None
        self._writes = writes or lock is not None
        self._clock = clock
        self._models = with_shared_models(models)
        give = partial(
            Entries, retrievals=self.places.retrievals, embedder=embedder, models=self._models,
            clock=clock, asked=asked_vectors(_QUESTIONS),
            finish_erasing=self._finish_erasing,
        )  # fmt: skip
        self._opened = OpenedKinds(self.places, give, disk=disk, writable=self._writes, lock=lock)
        self.database = self._opened.database
        self.kinds: Kinds = self._opened
        self._refused_worlds: list[Refusal] = []
        self._make_parts()
        self._disk = disk
        if lock:
            self._maintainer = MemoryMaintainer(self, lock)
            try:
                self._maintainer.maintain()
            except BaseException:
                self._end()
                raise

    def for_actor(self, actor: Actor) -> Self:
        """This memory with one person's permissions; connections, locks and vectors are shared."""
        used = copy(self)
        used.actor, used.database = actor, self.database.for_actor(actor)
        used.kinds = Kinds((name, entries.for_actor(actor)) for name, entries in self.kinds.items())
        used._make_parts()
        return used

    def as_of(
        self,
        moment: float | None,
        *,
        changed: Mapping[str, Changed] | None = None,
        embedder: Embedder | None = None,
    ) -> Self:
        """This memory as it was at a moment (UNIX seconds), to ask and close. Raises InvalidInput."""
        self.actor.check_login()
        if moment is not None and not moment <= self._clock():  # not a number either
            raise InvalidInput("this moment has not come yet")
        used = copy(self)
        used._maintainer, used._writes = None, False
        past = partial(as_of, moment=moment, embedder=embedder)
        used.kinds = Kinds(
            (name, entries if entries.fault else past(entries, changed=(changed or {}).get(name)))
            for name, entries in self.kinds.items()
        )
        used._make_parts()
        return used

    @property
    def can_write(self) -> bool:
        """Whether this memory is open for writing, and this actor may change it."""
        return self._writes and self.actor.can_write

    def _make_parts(self) -> None:
        """Make one part for each kind, with its verbs, and those that undo."""
        self.log = DecisionLog(self.database, _TEXTS)
        self._undo = Undo(self.log, turn=self.database.writing, reverse=self._reverse, after=self._reversed)
        self.memories = Memories(self.kinds[memories.KIND.name])
        self.documents = Documents(self.kinds[schema.KIND.name], originals=self.places.originals)
        self.lore = Lore(self.kinds[lore.KIND.name], folder=self.places.worlds, refused=self._refused_worlds)
        self.session_memory = Sessions(self.kinds[sessions.KIND.name])
        self.transcripts = Transcripts(self.kinds[tables.KIND.name])

    def _recover(self) -> None:
        """Finish what earlier processes left, and load world files that changed."""
        if self.usable:
            finish_moves(self.places.folder, note=self._note_aside, disk=self._disk or Disk())
        take_in_lines(self.places.retrievals)
        if not self.documents.entries.fault:
            self.documents.tidy()
        if not self.lore.entries.fault:
            self.places.worlds.mkdir(parents=True, exist_ok=True)
            self.lore.load_worlds()

    @property
    def usable(self) -> list[Entries]:
        """The kinds whose files can be used."""
        return [entries for entries in self.kinds.values() if not entries.fault]

    def _note_aside(self, aside: Aside) -> None:
        """Record that another program's file was moved aside, which cannot be undone."""
        place = aside.place.relative_to(self.places.root).as_posix()
        entries = self.usable[0]
        query = "SELECT 1 FROM history WHERE kind = ? AND id = ?"
        if not self.database.row(query, [entries.kind.name, place]):
            with self.database.writing() as db:
                change = entries.begin(db, MOVE_ASIDE, actor=PROGRAM)
                change.record_final("files", place, {"what": aside.what})

    @property
    def _follower(self) -> ChromaFollower | None:
        return self._maintainer.follower if self._maintainer else None

    def _led(self) -> tuple[SqliteFile, ChromaFollower | None]:
        return self.database, self._follower

    def _finish_erasing(self, entries: Entries) -> None:
        maintainer = self._maintainer or MemoryMaintainer(self, WriterLock(self.places.lock))
        try:
            maintainer.finish_erasing(entries)
        finally:
            if maintainer is not self._maintainer:  # for this alone
                maintainer.close()

    def _follow_if_free(self, progress: Progress | None, longest: float) -> str:
        """Let Chroma follow what was written here, unless another process keeps the memory and does so."""
        if not any(map(behind, self.usable)):
            return ""
        maintainer = MemoryMaintainer(self, WriterLock(self.places.lock))
        with suppress(MemedexError, *DISK_ERRORS):  # the next opening does it
            maintainer.maintain()
        return maintainer.close(progress, longest=longest)

    @property
    def generation(self) -> tuple[int, ...]:
        """Changes with every change of an entry or a model, and with every counted question."""
        row = self.database.row(
            "SELECT (SELECT coalesce(max(number), 0) FROM changes), "
            "(SELECT coalesce(sum(times), 0) FROM queried), "
            "(SELECT coalesce(max(number), 0) FROM decisions), "
            "(SELECT coalesce(sum(value), 0) FROM meta WHERE key GLOB '* epoch')"
        )
        return tuple(row)

    def undo(self, *, actor: str = "", decision: str | None = None) -> Outcome:
        """Undo the person's own last decision, or to an agent its own. Raises NothingToUndo."""
        refuse_agents(self.actor, "undo")
        return self._undo.last("undo", actor=actor, id=decision)

    def redo(self, *, actor: str = "", decision: str | None = None) -> Outcome:
        """Redo the person's own last undo. Raises NothingToUndo if there is none since the last decision."""
        refuse_agents(self.actor, "redo")
        return self._undo.last("redo", actor=actor, id=decision)

    def undo_decisions(
        self, decisions: Sequence[str], *, actor: str = "", decision: str | None = None
    ) -> Outcome:
        """Undo these decisions as `Library.undo_decisions`: each in one transaction over all its kinds."""
        refuse_agents(self.actor, "undo")
        return self._undo.decisions(decisions, actor=actor, id=decision)

    def _reverse(
        self, chosen: str, verb: Verb, outcome: Outcome, *, actor: str, id: str | None, progress: Progress
    ) -> bool:
        decision = id or uuid4().hex
        with self.database.writing() as db:
            change = self.memories.entries.begin(db, verb, actor=actor, decision=decision)
            change.reverse(chosen, outcome, kinds={name: one.kind for name, one in self.kinds.items()})
            change.finish()
        if change.is_begun:
            outcome.decision = decision
        return True

    def _reversed(self, outcome: Outcome) -> None:
        """Exchange files of worlds with those of the state before."""
        if outcome.reversed and not self.lore.entries.fault:
            outcome.refused += self.lore.exchange_files(decision=outcome.reversed)

    def status(self) -> MemoryStatus:
        """The memory's health."""
        follower, is_on = self._follower, describe_place() != "off"
        return MemoryStatus(
            can_write=self.can_write,
            counts={name: entries.count() for name, entries in self.kinds.items()},
            models={name: entries.model for name, entries in self.kinds.items()},
            to_embed={name: entries.to_embed() for name, entries in self.kinds.items()},
            chroma_behind=follower.behind if is_on and follower else 0,
            chroma_fault=follower.fault if follower else "",
            faults={name: one.fault for name, one in self.kinds.items() if one.fault},
            moved_aside=tuple(one.summary for one in moved_aside(self.places.folder)),
        )

    def close(self, *, progress: Progress | None = None, longest: float = inf) -> None:
        """Finish, let Chroma catch up as `LibraryRuntime.close`, and release the lock; safe to repeat."""
        lag: list[str] = []
        if self._maintainer:
            _writers.close(self.places.root, self, end=lambda: lag.append(self._end(progress, longest)))
        else:
            lag.append(self._end(progress, longest))
        warn_behind("".join(lag))

    def detach_after_fork(self) -> None:
        """In a forked child: leave the lock to the parent, as SQLite files do."""
        if self._maintainer:
            self._maintainer.detach_after_fork()

    def _end(self, progress: Progress | None = None, longest: float = inf) -> str:
        try:
            if self._maintainer:
                return self._maintainer.close(progress, longest=longest)
            is_view = self.kinds is not self._opened  # of one actor or moment
            return "" if is_view or not self._writes else self._follow_if_free(progress, longest)
        finally:
            if self.kinds is self._opened:
                self._opened.close()
            else:  # a copy for one actor or moment
                for entries in self.kinds.values():
                    entries.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_writers: Writers[OpenedMemory] = Writers()
