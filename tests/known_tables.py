"""New libraries and text memories begin as copies of empty ones: tables take longer to make than most tests.

Not where a test stops the program between the steps. What cannot be copied is left to the program.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

from store.catalog import catalog, checksums
from store.disk.files import Disk
from store.memory.engine import database

_UNCOPIED = Disk(before=lambda name, path: None)
_VERSIONS = catalog._VERSIONS
_open_memory = database.Database._open_to_write


@cache
def _empty(kind: Callable[..., catalog.Catalog | database.Database]) -> bytes:
    folder = Path(mkdtemp())
    kind(path := folder / "empty", disk=_UNCOPIED, writable=True).close()
    if kind is catalog.Catalog:
        with _written(path) as db:
            db.execute("DELETE FROM meta")
    content = path.read_bytes()
    shutil.rmtree(folder)
    return content


def _written(path: Path) -> closing[sqlite3.Connection]:
    db = sqlite3.connect(path, isolation_level=None)
    checksums.install(db)
    return closing(db)


def _begin(kind: Callable[..., catalog.Catalog | database.Database], path: Path, disk: Disk) -> None:
    """Called ahead of a writer's first connection."""
    database.move_foreign_logs(path, disk=disk)
    is_as_released = catalog._VERSIONS is _VERSIONS
    if disk._before or not is_as_released or [*path.parent.glob(f"{path.name}*")]:
        return
    copy = path.with_name(f".{uuid4().hex}")
    with suppress(OSError, sqlite3.Error):
        copy.write_bytes(_empty(kind))
        if kind is catalog.Catalog:
            with _written(copy) as db:
                catalog._begin(db)
        os.link(copy, path)  # unless another process made one meanwhile
    with suppress(OSError):
        copy.unlink()


def _open_to_write(self: database.Database, *, is_made: bool, version: int) -> None:
    if version == database.VERSION:
        _begin(database.Database, self.path, self._disk)
    _open_memory(self, is_made=is_made, version=version)


catalog.move_foreign_logs = lambda path, *, disk: _begin(catalog.Catalog, path, disk)
database.Database._open_to_write = _open_to_write  # type: ignore[method-assign]
