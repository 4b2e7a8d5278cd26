"""The one write path, steps 2 to 5 of design section 4: stage, decide, apply, tell the catalog."""

import contextlib
import sqlite3
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from store import history, listing
from store.captions import drafts
from store.catalog import REFUSALS, Catalog, next_generation
from store.embedded import Source
from store.errors import LibraryStuck, NotWritten
from store.files import Disk, file_hash
from store.layout import Layout
from store.writing.lost import Lost
from store.writing.operations import Change, Operation, State


@dataclass(slots=True)
class Payload:
    """What an operation brings along: new files, sidecar texts, vectors; all of it computed beforehand."""

    pictures: dict[str, bytes] = field(default_factory=dict)  # address → JPG
    sidecars: dict[str, bytes] = field(default_factory=dict)  # SHA-256 → JSON
    wanted: list[Source] = field(default_factory=list)  # what the operation's records are embedded from
    model: str = ""  # … and by which model; the library's must still be the same when it is decided
    vectors: dict[str, tuple[str, bytes]] = field(default_factory=dict)  # key → (model, float32 row)
    fingerprints: dict[str, bytes] = field(default_factory=dict)  # SHA-256 of a picture → what it looks like


# Health is the page's doctor.
CHANGED_OUTSIDE = (
    "its files were changed outside the program; a repair takes that in (Health, or doctor --repair)"
)


