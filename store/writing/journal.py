"""The one write path, steps 2 to 5: stage, decide, apply, update the catalog.

`Journal` carries operations out; after it comes what it does with files (staged, renamed, found again) and
with the catalog (`enter`). Operations that arrive meanwhile wait and are carried out together: each costs a
dozen fsyncs and renames under the lock; ten that share them cost little more than one.
"""

import contextlib
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from store.captions import drafts
from store.catalog import forgetting, history, rows
from store.catalog.catalog import DISK_ERRORS, Catalog, next_generation
from store.disk.aside import carry_out_moves, move_aside
from store.disk.files import Disk, content_hash, file_hash
from store.disk.layout import Layout
from store.disk.sidecars import file_stats
from store.disk.sqlite import UnknownCommit, not_written
from store.embedding import embedding_cache
from store.embedding.embedding_cache import EmbeddingSource
from store.errors import LibraryStuck, NotWritten
from store.operations import Change, Operation
from store.records import TIERS


@dataclass(slots=True)
class Payload:
    """New files, sidecar texts and vectors of an operation, all computed beforehand."""

    pictures: dict[str, bytes] = field(default_factory=dict)  # address → JPG
    sidecars: dict[str, bytes] = field(default_factory=dict)  # SHA-256 → JSON
    # What the operation's records are embedded from.
    wanted: list[EmbeddingSource] = field(default_factory=list)
    model: str = ""  # … and by which model; the library's must still be the same when it is decided
    vectors: dict[str, bytes] = field(default_factory=dict)  # key → float32 row
    fingerprints: dict[str, bytes] = field(default_factory=dict)  # SHA-256 of a picture → what it looks like


_MOST = 64  # records of a group of several operations, since each waits for all


@dataclass(slots=True, eq=False)
class QueuedOperation:
    """One operation, and what became of it."""

    operation: Operation
    payload: Payload
    is_alone: bool = False  # together with others it failed, so it gets its own try
    refused: dict[str, str] | None = None  # records left alone, once it is carried out: address → reason
    error: BaseException | None = None

    @property
    def is_over(self) -> bool:
        """Whether it was carried out, or failed."""
        return self.refused is not None or self.error is not None

    @property
    def addresses(self) -> set[str]:
        """The records that it changes, in small letters."""
        return {change.address.lower() for change in self.operation.changes}


class GroupCommit:
    """Hands the operations of all threads to `perform`, under the lock; no two of a group share a record."""

    def __init__(
        self,
        lock: Callable[[], AbstractContextManager[object]],
        perform: Callable[[list[QueuedOperation]], None],
    ) -> None:
        self._lock = lock
        self._perform = perform
        self._queue: deque[QueuedOperation] = deque()

    def carry_out(self, operation: Operation, payload: Payload) -> dict[str, str]:
        """Carry out the operation, perhaps with others', or raise why not; returns records left alone."""
        mine = QueuedOperation(operation, payload)
        self._queue.append(mine)
        try:
            with self._lock():
                while not mine.is_over:
                    self._perform_next()
        except BaseException:
            with contextlib.suppress(ValueError):  # interrupted before its turn: it must not be done later
                self._queue.remove(mine)
            raise
        if mine.error:
            raise mine.error
        assert mine.refused is not None
        return mine.refused

    def _perform_next(self) -> None:
        group = self._next_group()
        try:
            self._perform(group)
        except BaseException as error:
            if len(group) == 1 and isinstance(error, Exception):
                group[0].error = error
                return
            left = [one for one in group if not one.is_over]
            for one in left:  # what prevents one must not prevent the others
                one.is_alone = True
            self._queue.extendleft(reversed(left))
            if not isinstance(error, Exception):
                raise

    def _next_group(self) -> list[QueuedOperation]:
        """The operations that waited longest, up to the first that another of them must come before."""
        group = [self._queue.popleft()]
        taken = group[0].addresses
        while self._queue and not group[0].is_alone:
            following = self._queue.popleft()
            is_too_large = len(taken) + len(following.addresses) > _MOST
            if following.is_alone or is_too_large or not taken.isdisjoint(following.addresses):
                self._queue.appendleft(following)
                break
            group.append(following)
            taken |= following.addresses
        return group


CHANGED_MEANWHILE = "it was changed by another user in the meantime; look at it again"
CHANGED_OUTSIDE = (
    "its files were changed outside the program; repair the library (System status, or doctor --repair)"
)


