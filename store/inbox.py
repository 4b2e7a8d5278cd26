"""The watched folder: new pictures and token lists arrive in pending by themselves.

Nothing in it is ever deleted, moved or renamed. What is still being copied is waited for; what was taken is
written down in the catalog and not taken again; what was refused is said with its reason, there and in a log
beside the files, and looked at once more when something new lies beside it.
"""

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from store.errors import BadSource, MemedexError
from store.importing.candidate import Refusal, shown
from store.importing.names import is_leftover, suffix
from store.outcome import ImportReport
from store.progress import Progress

if TYPE_CHECKING:
    from store.library import Library

log = logging.getLogger(__name__)

WHO = "inbox"  # whose decision an arrival is: nobody's own undo takes it back
LOG = "memedex-inbox.log"
EVERY = 2.0  # seconds between two looks, in which a file must not have changed
_UNFINISHED = (".part", ".partial", ".crdownload", ".download", ".tmp", ".filepart")
_LONGEST_LOG = 1_000_000  # bytes; then a new one is begun


@dataclass(frozen=True, slots=True)
class Refused:
    """A file of the inbox that was not taken, or not wholly, and why."""

    path: str
    reason: str
    at: float


class Inbox:
    """One folder, looked through whenever somebody asks; what is new in it is taken in."""

    def __init__(self, library: "Library", folder: Path) -> None:
        self.folder = folder.expanduser().resolve()
        self._library = library
        self._resting: dict[str, str] = {}  # size and time of each file at the last look

    def look(self, *, progress: Progress | None = None) -> ImportReport:
        """Take in what is new and has been lying still since the last look; BadSource, NotWritten."""
        report = ImportReport()
        if not self.folder.is_dir():
            raise BadSource(f"the inbox {self.folder} is no folder; make it, or set MEMEDEX_INBOX")
        found = dict(self._found())
        before, self._resting = self._resting, found
        known = self._known()
        for names in _together(found).values():
            if not any(known.get(name, ("",))[0] != found[name] for name in names):
                continue
            if all(before.get(name) == found[name] for name in names):  # else somebody is still copying
                self._take(names, found, known, report, progress)
        return report

    def _found(self) -> Iterator[tuple[str, str]]:
        """Every file that may be taken, with its size and time."""
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if is_leftover(name) or suffix(name) in _UNFINISHED or name.startswith(LOG):
                continue
            with contextlib.suppress(OSError):  # gone again
                if path.is_file() and path.resolve().is_relative_to(self.folder):
                    stat = path.stat()
                    yield name, f"{stat.st_size}:{stat.st_mtime_ns}"

    def _known(self) -> dict[str, tuple[str, str]]:
        with self._library.catalog.reading() as db:
            rows = db.execute("SELECT path, stat, reason FROM inbox").fetchall()
        return {row["path"]: (row["stat"], row["reason"]) for row in rows}

    def _take(
        self,
        names: Sequence[str],
        found: dict[str, str],
        known: dict[str, tuple[str, str]],
        report: ImportReport,
        progress: Progress | None,
    ) -> None:
        """What is new among files that belong together, and what was refused before: it may be whole now."""
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
            folders.coins(tree), source=top if is_inside else WHO, progress=progress, who=WHO
        )
        if progress and progress.cancelled:  # not all of it was looked at: the next one begins again
            return
        reasons = {name: _reason(shown(name), done.refused) for name in wanted}
        self._note(wanted, found, reasons)
        said = [(name, why) for name, why in reasons.items() if why and known.get(name, ("", ""))[1] != why]
        self._tell(said)
        report.done += done.done
        report.present |= done.present
        report.refused += done.refused
        report.decision = done.decision or report.decision

    def _note(self, names: Sequence[str], found: dict[str, str], reasons: dict[str, str]) -> None:
        now = time.time()
        with self._library.catalog.writing() as db:
            db.executemany(
                "INSERT OR REPLACE INTO inbox VALUES (?, ?, ?, ?)",
                [(name, found[name], reasons[name], now) for name in names],
            )

    def _tell(self, refused: Sequence[tuple[str, str]]) -> None:
        if not refused:
            return
        path = self.folder / LOG
        when = time.strftime("%Y-%m-%d %H:%M:%S")
        try:
            if path.exists() and path.stat().st_size > _LONGEST_LOG:
                path.replace(self.folder / f"{LOG}.old")
            with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(f"{when}  {name}: {' '.join(reason.split())}\n" for name, reason in refused)
        except OSError as error:  # a folder that may only be read; the page says it all the same
            log.warning("the inbox's log cannot be written: %s", error)


def refused(library: "Library", *, limit: int = 200) -> list[Refused]:
    """What of the inbox was not taken, and why, newest first."""
    with library.catalog.reading() as db:
        rows = db.execute(
            "SELECT path, reason, at FROM inbox WHERE reason <> '' ORDER BY at DESC, path LIMIT ?", [limit]
        ).fetchall()
    return [Refused(*row) for row in rows]


def taken(library: "Library") -> int:
    """How many files of the inbox were taken in."""
    with library.catalog.reading() as db:
        return int(db.execute("SELECT count(*) FROM inbox WHERE reason = ''").fetchone()[0])


class Watcher:
    """Looks again and again in a thread of its own; what goes wrong is logged once, and tried again."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._progress = Progress()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="memedex-inbox", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop before the next batch."""
        self._progress.cancel()
        self._end.set()
        self._thread.join()

    def _follow(self) -> None:
        fault = ""
        while not self._end.is_set():
            try:
                self._inbox.look(progress=self._progress)
                fault = ""
            except (MemedexError, OSError, sqlite3.Error) as error:
                if str(error) != fault:
                    log.warning("the inbox: %s", error)
                fault = str(error)
            self._end.wait(EVERY)


def _together(names: Iterable[str]) -> dict[str, list[str]]:
    """Files that may belong together: those of one folder in the inbox, and those that lie in it loose."""
    units: dict[str, list[str]] = {}
    for name in names:
        top, is_inside, _ = name.partition("/")
        units.setdefault(top if is_inside else "", []).append(name)
    return units


def _reason(item: str, refused: Sequence[Refusal]) -> str:
    """Why a file, or what it holds, was not taken; of a list with many faults, the first and how many."""
    own = [one for one in refused if one.item == item or one.item.startswith((f"{item}:", f"{item}/"))]
    if not own:
        return ""
    first = own[0].reason if own[0].item == item else f"{own[0].item.removeprefix(item)}: {own[0].reason}"
    first = first.lstrip(": /")
    return first if len(own) == 1 else f"{first}; and {len(own) - 1:,} more"
