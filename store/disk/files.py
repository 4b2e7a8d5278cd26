"""Atomic and durable file writes, with a hook before every step for tests."""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from hashlib import file_digest, sha256
from io import BufferedReader
from itertools import islice
from pathlib import Path

Step = Callable[[str, Path], None]

_OPEN_TOGETHER = 64  # files that `write_all` has open at the same time
_SYNCED_TOGETHER = 8  # more threads gain nothing: 128 files took 360 ms with one, 15 ms with 4 to 32
_NEEDED = 1 << 17  # bytes: SQLite's -shm file takes 32 KiB, its log begins with it


class Disk:
    """Performs every write, fsync and rename of the write path.

    `before` is called ahead of each step with its name and path; tests raise in it to simulate a crash.
    """

    def __init__(self, *, before: Step | None = None) -> None:
        self._before = before

    def step(self, name: str, path: Path) -> None:
        """Called before each write, fsync, rename and commit; a test stops the program here."""
        if self._before:
            self._before(name, path)

    def make_folder(self, path: Path) -> None:
        """Create the folder and its parents so that they survive a power cut."""
        if not path.is_dir():
            self.make_folder(path.parent)
            self.step("mkdir", path)
            path.mkdir(exist_ok=True)
            self.fsync_folders([path.parent])

    def write(self, path: Path, content: bytes) -> None:
        """Write a new file; its content is on disk when this returns."""
        self.write_all({path: content})

    def write_all(self, files: Mapping[Path, bytes]) -> None:
        """Write new files, which are on disk when this returns; synced together, for one write of its log."""
        rest = iter(files.items())
        while group := list(islice(rest, _OPEN_TOGETHER)):
            with ExitStack() as opened:
                descriptors = []
                for path, content in group:
                    self.step("write", path)
                    file = opened.enter_context(path.open("wb"))
                    file.write(content)
                    file.flush()
                    descriptors.append(file.fileno())
                for path, _ in group:
                    self.step("fsync", path)
                _sync(descriptors)

    def replace(self, path: Path, content: bytes) -> None:
        """Replace a file atomically: after a crash it has the old content or the new, never a mixture."""
        temporary = path.with_name(f".{path.name}.new")
        self.write(temporary, content)
        self.rename(temporary, path)
        self.fsync_folders([path.parent])

    def rename(self, source: Path, target: Path) -> None:
        """Rename a file or folder; an existing file at the target is replaced."""
        self.step("rename", target)
        source.replace(target)

    def fsync_folders(self, folders: Iterable[Path]) -> None:
        """Make renames inside these folders survive a power cut."""
        if os.name == "nt":  # Windows cannot open a folder; NTFS journals its names itself
            return
        for folder in folders:
            self.step("fsync", folder)
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def remove_file(self, path: Path) -> None:
        """Delete a file, if it exists."""
        self.step("remove", path)
        path.unlink(missing_ok=True)

    def remove_folder(self, path: Path) -> None:
        """Delete a folder with its content, if it exists."""
        if path.is_dir():
            self.step("remove", path)
            shutil.rmtree(path)


def _sync(descriptors: Sequence[int]) -> None:
    if len(descriptors) == 1:
        os.fsync(descriptors[0])
        return
    with ThreadPoolExecutor(min(_SYNCED_TOGETHER, len(descriptors))) as threads:
        list(threads.map(os.fsync, descriptors))


def absolute(path: str | Path) -> Path:
    """The absolute path of what a person typed, links followed."""
    return Path(os.path.realpath(expanded(path)))  # `resolve` fails where links lead in a circle


def expanded(path: str | Path) -> Path:
    """What a person typed, with their home folder for `~`; `~name` of no user is a file's name."""
    path = Path(path)
    with suppress(RuntimeError):  # there is no such user
        path = path.expanduser()
    return path


class NotAFile(OSError):
    """The path names a folder, a device or a pipe instead of a file."""


def open_regular(path: Path) -> BufferedReader:
    """Open an ordinary file for reading. Raises NotAFile for a folder, and for a pipe, which may block."""
    # Without O_NONBLOCK, opening a pipe waits for its writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if path.is_dir():
        raise NotAFile(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NotAFile(errno.EINVAL, "it is a device or a pipe, not a file", str(path))
    return file


def read_regular(path: Path, *, limit: int) -> bytes:
    """Read an ordinary file of at most `limit` bytes. Raises NotAFile, or OSError if it is larger."""
    with open_regular(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it is larger than {limit:,} bytes", str(path))
    return content


def content_hash(content: bytes) -> str:
    """The content's SHA-256 as hex digits."""
    return sha256(content).hexdigest()


def file_hash(path: Path) -> str | None:
    """The file's SHA-256 as hex digits; None if there is no ordinary file at the path."""
    try:
        with open_regular(path) as file:
            return file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError, NotAFile):
        return None


def refused(error: Exception, place: Path) -> str:
    """Explain an error of the disk, or of SQLite on it, with the remedy."""
    message = str(error)
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or "disk is full" in message or ("disk I/O" in message and not _has_room(place)):
        return f"the disk that holds {place} is full; make room and try again"
    if getattr(error, "errno", None) == errno.EMFILE or ("unable to open" in message and not _has_handles()):
        return (
            "this program has more files and connections open than the system lets it; close some pages, or "
            "allow it more (ulimit -n), and try again"
        )
    if "unable to open" in message:
        return f"{place}, or something in it, is gone or may not be opened; put it back or fix the permission"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return message


def _has_handles() -> bool:
    """Whether this process may open another file."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno != errno.EMFILE
    return True


def _has_room(place: Path) -> bool:
    """Whether SQLite has room for the files it needs to read a database. True if that is unknown."""
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        return shutil.disk_usage(place).free >= _NEEDED
    except OSError:
        return True


def identity(path: Path) -> tuple[int, int] | None:
    """The device and inode that tell this file from another of its name; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
