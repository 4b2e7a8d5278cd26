"""Untrusted file names, and the files they refer to."""

import re
from collections.abc import Iterator
from posixpath import basename, splitext
from urllib.parse import unquote, urlsplit

from store.errors import BadSource

_DRIVE = re.compile(r"[A-Za-z]:")
_LEFTOVERS = {"__macosx", "thumbs.db", "desktop.ini"}
_REMOTE = {"http", "https", "ipfs", "ar"}
_LONGEST = 2000


def relative(name: str) -> str:
    """The name as a clean relative path. Raises BadSource if it would leave its folder.

    For entries of archives and names of uploads, which may come from any system.
    """
    parts = name.replace("\\", "/").split("/")
    if not name.strip() or len(name) > _LONGEST:
        raise BadSource("its name is empty or far too long")
    if parts[0] == "" or _DRIVE.match(parts[0]):
        raise BadSource("its name is an absolute path, which would lead out of the import")
    if ".." in parts:
        raise BadSource("its name holds “..”, which would lead out of the import")
    if "\0" in name:
        raise BadSource("its name holds a zero byte")
    return "/".join(part for part in parts if part not in ("", "."))


def referred(reference: str, *, folder: str) -> list[str]:
    """The files that a relative reference in `folder` may mean. Raises BadSource if it leaves the import.

    A list, because a space may be written as itself or as %20.
    """
    if len(reference) > _LONGEST:
        raise BadSource("its picture's address is far too long")
    path = reference.replace("\\", "/")
    if path.startswith("/") or _DRIVE.match(path):
        raise BadSource(f"its picture {reference!r} is an absolute path; only files of the import are read")
    return [_resolved(spelling, folder) for spelling in dict.fromkeys((path, unquote(path)))]


def remote_parts(reference: str) -> tuple[str, ...] | None:
    """The path of a URL in parts; None for a relative path.

    Raises BadSource for a URL that cannot be read or has another scheme.
    """
    try:
        address = urlsplit(reference.strip())
    except ValueError as error:
        raise BadSource(f"its picture's address cannot be read: {error}") from error
    if len(address.scheme) < 2:  # one letter is a drive
        return None
    if address.scheme not in _REMOTE:
        raise BadSource(f"its picture is a “{address.scheme}:” address, which is not followed")
    return tuple(part for part in unquote(address.path).split("/") if part not in ("", ".", ".."))


def is_leftover(name: str) -> bool:
    """Whether it is a system's own file (hidden, __MACOSX, Thumbs.db)."""
    return any(part.startswith(".") or part.lower() in _LEFTOVERS for part in name.split("/"))


def folder_of(name: str) -> str:
    """The folder part of a relative name, "" at the top."""
    return name.rpartition("/")[0]


def folders_above(name: str) -> Iterator[str]:
    """Every folder that contains this name, the outermost first, beginning with "" for the top."""
    yield ""
    for place, sign in enumerate(name):
        if sign == "/":
            yield name[:place]


def stem(name: str) -> str:
    """The file name without folder and suffix."""
    return splitext(basename(name))[0]


def suffix(name: str) -> str:
    """The lower-case suffix with its dot, or ""."""
    return splitext(name)[1].lower()


def _resolved(path: str, folder: str) -> str:
    parts = [part for part in folder.split("/") if part]
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise BadSource(f"its picture {path!r} lies outside the import")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
