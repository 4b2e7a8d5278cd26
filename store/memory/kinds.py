"""The kinds of text memory, each with its tables and its collection, and how those of a root are opened."""

import logging
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from store.disk.files import Disk
from store.disk.lock import WriterLock
from store.errors import CatalogDamaged, CatalogTooNew, ForeignFile
from store.memory import memories
from store.memory.documents import schema
from store.memory.engine import salvage
from store.memory.engine.database import Database, Places
from store.memory.engine.entries import Entries
from store.memory.engine.inputs import UnknownEntry, offered
from store.memory.engine.kind import MemoryKind
from store.memory.story import lore, sessions
from store.memory.transcripts import tables

KINDS = (memories.KIND, schema.KIND, lore.KIND, sessions.KIND, tables.KIND)
MEMORIES, DOCUMENTS, LORE, SESSIONS, TRANSCRIPTS = (kind.name for kind in KINDS)
NAMES = (MEMORIES, LORE, SESSIONS, DOCUMENTS, TRANSCRIPTS)  # in the order of pages

log = logging.getLogger(__name__)

GiveEntries = Callable[..., Entries]


class Kinds(dict[str, Entries]):
    """The entries of each kind, by its name."""

    def __missing__(self, kind: str) -> Entries:
        """Raises UnknownEntry, with the nearest names."""
        raise UnknownEntry(f"there is no kind of text memory {kind!r}{offered(kind, NAMES)}")


class OpenedKinds(Kinds):
    """The entries of each kind of a root, and the database of all; what cannot be used is empty."""

    def __init__(
        self,
        places: Places,
        give: GiveEntries,
        *,
        disk: Disk | None,
        writable: bool,
        lock: WriterLock | None,
    ) -> None:
        """`give` opens one kind: `give(kind, database, writable=…)`."""
        super().__init__()
        self._elsewhere: TemporaryDirectory[str] | None = None  # of an empty database
        faults: dict[str, str] = {}
        try:
            if writable:
                salvage.restore_if_lost(places.database)
                salvage.take_over(places, KINDS, disk=disk or Disk(), lock=lock)
            self.database = Database(places.database, disk=disk or Disk(), writable=writable)
            is_kept = bool(lock and lock.is_held)
            faults = salvage.left(self.database, places, KINDS, notes_absent=is_kept)
        except (CatalogDamaged, CatalogTooNew, ForeignFile) as error:
            log.warning("the text memory cannot be used: %s", error)
            self.database = self._empty(give, str(error))
        try:
            for kind in KINDS:
                self[kind.name] = self._opened(kind, give, fault=faults.get(kind.name, ""), writable=writable)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all kinds and the database."""
        for entries in self.values():
            entries.close()
        self.database.close()
        if self._elsewhere:
            self._elsewhere.cleanup()

    def _opened(self, kind: MemoryKind, give: GiveEntries, *, fault: str, writable: bool) -> Entries:
        opened = give(kind, self.database.of(kind), writable=writable and not self.database.fault)
        if not fault:
            return opened
        log.warning("%s cannot be used: %s", kind.name, fault)
        return give(kind, self.database.of(kind, fault=fault), writable=False)

    def _empty(self, give: GiveEntries, fault: str) -> Database:
        self._elsewhere = TemporaryDirectory(prefix="memedex-")
        path = Path(self._elsewhere.name) / "memory.sqlite3"
        with closing(Database(path, disk=Disk(), writable=True)) as made:
            for kind in KINDS:  # each with its model
                give(kind, made.of(kind), writable=True).close()
        return Database(path, disk=Disk(), writable=False, fault=fault)
