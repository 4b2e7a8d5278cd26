"""Paths on the server's disk: any from this machine, else only below the configured folders.

Somebody who may import from any path can read any file of the server that holds pictures or text.
"""

from collections.abc import Callable
from errno import ENAMETOOLONG
from functools import partial
from pathlib import Path

from components.shell import format
from components.shell.session import login
from store.disk import files
from store.errors import BadSource, NotPermitted
from store.settings import settings

_SHOWN = 200  # characters of a path in a message


def can_be_named() -> bool:
    """Whether the current user may name any path at all."""
    return login.is_local() or bool(_allowed())


def named(text: str) -> Path:
    """The typed path. Raises NotPermitted if the user may not name it, whether it exists or not."""
    return naming()(text)


def naming() -> Callable[[str], Path]:
    """`named` for a form of this page, which asks for a path beside its runs."""
    return partial(_named, is_local=login.is_local())


def existing(name: Callable[[str], Path], text: str) -> Path:
    """The typed path, by `naming`. Raises BadSource if there is none, or nothing there."""
    if not text.strip():
        raise BadSource("Type a path first.")
    path = name(text)
    try:
        is_there = path.exists()
    except OSError as error:
        if error.errno != ENAMETOOLONG:
            raise
        is_there = False  # the system cannot have such a file: a wrong path, no fault of the disk
    if not is_there:
        raise BadSource(f"There is nothing at this path: {format.cut(text, limit=_SHOWN)}")
    return path


def _named(text: str, *, is_local: bool) -> Path:
    path = files.expanded(text.strip())
    if is_local:
        return path
    try:
        real = path.resolve()  # links are followed first: where it leads is what counts
    except (OSError, RuntimeError, ValueError):
        real = None
    if real and any(real.is_relative_to(folder) for folder in _allowed()):
        return real
    raise NotPermitted(
        "this path cannot be named from another machine: upload the files, or ask the administrator to "
        "add its folder to MEMEDEX_IMPORT_FOLDERS"
    )


def placeholder(otherwise: str) -> str:
    """An example for a field: below the first permitted folder, if not every path is."""
    if login.is_local():
        return otherwise
    return "".join(f"{folder}/…" for folder in _allowed()[:1])


def shown(path: Path) -> str:
    """A server path for a page: complete on this machine, else its last part."""
    return str(path) if login.is_local() else path.name


def _allowed() -> list[Path]:
    listed = (name.strip() for name in settings().import_folders.split(","))
    return [files.absolute(name) for name in listed if name]
