"""Files that are wholly there or not at all, and a seam to stop the world at every step."""

import errno
import os
import shutil
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

Step = Callable[[str, Path], None]

_NEEDED = 1 << 17  # bytes: SQLite's -shm file takes 32 KiB, its log begins beside it


class Disk:
    """Every write, fsync and rename of the write path goes through here.

    `before` is called ahead of each step with its name and path; a test raises in it to end the world there.
    """

    def __init__(self, *, before: Step | None = None) -> None:
        self._before = before

    def step(self, name: str, path: Path) -> None:
        if self._before:
            self._before(name, path)

    def make_folder(self, path: Path) -> None:
        """A folder that is still there after a power cut."""
        if not path.is_dir():
            self.make_folder(path.parent)
            self.step("mkdir", path)
            path.mkdir(exist_ok=True)
            self.fsync_folders([path.parent])

    def write(self, path: Path, content: bytes) -> None:
        """A new file whose content is on the disk when this returns."""
        self.step("write", path)
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            self.step("fsync", path)
            os.fsync(file.fileno())

    def replace(self, path: Path, content: bytes) -> None:
        """The old content or the new, never a mixture, whenever the power goes."""
        temporary = path.with_name(f".{path.name}.new")
        self.write(temporary, content)
        self.rename(temporary, path)
        self.fsync_folders([path.parent])

    def rename(self, source: Path, target: Path) -> None:
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

    def remove_folder(self, path: Path) -> None:
        if path.is_dir():
            self.step("remove", path)
            shutil.rmtree(path)


def content_hash(content: bytes) -> str:
    return sha256(content).hexdigest()


def file_hash(path: Path) -> str | None:
    """The SHA-256 of a file; None where there is no such file."""
    try:
        return content_hash(path.read_bytes())
    except FileNotFoundError:
        return None


def refused(error: Exception, place: Path) -> str:
    """What the disk, or SQLite on it, refused here, in words with the way out."""
    said = str(error)
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or "disk is full" in said or ("disk I/O" in said and not _has_room(place)):
        return f"the disk that holds {place} is full; make room and try again"
    if "unable to open" in said:
        return (
            f"{place}, or something in it, is gone or may not be opened; put it back or mend the permission"
        )
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return said


def _has_room(place: Path) -> bool:
    """Whether SQLite can make the files beside its own that it needs to read; True where nobody knows."""
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        return shutil.disk_usage(place).free >= _NEEDED
    except OSError:
        return True
