"""The watched folder: new pictures and token lists are imported to pending.

Nothing in it is ever deleted, moved or renamed. Files that are still being copied are waited for; imported
ones are recorded in the catalog and not imported again; refused ones are reported with the reason, there and
in a log beside the files, and tried again when something new is beside them.
"""

import contextlib
import logging
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from store.disk.files import absolute
from store.errors import BadSource
from store.importing.candidate import shown
from store.importing.names import is_leftover, suffix
from store.outcome import ImportReport, Refusal
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
class RefusedFile:
    """A file of the inbox that was refused, at least in part, and why."""

    path: str
    reason: str
    at: float


class Inbox:
    """One watched folder; each look imports what is new."""

    def __init__(self, library: "Library", folder: Path) -> None:
        self.folder = absolute(folder)
        self._library = library
        self._resting: dict[str, str] = {}  # size and time of each file at the last look
        self._folders: dict[str, int] = {}  # the time of each folder just before it was looked through
        self.is_restless = False  # whether what was seen at the last look may still have been changing

    def scan(self, *, progress: Progress | None = None) -> ImportReport:
        """Import files that are new and unchanged since the last scan.

        If the report has a `failure`, the next scan tries its files again.

        Raises BadSource if the inbox is no folder, NotWritten if the disk refuses.
        """
        report = ImportReport()
        if not self.folder.is_dir():
            raise BadSource(f"the inbox {self.folder} is no folder; make it, or set MEMEDEX_INBOX")
        folders: dict[str, int] = {}
        fresh = time.time_ns() - EVERY * 1e9  # so coarse may a folder's time be
        found = dict(sorted(_found(self.folder, "", folders)))
        before, self._resting, self._folders = self._resting, found, folders
        self.is_restless = before != found or any(changed > fresh for changed in folders.values())
        known = self._known(found)
        for names in _together(found).values():
            if not any(known.get(name, ("",))[0] != found[name] for name in names):
                continue
            if all(before.get(name) == found[name] for name in names):  # else somebody is still copying
                self._take(names, found, known, report, progress)
        return report

    def has_changed(self) -> bool:
        """Whether files were added to or removed from its folders since the last look."""
        try:
            return any(
                (self.folder / name).stat().st_mtime_ns != before for name, before in self._folders.items()
            )
        except OSError:
            return True

    def _known(self, found: Iterable[str]) -> dict[str, tuple[str, str]]:
        with self._library.catalog.reading() as db:
            rows = db.execute("SELECT path, stat, reason FROM inbox").fetchall()
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


def refused(library: "Library", *, limit: int = 200) -> list[RefusedFile]:
    """Files of the inbox that were refused, and why, newest first."""
    with library.catalog.reading() as db:
        rows = db.execute(
            "SELECT path, reason, at FROM inbox WHERE reason <> '' ORDER BY at DESC, path LIMIT ?", [limit]
        ).fetchall()
    return [RefusedFile(*row) for row in rows]


def taken_files(library: "Library") -> int:
    """How many files of the inbox were imported."""
    with library.catalog.reading() as db:
        return int(db.execute("SELECT count(*) FROM inbox WHERE reason = ''").fetchone()[0])


def may_be_taken(name: str) -> bool:
    """Whether the name is that of a normal file: no unfinished download, hidden file or log of ours."""
    return not (is_leftover(name) or suffix(name) in _UNFINISHED or name.startswith(LOG))


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
