"""The contents of a backup: every file with its SHA-256, so that a damaged one is detected and named."""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath

from store.disk.files import Disk, open_regular, read_regular
from store.errors import BadBackup
from store.importing.candidate import shown
from store.outcome import Refusal
from store.progress import Progress

NAME = "manifest.json"
KIND = "memedex backup"
VERSION = 1
_LARGEST = 1_000_000_000  # bytes; of a million records it has a third
PLACES = ("memecoins", "memory", "taxonomy.json")  # what a root may hold; nothing else is put back


@dataclass(slots=True)
class Manifest:
    """The files of a backup, by their relative path, with `/` on every system."""

    made_at: float = field(default_factory=time.time)  # UNIX seconds
    files: dict[str, str] = field(default_factory=dict)  # path → SHA-256
    kind: str = KIND
    version: int = VERSION

    def write(self, folder: Path) -> None:
        """Write the list to this folder."""
        content = json.dumps(asdict(self), indent=1).encode()
        Disk().replace(folder / NAME, content)


def read(folder: Path) -> Manifest:
    """The manifest of the backup in this folder. Raises BadBackup if there is none that can be trusted."""
    try:
        fields = json.loads(read_regular(folder / NAME, limit=_LARGEST))
    except (FileNotFoundError, NotADirectoryError):
        raise BadBackup(f"{folder} is no backup: it has no {NAME}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadBackup(f"the {NAME} in {folder} cannot be read: {error}") from error
    if not isinstance(fields, dict) or fields.get("kind") != KIND:
        raise BadBackup(f"the {NAME} in {folder} is not that of a backup")
    if fields.get("version") != VERSION:
        raise BadBackup(
            f"the backup in {folder} has version {fields.get('version')!r}, this program knows {VERSION}"
        )
    files, made_at = fields.get("files"), fields.get("made_at")
    if not isinstance(files, dict) or not isinstance(made_at, int | float):
        raise BadBackup(f"the {NAME} in {folder} is damaged")
    for name, digest in files.items():
        if not _is_honest(name) or not isinstance(digest, str):
            raise BadBackup(f"the {NAME} in {folder} names {shown(name)!r}, which no backup holds")
    return Manifest(made_at=made_at, files=files)


def damaged(folder: Path, manifest: Manifest, *, progress: Progress) -> Iterator[Refusal]:
    """Every file that is missing or changed, found by reading all of them."""
    whole = folder.resolve()
    for name, expected in manifest.files.items():
        path = folder / name
        if path.is_symlink() or not path.is_file() or not path.resolve().is_relative_to(whole):
            yield Refusal(name, "it is missing")
        else:
            try:
                found = digest_of(path)
            except OSError as error:
                yield Refusal(name, f"it cannot be read: {error.strerror}")
            else:
                if found != expected:
                    yield Refusal(name, "it is damaged: its content is not what was backed up")
        progress.done += 1


def digest_of(path: Path) -> str:
    """The SHA-256 of a file of any size."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_honest(name: str) -> bool:
    """Whether the name stays inside the backup and the root; a manifest may be untrusted."""
    path = PurePosixPath(name)
    return (
        bool(path.parts)
        and path.parts[0] in PLACES
        and ".." not in path.parts
        and path.as_posix() == name
        and "\0" not in name
        and not (os.name == "nt" and any(sign in name for sign in "\\:"))
    )
