"""Watched folders: of coins, whose pictures and token lists are imported to pending, and of papers.

Nothing in it is ever deleted, moved or renamed. Files that are still being copied are waited for; imported
ones are recorded in the catalog and not imported again; refused ones are reported with the reason, there and
in a log next to the files, and tried again when new files arrive there. `Watcher` notices new files by
the system's notifications, or by the folders' times.
"""

import contextlib
import logging
import os
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from store.disk.file_system import MOUNTS, kind_of
from store.disk.files import absolute, identity
from store.errors import BadSource
from store.importing.candidate import shown
from store.jobs.background_worker import Worker, close_all
from store.memory.values import InvalidInput
from store.outcome import ImportReport, Outcome, Refusal
from store.progress import Progress

if TYPE_CHECKING:
    from store.library import Library
    from store.memory.memory import Memory

log = logging.getLogger(__name__)

WHO = "inbox"  # whose decision an arrival is: no person's own undo reverses it
LOG, PAPERS_LOG = "memedex-inbox.log", "memedex-papers.log"
EVERY = 2.0  # seconds between two looks, in which a file must not have changed
_UNFINISHED = (".part", ".partial", ".crdownload", ".download", ".tmp", ".filepart")
_LONGEST_LOG = 1_000_000  # bytes; then a new one is begun
NOTIFIED = 60.0  # seconds between two looks at the folders' times where the system tells of changes as well
ALL = (
    600.0  # seconds until every file is looked at without a cause: one written to in place on another machine
)
_TIMEOUT = 10.0  # seconds at most that the end waits for a look, whose folder may be on a network
_SHARE = 0.01  # of the time, at most, goes into looking at the folders' times
_STEP = 250  # milliseconds between two looks of watchfiles at the system's notifications
_CALM = 5_000  # milliseconds after which it answers that nothing changed
# Where another machine may write, the system hears nothing; folders shared with a virtual machine alike.
_REMOTE = re.compile(
    r"nfs\d?|cifs|smb\w*|9p|afs|ceph|coda|davfs|drvfs|lustre|beegfs|orangefs|prl_fs|vboxsf|virtiofs"
    r"|fakeowner|fuse(\..+)?"
)


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A file of the inbox that was refused, at least in part, and why."""

    path: str
    reason: str
    at: float


class WatchedFolder(ABC):
    """A folder whose new files are imported by each look at it."""

    setting = ""  # that names it
    log = ""  # the file in it that names what was refused
    every = EVERY

    def __init__(self, folder: Path) -> None:
        self.folder = absolute(folder)
        self._resting: dict[str, str] = {}  # size and time of each file at the last look
        self._folders: dict[str, int] = {}  # the time of each folder just before it was looked through
        self.is_restless = False  # whether what was seen at the last look may still have been changing

    @abstractmethod
    def scan(self, *, progress: Progress | None = None) -> Outcome:
        """Import files that are new and unchanged since the last scan.

        If the report has a `failure`, the next scan tries its files again.

        Raises BadSource if the place is no folder, NotWritten if the disk refuses.
        """

    def _looked(self) -> tuple[dict[str, str], dict[str, str]]:
        """Size and time of each file, by its name in the folder: now, and at the last look."""
        if not self.folder.is_dir():
            raise BadSource(f"the watched {self.folder} is no folder; make it, or set {self.setting}")
        folders: dict[str, int] = {}
        fresh = time.time_ns() - self.every * 1e9  # so coarse may a folder's time be
        found = dict(sorted(_found(self.folder, "", folders)))
        before, self._resting, self._folders = self._resting, found, folders
        self.is_restless = before != found or any(changed > fresh for changed in folders.values())
        return found, before

    def has_changed(self) -> bool:
        """Whether files were added to or removed from its folders since the last look."""
        try:
            return any(
                (self.folder / name).stat().st_mtime_ns != before for name, before in self._folders.items()
            )
        except OSError:
            return True

    def _tell(self, refused: Sequence[tuple[str, str]]) -> None:
        """Write the names of refused files, and why, into the log in the folder."""
        if not refused:
            return
        path = self.folder / self.log
        when = time.strftime("%Y-%m-%d %H:%M:%S")
        try:
            if path.exists() and path.stat().st_size > _LONGEST_LOG:
                path.replace(self.folder / f"{self.log}.old")
            with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(f"{when}  {name}: {' '.join(reason.split())}\n" for name, reason in refused)
        except OSError as error:  # a folder that may only be read; the page says it all the same
            log.warning("the log of %s cannot be written: %s", self.folder, error)


class Inbox(WatchedFolder):
    """The watched folder of pictures and lists of coins."""

    setting = "MEMEDEX_INBOX"
    log = LOG

    def __init__(self, library: "Library", folder: Path) -> None:
        super().__init__(folder)
        self._library = library

    def scan(self, *, progress: Progress | None = None) -> ImportReport:
        """Import the coins of files that are new and unchanged since the last scan."""
        report = ImportReport()
        found, before = self._looked()
        known = self._known(found)
        for names in _together(found).values():
            if not any(known.get(name, ("",))[0] != found[name] for name in names):
                continue
            if all(before.get(name) == found[name] for name in names):  # else it is still being copied
                self._take(names, found, known, report, progress)
        return report

    def _known(self, found: Iterable[str]) -> dict[str, tuple[str, str]]:
        rows = self._library.catalog.rows("SELECT path, stat, reason FROM inbox")
        known = {row["path"]: (row["stat"], row["reason"]) for row in rows}
        return {name: known[_stored(name)] for name in found if _stored(name) in known}

    def _take(
        self,
        names: Sequence[str],
        found: dict[str, str],
        known: dict[str, tuple[str, str]],
        report: ImportReport,
        progress: Progress | None,
    ) -> None:
        """Import new files that belong together, and those refused before, which may be complete now."""
        from store.importing import folders  # Pillow comes along
        from store.importing.trees import DiskTree

        top, is_inside, _ = names[0].partition("/")
        if is_inside:  # a folder is one whole: a token list in it speaks for all of it
            wanted = names
            tree = DiskTree(self.folder / top, title=top)
        else:
            wanted = [
                name for name in names if known.get(name, ("", "-"))[0] != found[name] or known[name][1]
            ]
            tree = DiskTree(self.folder, title="", chosen=wanted)
            tree.names = sorted(names)
        done = self._library.add(
            folders.coins(tree), source=top if is_inside else WHO, progress=progress, actor=WHO
        )
        if progress and progress.cancelled:  # not all of it was looked at: the next one begins again
            return
        report.done += done.done
        report.present |= done.present
        report.completed += done.completed
        report.not_taken += done.not_taken
        report.unread += done.unread
        report.undated += done.undated
        report.refused += done.refused
        report.decision = done.decision or report.decision
        if done.failure:  # nothing is wrong with the files: the next look tries them again
            report.failure = done.failure
            return
        reasons = {name: _reason(shown(name), done.refused) for name in wanted}
        self._note(wanted, found, reasons)
        news = [(name, why) for name, why in reasons.items() if why and known.get(name, ("", ""))[1] != why]
        self._tell(news)

    def _note(self, names: Sequence[str], found: dict[str, str], reasons: dict[str, str]) -> None:
        now = time.time()
        with self._library.catalog.writing() as db:
            db.executemany(
                "INSERT OR REPLACE INTO inbox VALUES (?, ?, ?, ?)",
                [(_stored(name), found[name], _stored(reasons[name]), now) for name in names],
            )


def refused(library: "Library", *, limit: int = 200) -> list[RefusedFile]:
    """Files of the inbox that were refused, and why, newest first."""
    rows = library.catalog.rows(
        "SELECT path, reason, at FROM inbox WHERE reason <> '' ORDER BY at DESC, path LIMIT ?", [limit]
    )
    return [RefusedFile(*row) for row in rows]


def taken_files(library: "Library") -> int:
    """How many files of the inbox were imported."""
    return int(library.catalog.row("SELECT count(*) FROM inbox WHERE reason = ''")[0])


def may_be_taken(name: str) -> bool:
    """Whether the name is that of a normal file: no unfinished download, hidden file or log of ours."""
    from store.importing.trees import is_leftover, suffix  # Pillow comes along

    return not (is_leftover(name) or suffix(name) in _UNFINISHED or name.startswith((LOG, PAPERS_LOG)))


def _found(top: Path, below: str, folders: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Every file that may be imported, with size and time; adds the times of the folders to `folders`."""
    with contextlib.suppress(OSError):  # gone again
        folders[below] = (top / below).stat().st_mtime_ns
        with os.scandir(top / below) as entries:
            for entry in entries:
                name = f"{below}/{entry.name}" if below else entry.name
                if entry.is_dir(follow_symlinks=False):
                    yield from _found(top, name, folders)
                elif may_be_taken(name) and (stat := _stat(entry, top)):
                    yield name, f"{stat.st_size}:{stat.st_mtime_ns}"