class Journal:
    """Unfinished operations; an operation is decided by the commit of its journal entry."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk) -> None:
        self._catalog = catalog
        self._layout = layout
        self._disk = disk
        self._lost: MissingFiles | None = None  # what to do about removed files; None: wait for them
        self.stuck = ""  # why a decided operation cannot be finished; "" when all are
        self._group = GroupCommit(lambda: catalog.lock, self._perform)

    def perform(self, operation: Operation, payload: Payload) -> dict[str, str]:
        """Carry out the operation.

        Returns the records that changed meanwhile and are left alone: address → reason.

        Raises NotWritten if nothing happened, LibraryStuck if it is decided and continues once the cause is
        gone.
        """
        self._catalog.check_writable()
        return self._group.carry_out(operation, payload)

    def _perform(self, group: list[QueuedOperation]) -> None:
        """Carry out these operations, which share no record; raises what concerns all of them."""
        try:
            self.finish_all()
        except LibraryStuck as error:
            raise NotWritten(f"nothing was changed, an earlier change comes first: {error}") from error
        model = self._catalog.meta("model")
        ready: list[tuple[QueuedOperation, Operation]] = []
        left_alone: dict[str, dict[str, str]] = {}  # by operation
        for one in group:
            if one.payload.model not in ("", model):
                one.error = NotWritten("nothing was changed: the library has another model by now; try again")
                continue
            operation, refused = self._without_changed(one.operation)
            if operation.changes:
                ready.append((one, operation))
                left_alone[operation.id] = refused
            else:
                one.refused = refused
        if not ready:
            return
        operations = [operation for _, operation in ready]
        interruption: BaseException | None = None
        try:
            self._stage(ready)
            self._decide(ready)
        except BaseException as error:  # noqa: BLE001  raised below, once it is known what is decided
            if not self._is_decided(operations):
                self._abandon(operations, error)
            if not isinstance(error, DISK_ERRORS):
                interruption = error
        for one, operation in ready:  # from now on it is finished in any case, by the next one or on opening
            one.refused = left_alone[operation.id]
        self._finish_together(ready)
        if interruption:
            raise interruption

    def _finish_together(self, ready: Sequence[tuple[QueuedOperation, Operation]]) -> None:
        """Finish decided operations; those that wait have it as their error. Raises other errors."""
        try:
            try:
                self._finish([operation for _, operation in ready])
            except LibraryStuck:
                if len(ready) == 1:
                    raise
                self.finish_all()  # one by one, so that not all wait for the file of one
        except BaseException as error:
            cause = self.stuck if isinstance(error, LibraryStuck) else repr(error)
            waiting = {operation.id for operation in self.unfinished()}
            for one, operation in ready:
                if operation.id in waiting:
                    one.error = LibraryStuck(_waits(operation, cause))
            if not isinstance(error, LibraryStuck):
                raise

    def finish_all(self) -> None:
        """Finish what is decided. Raises LibraryStuck, with the cause, while that is not possible."""
        self._catalog.check_writable()  # who waited for the lock may find a closed library
        for operation in self.unfinished():
            self._finish([operation])

    def finish_without_lost(self) -> list[str]:
        """Finish operations even if needed files were deleted; returns what was done, one sentence each."""
        with self._catalog.lock:
            self._lost = MissingFiles(self._catalog, self._layout, self._disk)
            messages = self._lost.messages
            try:
                with contextlib.suppress(LibraryStuck):  # by something else as well: the status says by what
                    self.finish_all()
            finally:
                self._lost = None
            return messages

    def is_changed_outside(self, change: Change) -> bool:
        """Whether the record's files are not as the catalog knows them."""
        with self._catalog.reading() as db:
            return self._obstacle(db, change) == CHANGED_OUTSIDE

    def unfinished(self) -> list[Operation]:
        """Operations that are decided and not finished, oldest first."""
        return [
            Operation.from_json(row[0])
            for row in self._catalog.rows("SELECT operation FROM journal ORDER BY rowid")
        ]

    def remove_undecided(self) -> None:
        """Remove what was only staged; what the disk refuses to remove stays."""
        known = {self._folder(operation) for operation in self.unfinished()}
        own = f"{self._catalog.owner}-"
        with contextlib.suppress(OSError):
            _remove_strange(self._layout, self._disk, known=known, own=own)

    def _without_changed(self, operation: Operation) -> tuple[Operation, dict[str, str]]:
        with self._catalog.reading() as db:
            found = {
                change.address: self._obstacle(db, change, erases=operation.erases)
                for change in operation.changes
            }
        refused = {address: reason for address, reason in found.items() if reason}
        kept = tuple(change for change in operation.changes if change.address not in refused)
        return replace(operation, changes=kept), refused

    def _obstacle(self, db: sqlite3.Connection, change: Change, *, erases: bool = False) -> str:
        """Why this change no longer applies; "" if it does. What is erased may lack files."""
        row = db.execute("SELECT * FROM records WHERE folded = ?", [change.address.lower()]).fetchone()
        if (row["revision"] if row else 0) != change.revision:
            return CHANGED_MEANWHILE
        if change.before:
            found = file_stats(self._layout, change.before, change.address)
            known = row["sidecar_stat"], row["image_stat"]
            if any(now != then for now, then in zip(found, known, strict=True) if now or not erases):
                return CHANGED_OUTSIDE
            if "" in found and not erases:
                return "its picture is missing; put it back from a backup, or remove its sidecar as well"
        return ""

    def _stage(self, ready: Sequence[tuple[QueuedOperation, Operation]]) -> None:
        """Write the new files of these operations, each into a folder of its own if it has any."""
        files: dict[Path, bytes] = {}
        for one, operation in ready:
            folder, payload = self._folder(operation), one.payload
            for change in operation.changes:
                if change.address in payload.pictures:
                    files[folder / f"{change.address}.jpg"] = payload.pictures[change.address]
                if has_new_sidecar(change):
                    text = payload.sidecars.get(change.after.sidecar_hash)
                    content = text if text is not None else self._known_sidecar(change.after.sidecar_hash)
                    files[folder / f"{change.address}.json"] = content
        folders = {path.parent for path in files}
        for folder in (self._layout.operations, *folders):  # without new files as well: is the disk there?
            self._disk.make_folder(folder)
        self._disk.write_all(files)
        self._disk.fsync_folders([*folders, self._layout.operations])

    def _known_sidecar(self, digest: str) -> bytes:
        (text,) = self._catalog.row("SELECT text FROM sidecars WHERE hash = ?", [digest])
        content = str(text).encode()
        if content_hash(content) != digest:
            raise NotWritten("nothing was changed: an earlier text is damaged; doctor --repair gives it back")
        return content

    def _decide(self, ready: Sequence[tuple[QueuedOperation, Operation]]) -> None:
        with self._catalog.writing() as db:
            for one, operation in ready:
                payload = one.payload
                db.executemany(
                    "INSERT OR IGNORE INTO sidecars VALUES (?, ?)",
                    [(digest, text.decode()) for digest, text in payload.sidecars.items()],
                )
                embedding_cache.store(db, payload.model, payload.vectors)
                db.executemany(
                    "INSERT OR IGNORE INTO fingerprints (image_hash, print) VALUES (?, ?)",
                    payload.fingerprints.items(),
                )
                db.execute("INSERT INTO journal VALUES (?, ?)", [operation.id, operation.as_json()])

    def _finish(self, operations: Sequence[Operation]) -> None:
        try:
            self._tell_catalog(operations, edited=self._apply(operations))
            self.stuck = ""
        except DISK_ERRORS as error:
            self.stuck = str(error)
            raise LibraryStuck(_waits(operations[0], self.stuck)) from error
        for operation in operations:
            with contextlib.suppress(*DISK_ERRORS):  # what stays is removed on the next opening
                self._disk.remove_folder(self._folder(operation))

    def _is_decided(self, operations: Sequence[Operation]) -> bool:
        """Whether their commit took effect although it, or a step before it, raised."""
        decided = {operation.id for operation in self.unfinished()}
        return any(operation.id in decided for operation in operations)

    def _abandon(self, operations: Sequence[Operation], error: BaseException) -> None:
        """Remove what was staged, and raise NotWritten if the disk refused; other errors stay."""
        if not isinstance(error, UnknownCommit):  # else they are needed if it comes back
            with contextlib.suppress(*DISK_ERRORS):
                for operation in operations:
                    self._disk.remove_folder(self._folder(operation))
        if isinstance(error, DISK_ERRORS):
            cause = getattr(error, "strerror", None) or error  # without number and path
            remedy = (
                "" if isinstance(error, UnknownCommit) else "; make room or fix the permission and try again"
            )
            raise not_written(error, f"{cause}{remedy}") from error
        raise error

    def _apply(self, operations: Sequence[Operation]) -> set[Path]:
        """Rename the files of these operations; returns those that were edited by hand since."""
        touched: set[Path] = set()
        edited: set[Path] = set()
        for operation in operations:
            folder = self._folder(operation)
            for change in operation.changes:
                if operation.erases:
                    touched |= self._erase(change)
                    continue
                for source, target, expected in renames(self._layout, folder, change):
                    self._disk.make_folder(target.parent)
                    found = arrived(folder, change, source, target)
                    if found is None:
                        self._move(source, target, expected)
                    elif found != expected:  # edited between its arrival and an interruption
                        edited.add(target)
                    touched |= {source.parent, target.parent}
        self._disk.fsync_folders(sorted(folder for folder in touched if folder.is_dir()))
        return edited

    def _erase(self, change: Change) -> set[Path]:
        """Delete a record's files, unless one was edited since: then it comes back as it is now."""
        tier, address, before = change.after.tier, change.address, change.before
        assert before is not None, "what is erased was there"
        files = {
            self._layout.sidecar(tier, address): before.sidecar_hash,
            self._layout.image(tier, address): before.image_hash,
        }
        if all(file_hash(path) in (None, expected) for path, expected in files.items()):
            for path in files:
                self._disk.remove_file(path)
        return {path.parent for path in files}

    def _move(self, source: Path, target: Path, expected: str) -> None:
        if not source.exists():
            if self._lost is None:
                raise FileNotFoundError(
                    f"{source} is missing; put it back from a backup, or doctor --repair goes on without it"
                )
            self._lost.fill(target, expected)
            return
        if target.exists():  # no file is overwritten, whoever wrote it
            set_aside(target, self._layout, self._disk)
        self._disk.rename(source, target)
        if target.name.endswith(".replaced.json") and file_hash(target) != expected:
            set_aside(target, self._layout, self._disk)  # edited by hand a moment ago

    def _tell_catalog(self, operations: Sequence[Operation], *, edited: Collection[Path]) -> None:
        with self._catalog.writing() as db:
            for operation in operations:
                enter(db, self._layout, operation, edited=edited)
                db.execute("DELETE FROM journal WHERE id = ?", [operation.id])

    def _folder(self, operation: Operation) -> Path:
        """The staging folder, whose name identifies the catalog.

        Old ones, and those in backups, have only the id; those from before a salvage another catalog.
        """
        folder = self._layout.operations / f"{self._catalog.owner}-{operation.id}"
        if folder.is_dir() or not any(map(has_new_sidecar, operation.changes)):
            return folder
        return next(self._layout.operations.glob(f"*{operation.id}"), folder)


