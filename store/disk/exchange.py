"""Exchange parts of a root for others that lie ready next to them, safely across crashes.

The folder `.restoring-…` holds the new parts. From the moment that `exchange.json` in it names them, the
exchange is decided: if it is interrupted, the next process that takes a lock of the root finishes it first.
"""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from secrets import token_hex

from filelock import FileLock, Timeout

from store.disk.files import Disk
from store.errors import LibraryInUse, NotWritten

STAGED = ".restoring-"
_RECORD, _LOCK = "exchange.json", "exchange.lock"
_TIMEOUT = 2.0  # seconds; an exchange takes milliseconds


@dataclass(frozen=True, slots=True)
class Exchange:
    """The parts of `root` to replace by those of `staged`; what was there goes to `aside`."""

    root: Path
    staged: Path
    aside: Path  # exists, below the root
    names: Sequence[str]


@contextmanager
def alone(staged: Path, root: Path, *, timeout: float = _TIMEOUT) -> Iterator[None]:
    """Keep other processes from these parts, from before they are made until they have their places.

    The locks of library and text memory would move away with their folders. Raises LibraryInUse.
    """
    lock = FileLock(staged / _LOCK, thread_local=False)
    try:
        lock.acquire(timeout=timeout)
    except Timeout:
        raise LibraryInUse(f"a backup is being restored into {root}; try again when that is done") from None
    try:
        yield
    finally:
        lock.release()


def exchange(parts: Exchange, *, disk: Disk) -> None:
    """Replace the parts, under `alone`, or leave them as before. Raises OSError, or NotWritten."""
    about = {"aside": parts.aside.relative_to(parts.root).as_posix(), "names": [*parts.names]}
    try:
        disk.replace(parts.staged / _RECORD, json.dumps(about).encode())
        disk.fsync_folders([parts.root])
        _carry_out(parts, disk)
    except OSError as error:
        try:
            _reverse(parts, disk)
        except OSError:
            raise NotWritten(
                f"the disk refused half of the exchange ({error}); opening the library finishes it"
            ) from error
        raise


def finish_exchanges(root: Path) -> None:
    """Finish this root's interrupted exchanges, remove unfinished parts. Raises LibraryInUse."""
    for staged in root.glob(f"{STAGED}*"):
        is_waited_for = is_decided(staged)
        if not (is_waited_for or (staged / _LOCK).exists()):  # another program's
            continue
        try:
            with alone(staged, root, timeout=_TIMEOUT if is_waited_for else 0):
                if parts := _read(staged, root):
                    _carry_out(parts, Disk())
                if not is_decided(staged):
                    shutil.rmtree(staged, ignore_errors=True)
        except LibraryInUse:
            if is_waited_for:  # else they are still being copied
                raise


def finish_for_reading(root: Path) -> None:
    """Like `finish_exchanges`, as far as a process that may only read can."""
    with suppress(OSError):
        finish_exchanges(root)


def is_interrupted(root: Path) -> bool:
    """Whether an exchange in this root is under way or was interrupted."""
    return any(_read(staged, root) for staged in root.glob(f"{STAGED}*"))


def is_decided(staged: Path) -> bool:
    """Whether these parts come into their places in any case."""
    return (staged / _RECORD).exists()


def _carry_out(parts: Exchange, disk: Disk) -> None:
    for name in parts.names:
        new, place = parts.staged / name, parts.root / name
        if not os.path.lexists(new):  # in its place already
            continue
        if os.path.lexists(place):
            disk.rename(place, _free(parts.aside / name))
        disk.rename(new, place)
    disk.fsync_folders([parts.aside, parts.staged, parts.root])
    _forget(parts, disk)


def _reverse(parts: Exchange, disk: Disk) -> None:
    for name in reversed(parts.names):
        new, place, old = (folder / name for folder in (parts.staged, parts.root, parts.aside))
        if os.path.lexists(old):
            if os.path.lexists(place):  # the new part, or what another process made meanwhile
                disk.rename(place, _free(old) if os.path.lexists(new) else new)
            disk.rename(old, place)
        elif not os.path.lexists(new):  # nothing was there before
            disk.rename(place, new)
    disk.fsync_folders([parts.aside, parts.staged, parts.root])
    _forget(parts, disk)


def _forget(parts: Exchange, disk: Disk) -> None:
    disk.step("remove", parts.staged / _RECORD)
    (parts.staged / _RECORD).unlink(missing_ok=True)


def _free(path: Path) -> Path:
    """This path, or one next to it if a part was moved there already."""
    return path.with_name(f"{path.name}.{token_hex(3)}") if os.path.lexists(path) else path


def _read(staged: Path, root: Path) -> Exchange | None:
    """The exchange that is recorded there; None if there is none that Memedex wrote."""
    try:
        about = json.loads((staged / _RECORD).read_bytes())
        aside, names = PurePosixPath(about["aside"]), [str(name) for name in about["names"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_ours = not aside.is_absolute() and ".." not in aside.parts
    is_ours = is_ours and all(name == Path(name).name for name in names)
    return Exchange(root, staged, root / aside, names) if is_ours else None
