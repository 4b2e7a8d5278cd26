"""A new text memory begins as a copy of an empty one: its tables take longer to make than most tests.

Not where a test stops the program between the steps.
"""

import os
import shutil
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

from store.disk.files import Disk
from store.memory.engine.database import VERSION, Database

_open_to_write = Database._open_to_write


@cache
def _empty() -> bytes:
    folder = Path(mkdtemp())
    Database(folder / "memory.sqlite", disk=Disk(before=lambda name, path: None), writable=True).close()
    content = (folder / "memory.sqlite").read_bytes()
    shutil.rmtree(folder)
    return content


def _open_copy_to_write(self: Database, *, is_made: bool, version: int) -> None:
    is_new = not is_made and not [*self.path.parent.glob(f"{self.path.name}*")]
    if is_new and version == VERSION and not self._disk._before:
        copy = self.path.with_name(f".{uuid4().hex}")
        copy.write_bytes(_empty())
        with suppress(FileExistsError):  # another process made one meanwhile
            os.link(copy, self.path)
        copy.unlink()
    _open_to_write(self, is_made=is_made, version=version)


Database._open_to_write = _open_copy_to_write  # type: ignore[method-assign]
