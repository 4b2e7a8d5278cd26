"""What an interrupted check found to be sound, in a file, so that the next one does not read it again."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from store.catalog.catalog import DISK_ERRORS
from store.disk.files import content_hash

_T = TypeVar("_T")
_FORM = 1  # what was checked by an earlier version of these checks counts no longer
_VALID = 86_400.0  # seconds after the last batch: a disk that decays says so by nothing but its content


class CheckedBatches:
    """The sound batches of one check; the file is deleted at its end.

    A batch is known by everything it was read from, so one that changed since is checked again, and so is
    one with a fault. A folder that cannot be written to costs no more than the memory of an interruption.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sound: set[str] = set()
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime < _VALID:
                self._sound.update(path.read_text("ascii", errors="replace").split())
            else:
                path.unlink()

    def faults(self, source: object, look: Callable[[], list[_T]]) -> Iterator[_T]:
        """What is wrong with a batch; nothing is read if one from the same source was sound.

        `source` says by its `repr` what the batch is read from, with sizes and times of files.
        """
        key = content_hash(repr((_FORM, source)).encode())
        if key in self._sound:
            return
        found = look()
        if not found:
            self._sound.add(key)
            with contextlib.suppress(*DISK_ERRORS), self._path.open("a", encoding="ascii") as file:
                file.write(f"{key}\n")
        yield from found

    def finish(self) -> None:
        """Forget all: the next check begins from nothing."""
        self._sound.clear()
        with contextlib.suppress(*DISK_ERRORS):
            self._path.unlink(missing_ok=True)