def _waits(operation: Operation, cause: str) -> str:
    first, *others = operation.changes
    named = f"{len(operation.changes):,} records" if others else first.address
    return (
        f"{operation.verb} of {named} is decided but waits: {cause}. "
        "It goes on by itself once the cause is gone (free disk space, fix the permission)"
    )


def _remove_strange(layout: Layout, disk: Disk, *, known: set[Path], own: str) -> None:
    """Remove what this catalog staged and never decided; what another one staged is moved aside.

    `known` are the folders of decided operations, `own` is how the names of this catalog's begin. Empty ones
    are removed.
    """
    folder = layout.operations
    found = [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
    for path in found:
        if path not in known and (path.name.startswith(own) or not any(path.iterdir())):
            disk.remove_folder(path)
    strange = [path.name for path in found if path not in known and path.exists()]
    if strange:
        what = f"{len(strange):,} folders of changes that this catalog does not know"
        into = layout.memecoins
        move_aside(strange, source=folder, into=into, what=what, disk=disk)
        carry_out_moves(into, disk=disk)


def set_aside(path: Path, layout: Layout, disk: Disk) -> None:
    """Move a file out of a path that the program needs, to `set-aside`, under the time and its name."""
    disk.make_folder(layout.set_aside)
    disk.rename(path, layout.set_aside / f"{time.time_ns()}-{path.name}")
    disk.fsync_folders([layout.set_aside])  # before something else takes its place


def renames(layout: Layout, staged: Path, change: Change) -> list[tuple[Path, Path, str]]:
    """The renames of one change in order: (from, to, SHA-256); what is replaced goes to `staged`."""
    before, after, name = change.before, change.after, change.address
    new_sidecar = staged / f"{name}.json"
    moves = []
    if before and has_new_sidecar(change) and new_sidecar.exists():
        old = layout.sidecar(before.tier, name)
        if old.exists():
            moves.append((old, staged / f"{name}.replaced.json", before.sidecar_hash))
    if has_new_sidecar(change):
        moves.append((new_sidecar, layout.sidecar(after.tier, name), after.sidecar_hash))
    if before is None:
        moves.append((staged / f"{name}.jpg", layout.image(after.tier, name), after.image_hash))
    elif before.tier != after.tier:
        if not has_new_sidecar(change):
            source = layout.sidecar(before.tier, name)
            moves.append((source, layout.sidecar(after.tier, name), after.sidecar_hash))
        source = layout.image(before.tier, name)
        moves.append((source, layout.image(after.tier, name), after.image_hash))
    return moves


def arrived(staged: Path, change: Change, source: Path, target: Path) -> str | None:
    """The SHA-256 of the file that arrived at `target`; None while it has not.

    A sidecar's text from before, which has not been replaced, is still there if the new one was lost.
    """
    found = None if source.exists() else file_hash(target)
    if change.before is None or found != change.before.sidecar_hash or not has_new_sidecar(change):
        return found
    return found if (staged / f"{change.address}.replaced.json").exists() else None


def has_new_sidecar(change: Change) -> bool:
    """Whether the change writes another sidecar."""
    return change.before is None or change.before.sidecar_hash != change.after.sidecar_hash


class MissingFiles:
    """Restores a missing file if it can be found; `messages` lists what was done."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk) -> None:
        self.messages: list[str] = []
        self._catalog = catalog
        self._layout = layout
        self._disk = disk

    def fill(self, target: Path, expected: str) -> None:
        """Put the file with this SHA-256 in place: a sidecar from the catalog, a picture from where it is."""
        row = self._catalog.row("SELECT text FROM sidecars WHERE hash = ?", [expected])
        if row:
            self._disk.replace(target, str(row["text"]).encode())
            self.messages.append(
                f"{target.stem}: its sidecar was removed and is written again from the catalog"
            )
            return
        for path in self._places(target.stem, expected):
            if file_hash(path) == expected:
                self._disk.replace(target, path.read_bytes())
                self.messages.append(
                    f"{target.stem}: its picture was removed; {path} is the same and was copied"
                )
                return
        self.messages.append(
            f"{target.stem}: its picture was removed and is nowhere else; the change is done without it. "
            f"Put the picture back as {target}, or remove the sidecar next to it as well"
        )

    def _places(self, address: str, expected: str) -> Iterator[Path]:
        """Where a picture may be: moved by hand, set aside, staged, or of a coin that looks the same."""
        yield from (self._layout.image(tier, address) for tier in TIERS)
        for folder in (self._layout.set_aside, *self._layout.operations.glob("*")):
            yield from folder.glob(f"*{address}.jpg")
        rows = self._catalog.rows("SELECT tier, address FROM records WHERE image_hash = ?", [expected])
        yield from (self._layout.image(row["tier"], row["address"]) for row in rows)


def enter(db: sqlite3.Connection, layout: Layout, operation: Operation, *, edited: Collection[Path]) -> None:
    """Enter the records as they are now, their history, and what Chroma has to follow.

    Files that were `edited` by hand meanwhile are entered as unknown, so that they are compared and count.
    Deletes the person's draft of a caption that was written.
    """
    generation = next_generation(db)
    if operation.erases:
        _enter_erased(db, operation)
        return
    for change in operation.changes:
        rows.upsert(
            db,
            change.address,
            change.after,
            stats=file_stats(layout, change.after, change.address, unknown=edited),
            now=operation.created_at,
            generation=generation,
            embeddings=change.embeddings,
        )
        if "library" in (change.after.tier, change.before and change.before.tier):
            db.execute("INSERT OR REPLACE INTO chroma_queue VALUES (?, ?)", [change.address, generation])
        if operation.verb == "caption":  # what was being typed is what is now written
            drafts.delete(db, change.address, actor=operation.actor)
    history.record(db, operation)


def _enter_erased(db: sqlite3.Connection, operation: Operation) -> None:
    """Enter that records were deleted for good; what is left of them in other files goes after this."""
    for change in operation.changes:
        if row := db.execute("SELECT id FROM records WHERE address = ?", [change.address]).fetchone():
            rows.remove(db, row["id"])
    coins = forgetting.forget(db, [change.address for change in operation.changes])
    for change, coin in zip(operation.changes, coins, strict=True):
        assert change.before is not None, "what is erased was there"
        history.record_erased(db, operation, coin.word, change.before)
    forgetting.note(db, coins)
