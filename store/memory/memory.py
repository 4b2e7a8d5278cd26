"""The text memory of one root: all kinds, opened together, with one writer."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from store.embedding import Embedder, open_embedder
from store.errors import NothingToUndo, ReadOnly
from store.files import Disk
from store.lock import WriterLock
from store.memory import documents, lore, memories, sessions, transcript_tables
from store.memory.context import Context, retrieve
from store.memory.documents import Documents
from store.memory.following import Follower
from store.memory.kinds import KINDS
from store.memory.listing import Decision
from store.memory.lore import Lore
from store.memory.memories import Memories
from store.memory.passages import Passages
from store.memory.places import Places
from store.memory.sessions import Sessions
from store.memory.transcripts import Transcripts
from store.outcome import Outcome
from store.people import myself
from store.writers import Writers

_NUMBERED = "numbered_after"  # decisions above this number are numbered in one row with other kinds'


@dataclass(frozen=True, slots=True)
class Status:
    """Whether all is well, in words for a page."""

    can_write: bool
    counts: dict[str, int]  # entries of each kind
    models: dict[str, str]
    to_embed: dict[str, int]  # entries without a vector of their kind's model
    chroma_behind: int  # entries
    chroma_fault: str  # "" while Chroma follows


class Memory:
    """Agent memories, lore, sessions, documents and transcripts below one root; safe to share by threads."""

    READING = frozenset({"retrieve", "status", "last_decision", "wait_for_chroma", "check_chroma"})

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        embedder: Embedder | None = None,
        models: Callable[[str], Embedder] = open_embedder,
        disk: Disk | None = None,
        clock: Callable[[], float] = time.time,
    ) -> "Memory":
        """The text memory of this root, made if there is none; LibraryInUse while another process writes.

        `models` gives models by name, `embedder` stands for all of them.
        """
        root = Path(root).resolve()
        return _writers.open(
            root,
            lambda lock: cls(root, embedder=embedder, models=models, disk=disk, clock=clock, lock=lock),
            lock=Places(root).lock,
        )

    @classmethod
    def open_for_reading(
        cls,
        root: Path,
        *,
        embedder: Embedder | None = None,
        models: Callable[[str], Embedder] = open_embedder,
    ) -> "Memory":
        """The text memory beside whoever writes to it; made, or brought up to date, first if need be."""
        root = Path(root).resolve()
        try:
            return cls(root, embedder=embedder, models=models, disk=None, clock=time.time, lock=None)
        except ReadOnly:  # a file is missing or older: whoever may write has to open it once
            cls.open(root, embedder=embedder, models=models).close()
            return cls(root, embedder=embedder, models=models, disk=None, clock=time.time, lock=None)

    def __init__(
        self,
        root: Path,
        *,
        embedder: Embedder | None,
        models: Callable[[str], Embedder],
        disk: Disk | None,
        clock: Callable[[], float],
        lock: WriterLock | None,
    ) -> None:
        self.places = Places(root)
        self.can_write = lock is not None
        self._lock = lock
        self._models: dict[str, Embedder] = {}
        self._open_model = models
        self._models_lock = threading.Lock()
        self.passages: dict[str, Passages] = {}
        self._follower: Follower | None = None
        try:
            for kind in KINDS:
                self.passages[kind.name] = Passages(
                    root,
                    kind,
                    embedder=embedder,
                    models=self._model,
                    disk=disk,
                    clock=clock,
                    writable=self.can_write,
                    changed=self._wake,
                    latest=self._latest_decision,
                )
        except BaseException:
            for passages in self.passages.values():
                passages.close()
            raise
        self.memories = Memories(self.passages[memories.KIND.name])
        self.documents = Documents(self.passages[documents.KIND.name], originals=self.places.originals)
        self.lore = Lore(self.passages[lore.KIND.name])
        self.sessions = Sessions(self.passages[sessions.KIND.name], purge=self._purge_sessions)
        self.transcripts = Transcripts(self.passages[transcript_tables.KIND.name])
        if self.can_write:
            self._begin()

    def _begin(self) -> None:
        latest = str(self._latest_decision())
        for passages in self.passages.values():
            if not passages.database.meta(_NUMBERED):
                passages.database.set_meta(_NUMBERED, latest)
        self._follower = Follower(self.places, [*self.passages.values()])
        self.sessions.passages.finish_forgetting(self._purge_sessions)  # begun before a crash
        self.documents.tidy()
        self.places.worlds.mkdir(parents=True, exist_ok=True)
        self.lore.load_worlds(self.places.worlds)
        self._follower.wake_if_needed()

    @property
    def generation(self) -> tuple[int, ...]:
        """Another one after every change of an entry or a model, and after every question that counts."""
        found = []
        for passages in self.passages.values():
            with passages.database.reading() as db:
                found += db.execute(
                    "SELECT (SELECT coalesce(max(number), 0) FROM changes), "
                    "(SELECT coalesce(sum(times), 0) FROM queried), "
                    "(SELECT coalesce(max(number), 0) FROM decisions), "
                    "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'epoch')"
                ).fetchone()
        return tuple(found)

    def retrieve(self, prompt: str, *, world: str, character: str, session: str | None = None) -> Context:
        """What a story's model is given for this prompt: two chunks of lore, three memories; logged."""
        return retrieve(self.lore, self.sessions, prompt, world=world, character=character, session=session)

    def last_decision(self, *, by: str) -> tuple[str, Decision] | None:
        """This person's latest decision of any kind that still stands, with the kind's name."""
        found = [
            (name, decision)
            for name, passages in self.passages.items()
            if (decision := passages.last_decision(by=by))
        ]
        return max(found, key=lambda one: self._place(*one)) if found else None

    def undo(self, *, who: str = "") -> Outcome:
        """Take back one's own last decision, of whichever kind; NothingToUndo when there is none."""
        last = self.last_decision(by=who or myself())
        if last is None:
            raise NothingToUndo("there is nothing of yours to undo")
        return self.passages[last[0]].undo(who=who)

    def status(self) -> Status:
        return Status(
            can_write=self.can_write,
            counts={name: passages.count() for name, passages in self.passages.items()},
            models={name: passages.model for name, passages in self.passages.items()},
            to_embed={name: passages.to_embed() for name, passages in self.passages.items()},
            chroma_behind=self._follower.behind if self._follower else 0,
            chroma_fault=self._follower.fault if self._follower else "",
        )

    def wait_for_chroma(self, timeout: float | None = None) -> bool:
        """Until Chroma has all that was decided (True), or fails or takes too long (False)."""
        return self._follower is None or self._follower.wait(timeout)

    def check_chroma(self) -> list[str]:
        """What Chroma says otherwise, in plain words; only the process that writes may look."""
        return self._follower.check() if self._follower else []

    def rebuild_chroma(self) -> None:
        """Make Chroma anew from SQLite's vectors; no model is needed."""
        if self._follower:
            self._follower.rebuild()

    def close(self) -> None:
        """Finish what is at hand and let another process write; a second time changes nothing."""
        if self._lock:
            _writers.close(self.places.root, self, end=self._end)
        else:
            self._end()

    def forget(self) -> None:
        """In a forked child: leave the lock to the parent."""
        if self._lock:
            self._lock.forget()

    def _end(self) -> None:
        try:
            if self._follower:
                self._follower.close()
        finally:
            for passages in self.passages.values():
                passages.close()
            if self._lock:
                self._lock.release()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _latest_decision(self) -> int:
        return max(passages.latest_decision() for passages in self.passages.values())

    def _place(self, name: str, decision: Decision) -> tuple[int, float]:
        """Where it stands among the decisions of all kinds; before numbers were common, the clock says."""
        before = self.passages[name].database.meta(_NUMBERED)
        is_common = before and decision.number > int(before)
        return decision.number if is_common else 0, decision.at

    def _wake(self) -> None:
        if self._follower:
            self._follower.wake_if_needed()

    def _purge_sessions(self) -> None:
        assert self._follower is not None, "only the process that writes forgets"
        self._follower.purge()

    def _model(self, name: str) -> Embedder:
        """One model for all kinds that have the same."""
        with self._models_lock:
            if name not in self._models:
                self._models[name] = self._open_model(name)
            return self._models[name]


_writers: Writers[Memory] = Writers()