def _stored(text: str) -> str:
    """The text as the catalog can hold it: a file's name on disk need not be Unicode."""
    return text.encode("utf-8", "backslashreplace").decode()


def _stat(entry: "os.DirEntry[str]", top: Path) -> os.stat_result | None:
    """The status of a file, or of a link that stays within the inbox."""
    with contextlib.suppress(OSError):
        if entry.is_file() and (not entry.is_symlink() or Path(entry.path).resolve().is_relative_to(top)):
            return entry.stat()
    return None


def _together(names: Iterable[str]) -> dict[str, list[str]]:
    """Groups of files that may belong together: by folder of the inbox, and all at its top."""
    units: dict[str, list[str]] = {}
    for name in names:
        top, is_inside, _ = name.partition("/")
        units.setdefault(top if is_inside else "", []).append(name)
    return units


def _reason(item: str, refused: Sequence[Refusal]) -> str:
    """Why a file, or its content, was refused; of a list with many faults, the first and their number."""
    own = [one for one in refused if one.item == item or one.item.startswith((f"{item}:", f"{item}/"))]
    if not own:
        return ""
    first = own[0].reason if own[0].item == item else f"{own[0].item.removeprefix(item)}: {own[0].reason}"
    first = first.lstrip(": /")
    return first if len(own) == 1 else f"{first}; and {len(own) - 1:,} more"