class Journal:
    """Operations begun and not yet finished; its commit is the moment an operation is decided."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk) -> None:
        self._catalog = catalog
        self._layout = layout
        self._disk = disk
        self._lost: Lost | None = None  # what to do about files that were removed; None: wait for them
        self.stuck = ""  # why a decided operation cannot be finished; "" when all are

    def perform(self, operation: Operation, payload: Payload) -> dict[str, str]:
        """Carry the operation out; what changed meanwhile is left alone and returned: address → reason.

        NotWritten: nothing happened. LibraryStuck: it is decided, and goes on when the cause is gone.
        """
        self._catalog.check_writable()
        with self._catalog.lock:
            try:
                self.finish_all()
            except LibraryStuck as error:
                raise NotWritten(f"nothing was changed, an earlier change comes first: {error}") from error
            if payload.model not in ("", self._catalog.meta("model")):
                raise NotWritten("nothing was changed: the library has another model by now; try again")
            operation, refused = self._without_changed(operation)
            if not operation.changes:
                return refused
            try:
                self._stage(operation, payload)
                self._decide(operation, payload)
            except BaseException as error:
                if not self._is_decided(operation):
                    self._abandon(operation, error)
                if not isinstance(error, REFUSALS):
                    raise
            self._finish(operation)
            return refused

    def finish_all(self) -> None:
        """Finish what is decided; LibraryStuck, with the cause, while that is not possible."""
        for operation in self.unfinished():
            self._finish(operation)

    def finish_without_lost(self) -> list[str]:
        """The same where somebody removed a file that is needed; what was done about each, in plain words."""
        with self._catalog.lock:
            self._lost = Lost(self._catalog, self._layout, self._disk)
            said = self._lost.said
            try:
                with contextlib.suppress(LibraryStuck):  # by something else as well: the status says by what
                    self.finish_all()
            finally:
                self._lost = None
            return said

    def unfinished(self) -> list[Operation]:
        with self._catalog.reading() as db:
            return [
                Operation.from_json(row[0])
                for row in db.execute("SELECT operation FROM journal ORDER BY rowid")
            ]

    def recover(self) -> None:
        """On opening: go on with what was decided, remove what was only prepared."""
        with self._catalog.lock:
            with contextlib.suppress(LibraryStuck):  # it opens all the same, and says so
                self.finish_all()
            known = {operation.id for operation in self.unfinished()}
            if self._layout.operations.is_dir():
                for folder in self._layout.operations.iterdir():
                    if folder.name not in known:
                        with contextlib.suppress(OSError):  # the next opening tries again
                            self._disk.remove_folder(folder)

    def _without_changed(self, operation: Operation) -> tuple[Operation, dict[str, str]]:
        with self._catalog.reading() as db:
            found = {change.address: self._obstacle(db, change) for change in operation.changes}
        refused = {address: reason for address, reason in found.items() if reason}
        kept = tuple(change for change in operation.changes if change.address not in refused)
        return replace(operation, changes=kept), refused

    def _obstacle(self, db: sqlite3.Connection, change: Change) -> str:
        """Why this change no longer fits what is there; "" when it does."""
        row = db.execute("SELECT * FROM records WHERE folded = ?", [change.address.lower()]).fetchone()
        if (row["revision"] if row else 0) != change.revision:
            return "it was changed by somebody else in the meantime; look at it again"
        if change.before:
            found = file_stats(self._layout, change.before, change.address)
            if (row["sidecar_stat"], row["image_stat"]) != found:
                return CHANGED_OUTSIDE
            if "" in found:
                return "its picture is missing; put it back from a backup, or remove its sidecar as well"
        return ""

    def _stage(self, operation: Operation, payload: Payload) -> None:
        folder = self._folder(operation)
        self._disk.make_folder(folder)
        for change in operation.changes:
            if change.address in payload.pictures:
                self._disk.write(folder / f"{change.address}.jpg", payload.pictures[change.address])
            if _has_new_sidecar(change):
                text = payload.sidecars.get(change.after.sidecar_hash)
                content = text if text is not None else self._known_sidecar(change.after.sidecar_hash)
                self._disk.write(folder / f"{change.address}.json", content)
        self._disk.fsync_folders([folder, folder.parent])

    def _known_sidecar(self, digest: str) -> bytes:
        with self._catalog.reading() as db:
            return str(
                db.execute("SELECT text FROM sidecars WHERE hash = ?", [digest]).fetchone()[0]
            ).encode()

    def _decide(self, operation: Operation, payload: Payload) -> None:
        with self._catalog.writing() as db:
            db.executemany(
                "INSERT OR IGNORE INTO sidecars VALUES (?, ?)",
                [(digest, text.decode()) for digest, text in payload.sidecars.items()],
            )
            db.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)",
                [(key, model, vector) for key, (model, vector) in payload.vectors.items()],
            )
            db.executemany(
                "INSERT OR IGNORE INTO fingerprints (image_hash, print) VALUES (?, ?)",
                payload.fingerprints.items(),
            )
            db.execute("INSERT INTO journal VALUES (?, ?)", [operation.id, operation.as_json()])

    def _finish(self, operation: Operation) -> None:
        try:
            self._apply(operation)
            self._tell_catalog(operation)
            self.stuck = ""
        except REFUSALS as error:
            self.stuck = str(error)
            raise LibraryStuck(
                f"{operation.verb} of {_named(operation)} is decided but waits: {error}. "
                "It goes on by itself once the cause is gone (free disk space, mend the permission)"
            ) from error
        with contextlib.suppress(OSError):  # what stays is removed on the next opening
            self._disk.remove_folder(self._folder(operation))

    def _is_decided(self, operation: Operation) -> bool:
        """Whether its commit counts although it, or what led to it, failed."""
        return any(operation.id == decided.id for decided in self.unfinished())

    def _abandon(self, operation: Operation, error: BaseException) -> None:
        """Leave nothing behind, and say so if it was the disk; anything else goes on as it was."""
        with contextlib.suppress(*REFUSALS):
            # A commit whose fsync failed may lie in SQLite's log all the same and come back with the next
            # opening. Another one in its place rules that out; until then the staged files are kept for it.
            with self._catalog.writing() as db:
                next_generation(db)
            self._disk.remove_folder(self._folder(operation))
        if isinstance(error, REFUSALS):
            cause = getattr(error, "strerror", None) or error  # without number and path
            raise NotWritten(
                f"nothing was changed: {cause}; make room or mend the permission and try again"
            ) from error
        raise error

    def _apply(self, operation: Operation) -> None:
        touched: set[Path] = set()
        for change in operation.changes:
            for source, target, expected in self._moves(operation, change):
                self._disk.make_folder(target.parent)
                self._move(source, target, expected)
                touched |= {source.parent, target.parent}
        self._disk.fsync_folders(sorted(touched))

    def _moves(self, operation: Operation, change: Change) -> list[tuple[Path, Path, str]]:
        """The renames of one change, in order: (from, to, SHA-256 of what arrives)."""
        before, after, name, folder = change.before, change.after, change.address, self._folder(operation)
        staged = folder / f"{name}.json"
        moves = []
        if before and _has_new_sidecar(change) and staged.exists():
            old = self._layout.sidecar(before.tier, name)
            if old.exists():
                moves.append((old, folder / f"{name}.replaced.json", before.sidecar_hash))
        if _has_new_sidecar(change):
            moves.append((staged, self._layout.sidecar(after.tier, name), after.sidecar_hash))
        if before is None:
            moves.append((folder / f"{name}.jpg", self._layout.image(after.tier, name), after.image_hash))
        elif before.tier != after.tier:
            if not _has_new_sidecar(change):
                source = self._layout.sidecar(before.tier, name)
                moves.append((source, self._layout.sidecar(after.tier, name), after.sidecar_hash))
            source = self._layout.image(before.tier, name)
            moves.append((source, self._layout.image(after.tier, name), after.image_hash))
        return moves

    def _move(self, source: Path, target: Path, expected: str) -> None:
        if not source.exists():
            if file_hash(target) == expected:
                return  # done before an interruption
            if self._lost is None:
                raise FileNotFoundError(
                    f"{source} is missing; put it back from a backup, or doctor --repair goes on without it"
                )
            self._lost.fill(target, expected)
            return
        if target.exists():  # nobody's work is overwritten, not even a stranger's file
            self._set_aside(target)
        self._disk.rename(source, target)
        if target.name.endswith(".replaced.json") and file_hash(target) != expected:
            self._set_aside(target)  # edited by hand a moment ago

    def _set_aside(self, path: Path) -> None:
        self._disk.make_folder(self._layout.set_aside)
        self._disk.rename(path, self._layout.set_aside / f"{time.time_ns()}-{path.name}")
        self._disk.fsync_folders([self._layout.set_aside])  # before something else takes its place

    def _tell_catalog(self, operation: Operation) -> None:
        with self._catalog.writing() as db:
            generation = next_generation(db)
            for change in operation.changes:
                listing.put(
                    db,
                    change.address,
                    change.after,
                    stats=file_stats(self._layout, change.after, change.address),
                    now=operation.at,
                    generation=generation,
                    embeddings=change.embeddings,
                )
                if "library" in (change.after.tier, change.before and change.before.tier):
                    db.execute(
                        "INSERT OR REPLACE INTO chroma_queue VALUES (?, ?)", [change.address, generation]
                    )
            if operation.verb == "caption":  # what was being typed is what is now written
                for change in operation.changes:
                    drafts.drop(db, change.address, who=operation.who)
            history.note(db, operation)
            db.execute("DELETE FROM journal WHERE id = ?", [operation.id])

    def _folder(self, operation: Operation) -> Path:
        return self._layout.operations / operation.id


def file_stats(layout: Layout, state: State, address: str) -> tuple[str, str]:
    """Size and time of the record's two files."""
    return stat_text(layout.sidecar(state.tier, address)), stat_text(layout.image(state.tier, address))


def stat_text(path: Path) -> str:
    """Size and modification time in one text, to compare; "" where there is no such file."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return ""
    return f"{stat.st_size}:{stat.st_mtime_ns}"


def _named(operation: Operation) -> str:
    first, *others = operation.changes
    return f"{len(operation.changes):,} records" if others else first.address


def _has_new_sidecar(change: Change) -> bool:
    return change.before is None or change.before.sidecar_hash != change.after.sidecar_hash
