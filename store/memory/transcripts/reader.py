"""Read large sessions in a process of its own, so that a core reads while another one writes.

In one process the threads would wait for each other: reading is Python, and SQLite calls Python for the
checksum of each row. The process opens the memory for reading, and sends what is new to the one that writes.
`python -m store.memory.transcripts.reader` is told by its standard input what to read.
"""

import contextlib
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

from store.disk.files import Disk
from store.errors import NotWritten
from store.memory.engine.database import Database
from store.memory.transcripts.intake import Intake, TranscriptReport, Write
from store.memory.transcripts.tables import KIND
from store.progress import Progress

_LARGE = 20_000_000  # bytes, from which a second process is worth its start
_TOLD = 0.2  # seconds between two words of how far it is
_SETTLED = b"\n"
_PROGRAM = Path(__file__).resolve().parents[3]


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
            with contextlib.suppress(OSError):
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
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_PROGRAM,
        start_new_session=True,  # Ctrl-C is for the program; this process ends with its pipe
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            pickle.dump((path.absolute(), [one.absolute() for one in paths], *how), process.stdin)
            process.stdin.flush()
            while not progress.cancelled:
                progress.what, progress.done, item = pickle.load(process.stdout)  # from our own process only
                if isinstance(item, Exception):
                    raise item
                if isinstance(item, TranscriptReport):
                    report.add(item)
                    return
                if item == _SETTLED:
                    process.stdin.write(_SETTLED)
                    process.stdin.flush()
                elif item is not None:
                    write(item)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            status = process.wait()
            raise NotWritten(
                f"the process that read the sessions ended ({status}); what it had read is stored, and "
                "another import goes on"
            ) from error
        finally:
            process.kill()
            with contextlib.suppress(BrokenPipeError):  # what was not sent goes with it
                process.stdin.close()


class _Writer:
    """What the reading process sends to the one that writes."""

    def __init__(self, answers: BinaryIO, requests: BinaryIO) -> None:
        self.progress = Progress()
        self._answers, self._requests, self._turn = answers, requests, threading.Lock()
        threading.Thread(target=self._tell, daemon=True).start()

    def send(self, item: Any) -> None:
        """Send a transaction, a report, or how far it is alone."""
        with self._turn:
            pickle.dump((self.progress.what, self.progress.done, item), self._answers, protocol=5)
            self._answers.flush()

    def settle(self) -> None:
        """Wait until all is written."""
        self.send(_SETTLED)
        self._requests.read(len(_SETTLED))

    def _tell(self) -> None:
        """Say how far it is; if whoever asked is gone, end this process at once."""
        while True:
            time.sleep(_TOLD)
            try:
                self.send(None)
            except ValueError:  # closed: all is said
                return
            except OSError:
                os._exit(1)


def main() -> None:
    """In the process of its own: read what is asked for."""
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # a library that prints must not spoil an answer
        path, paths, user_id, only_known = pickle.load(requests)
        writer, report = _Writer(answers, requests), TranscriptReport()
        try:
            with closing(Database(path, disk=Disk(), writable=False)) as database:
                intake = Intake(
                    database.of(KIND), report, writer.progress, write=writer.send, settle=writer.settle
                )
                intake.take_all(paths, user_id=user_id, only_known=only_known)
            writer.send(report)
        except BrokenPipeError:  # it was cancelled
            return
        except Exception as error:  # noqa: BLE001  whoever asked has to know
            writer.send(error)


if __name__ == "__main__":
    main()