class Watcher:
    """Looks through the inbox whenever something in it may have changed, until it is closed."""

    def __init__(self, inbox: WatchedFolder, *, name: str = "the inbox") -> None:
        """`name` is what faults call the folder."""
        self.looking = Worker(f"watching {name}", self._look)
        self.listening = Worker(f"listening for changes of {name}", self._listen)
        self._inbox = inbox
        self._end = threading.Event()
        self._is_due = True  # something may have changed
        self._is_told = False  # whether the system tells of changes
        # On the monotonic clock. Two looks at one moment would take any file for a whole one.
        self._earliest = self._all_at = 0.0
        self.looking.wake()
        self.listening.wake()

    @property
    def workers(self) -> tuple[Worker, ...]:
        """The background workers of the inbox."""
        return self.looking, self.listening

    def stop(self) -> None:
        """Tell it to end before the next batch; returns at once."""
        self._end.set()
        for worker in self.workers:
            worker.stop()

    def close(self) -> None:
        """Stop before the next batch; one that takes too long is left, and refused by the closed library."""
        self.stop()
        close_all(self.workers, timeout=_TIMEOUT, interrupt=lambda _: None)

    def _look(self, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._earliest:
            self.looking.wake(after=self._earliest - now)
            return
        if not (self._is_due or now >= self._all_at or self._inbox.has_changed()):
            pause = NOTIFIED if self._is_told else max(self._inbox.every, (time.monotonic() - now) / _SHARE)
            self.looking.wake(after=pause)
            return
        self._is_due = False
        try:
            report = self._inbox.scan(progress=progress)
            report.raise_failure()  # the worker shows it, and tries again
        except BaseException:
            self._is_due = True
            raise
        if self._inbox.is_restless:
            self._is_due = True
        self._earliest = time.monotonic() + self._inbox.every
        self._all_at = time.monotonic() + ALL
        self.looking.wake(after=self._inbox.every)

    def _listen(self, _: Progress) -> None:
        """Wait for notifications until the inbox is closed or its folder replaced; tries again on failure."""
        folder = self._inbox.folder
        if not is_remote(folder):
            try:
                self._hear(folder)
            except (OSError, RuntimeError) as error:  # no folder, or no room for watches
                log.info("the inbox is watched by its folders' times: %s", error)
            self._is_told = False
        if not self._end.is_set():
            self.listening.wake(after=NOTIFIED)

    def _hear(self, folder: Path) -> None:
        from watchfiles import watch

        which = identity(folder)
        for changes in watch(
            folder, watch_filter=lambda _, path: may_be_taken(Path(path).name), stop_event=self._end,
            step=_STEP, rust_timeout=_CALM, yield_on_timeout=True, raise_interrupt=False,
            force_polling=False, ignore_permission_denied=True,
        ):  # fmt: skip
            self._is_told = True
            if changes:
                self._is_due = True
                self.looking.wake()
            elif identity(folder) != which:  # moved or replaced: it sends no more notifications
                return


def is_remote(folder: Path, *, mounts: Path = MOUNTS) -> bool:
    """Whether the folder is on a file system without notifications: a network's, or another system's disk."""
    with contextlib.suppress(OSError):  # no Linux: nothing is known of it
        return _REMOTE.fullmatch(kind_of(folder, mounts=mounts)) is not None
    return False


class PaperFolder(WatchedFolder):
    """The watched folder of papers."""

    setting = "MEMEDEX_PAPERS"
    log = PAPERS_LOG
    every = 1.0  # seconds: one that was still growing is read again, as a new version

    def __init__(self, open_memory: Callable[[], "Memory"], folder: Path) -> None:
        super().__init__(folder)
        self._open_memory = open_memory
        self._done: dict[str, str] = {}  # size and time of each file that this process has looked at

    def scan(self, *, progress: Progress | None = None) -> Outcome:
        """Import the papers that are new or changed, and unchanged since the last scan."""
        found, before = self._looked()
        ready = [
            name for name, stat in found.items() if before.get(name) == stat and self._done.get(name) != stat
        ]
        outcome = Outcome()
        if not ready:
            return outcome
        documents = self._open_memory().documents
        known = documents.watched_files()
        for name in ready:
            if progress and progress.cancelled:
                break
            path = self.folder / name
            stat, reason = known.get(str(path), ("", ""))
            if stat != found[name] or reason:  # what was refused may be read by this version
                before_it, reason = reason, self._imported(name, outcome, progress)
                documents.note_watched_file(str(path), found[name], reason)
                if reason and reason != before_it:
                    self._tell([(name, reason)])
            self._done[name] = found[name]
        return outcome

    def _imported(self, name: str, outcome: Outcome, progress: Progress | None) -> str:
        """Import a file; returns why it was refused, or ""."""
        top, is_inside, _ = name.partition("/")
        try:
            one = self._open_memory().documents.import_document(
                self.folder / name,
                protocol=top if is_inside else self.folder.name,
                progress=progress,
                actor=WHO,
            )
        except (BadSource, InvalidInput) as error:
            outcome.refused.append(Refusal(name, str(error)))
            return str(error)
        outcome.done.append(one.source.id)
        return ""
