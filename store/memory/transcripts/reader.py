"""Read large sessions in a process of its own, so that a core reads while another one writes.

In one process the threads would wait for each other: reading is Python, and SQLite calls Python for the
checksum of each row. The process opens the memory for reading, and reads ahead of the one that writes.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from store.chroma.process import ChildProcess, ChromaEnded
from store.disk.files import Disk
from store.errors import NotWritten
from store.memory.engine.database import Database
from store.memory.transcripts.intake import Intake, TranscriptReport, Write
from store.memory.transcripts.tables import KIND
from store.progress import Progress

_LARGE = 20_000_000  # bytes, from which a second process is worth its start
_TOLD = 0.2  # seconds between two words of how far it is
_AHEAD = 1  # transactions that wait while one is written, and another one is read
_SETTLED = "settled"


def take_all(
    database: Database,
    paths: Sequence[Path],
    report: TranscriptReport,
    progress: Progress,
    *,
    write: Callable[[Write], None],
    user_id: str,
    only_known: bool = False,
) -> None:
    """Have what is new in all sessions of these folders and files written, transaction by transaction.

    With `only_known`, in those of the programs in the table of sources alone. If cancelled, what was written
    stays. Raises NotWritten if the process that reads ends early.
    """
    if _size(paths) >= _LARGE:
        _take_apart((database.path, paths, user_id, only_known), report, progress, write=write)
    else:
        intake = Intake(database, report, progress, write=write)
        intake.take_all(paths, user_id=user_id, only_known=only_known)


def _size(paths: Sequence[Path]) -> int:
    total = 0
    for path in paths:
        for one in path.rglob("*") if path.is_dir() else [path]:
            with suppress(OSError):
                total += one.stat().st_size
    return total


def _take_apart(
    asked: tuple[Path, Sequence[Path], str, bool],
    report: TranscriptReport,
    progress: Progress,
    *,
    write: Callable[[Write], None],
) -> None:
    path, paths, *how = asked
    process = _ReadingProcess(_Reading, path.absolute(), [one.absolute() for one in paths], *how)
    try:
        while not progress.cancelled:
            progress.what, progress.done, item = process.call(_Reading.next)
            if isinstance(item, Exception):
                raise item
            if isinstance(item, TranscriptReport):
                report.add(item)
                return
            if item not in (None, _SETTLED):
                write(item)
    except ChromaEnded as error:
        raise NotWritten(f"{error}; what it had read is stored, and another import goes on") from error
    finally:
        process.kill()  # what was not asked for goes with it
        with suppress(ChromaEnded):
            process.close()


class _Reading:
    """In the process of its own: what is new in these sessions, read ahead by a thread."""

    def __init__(self, path: Path, paths: Sequence[Path], user_id: str, only_known: bool) -> None:
        self._items: Queue[Any] = Queue(_AHEAD)
        self._progress, self._is_settling, self._settled = Progress(), False, threading.Semaphore(0)
        asked = (path, paths, user_id, only_known)
        threading.Thread(target=self._read, args=asked, daemon=True).start()

    def next(self) -> tuple[str, int, Any]:
        """How far it is; and a transaction, _SETTLED, at the end the report or an error, or None as yet.

        Who asks again has written what came before.
        """
        if self._is_settling:
            self._settled.release()
        item = None
        with suppress(Empty):
            item = self._items.get(timeout=_TOLD)
        self._is_settling = item == _SETTLED
        return self._progress.what, self._progress.done, item

    def close(self) -> None:
        """Nothing is kept open."""

    def _settle(self) -> None:
        """Wait until all is written."""
        self._items.put(_SETTLED)
        self._settled.acquire()

    def _read(self, path: Path, paths: Sequence[Path], user_id: str, only_known: bool) -> None:
        report = TranscriptReport()
        try:
            with closing(Database(path, disk=Disk(), writable=False)) as database:
                intake = Intake(
                    database.of(KIND), report, self._progress, write=self._items.put, settle=self._settle
                )
                intake.take_all(paths, user_id=user_id, only_known=only_known)
            self._items.put(report)
        except Exception as error:  # noqa: BLE001  whoever asked has to know
            self._items.put(error)


class _ReadingProcess(ChildProcess[_Reading]):
    noun = "the process that reads the sessions"
