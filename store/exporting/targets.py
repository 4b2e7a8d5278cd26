"""The destination of an export: a folder or a zip, which appears complete or not at all."""

import contextlib
import io
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO, Protocol
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from filelock import FileLock, Timeout

from store.errors import BadSource

HALF = ".memedex-export-"  # how the folder of an export that is not complete is called
_LOCK = ".lock"  # beside it


class ExportTarget(Protocol):
    """A folder or a zip that an export is written to."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file with this content."""

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """A new file of this name to write to."""


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, name: str, content: bytes) -> None:
        with self.open(name) as file:
            file.write(content)

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")  # two addresses may differ in case only, and the disk may not mind case


class _Zip:
    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive

    def write(self, name: str, content: bytes) -> None:
        self._archive.writestr(_entry(name), content)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        # A zip takes one entry at a time, so a table waits until the pictures are in.
        buffer = io.BytesIO()
        yield buffer
        self.write(name, buffer.getvalue())


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the same export gives the same bytes
    entry.compress_type = ZIP_STORED if name.endswith(".jpg") else ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


@contextmanager
def staged_target(destination: Path) -> Iterator[ExportTarget]:
    """A place beside the destination that is renamed to it when the block succeeds.

    Raises BadSource if the destination exists or the disk refuses.
    """
    as_zip = destination.suffix.lower() == ".zip"
    is_empty_folder = destination.is_dir() and not as_zip and not any(destination.iterdir())
    if (destination.exists() or destination.is_symlink()) and not is_empty_folder:
        raise BadSource(f"there is something at {destination} already; export to a new place")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with _staging_folder(destination.parent) as folder:
            made = folder / "export"
            if as_zip:
                with ZipFile(made, "w") as archive:
                    yield _Zip(archive)
            else:
                made.mkdir()
                yield _Folder(made)
            if is_empty_folder:
                destination.rmdir()
            made.rename(destination)
    except OSError as error:
        raise BadSource(f"the export to {destination} failed: {error.strerror or error}") from error


@contextmanager
def _staging_folder(parent: Path) -> Iterator[Path]:
    """A folder for an incomplete export, locked while it is being written."""
    folder = parent / f"{HALF}{token_hex(8)}"
    lock = FileLock(f"{folder}{_LOCK}")
    with lock:  # before the folder is there: nobody finds it unlocked
        try:
            folder.mkdir()
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            Path(lock.lock_file).unlink(missing_ok=True)


def remove_leftovers(parent: Path) -> None:
    """Delete what killed exports left in this folder; those in progress, in any process, stay."""
    for name in {path.name.removesuffix(_LOCK) for path in parent.glob(f"{HALF}*")}:
        lock = FileLock(parent / f"{name}{_LOCK}")
        with contextlib.suppress(Timeout, OSError), lock.acquire(timeout=0):
            shutil.rmtree(parent / name, ignore_errors=True)
            Path(lock.lock_file).unlink(missing_ok=True)
