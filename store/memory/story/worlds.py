"""Worlds as YAML files (reference 4): `id`, `name`, `start_message`, `lore`."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.disk.files import Disk, content_hash, read_regular
from store.outcome import Refusal

LARGEST = 16_000_000  # bytes; a library of novels, and below what would fill the memory
_NAMES = ("*.yaml", "*.yml")


@dataclass(frozen=True, slots=True)
class World:
    """One world from its file."""

    id: str
    name: str
    start_message: str
    lore: str
    file: str = ""
    hash: str = ""


def read_worlds(folder: Path, *, known: dict[str, str]) -> Iterator[World | Refusal]:
    """The worlds of this folder whose files differ from `known` (file name → hash)."""
    paths = sorted({path for pattern in _NAMES for path in folder.glob(pattern) if path.is_file()})
    for path in paths:
        try:
            content = read_regular(path, limit=LARGEST)
            if known.get(path.name) != content_hash(content):
                yield parse_world(content, file=path.name)
        except (OSError, ValueError) as error:
            yield Refusal(path.name, str(error))


def parse_world(content: bytes, *, file: str) -> World:
    """Parse a world from YAML; without an `id` the file's name serves. Raises ValueError with the fault."""
    import yaml

    try:
        fields = yaml.safe_load(content)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"it is not YAML ({' '.join(str(error).split())[:200]})") from error
    if not isinstance(fields, dict):
        raise ValueError("add fields such as `id` and `lore`")
    id = fields.get("id")
    if id is None and file and fields.keys() & {"name", "start_message", "lore"}:
        id = fields["id"] = Path(file).stem
    if not isinstance(id, str | int) or isinstance(id, bool) or not str(id).strip():
        raise ValueError("add an `id`, for example `id: frogland`")
    return World(
        id=_text(fields, "id"),
        name=_text(fields, "name") or _text(fields, "id"),
        start_message=_text(fields, "start_message"),
        lore=_text(fields, "lore"),
        file=file,
        hash=content_hash(content),
    )


def _text(fields: dict[Any, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value)
        text.encode()  # half characters, which no database holds: UnicodeEncodeError is a ValueError
        return text
    raise ValueError(f"its {name} is not text")


def put_world_file(worlds: Path, name: str, content: bytes) -> None:
    """Write a world's file; an existing one, which a person may have written, is set aside."""
    disk, place = Disk(), worlds / name
    if place.exists() and place.read_bytes() != content:
        _set_aside(worlds, name, place.read_bytes(), disk)
    disk.make_folder(worlds)
    disk.replace(place, content)


def set_world_file_aside(worlds: Path, name: str, *, file_hash: str) -> None:
    """Move a world's file out of the folder, if it still has this content."""
    place = worlds / name
    if place.is_file() and content_hash(content := place.read_bytes()) == file_hash:
        _set_aside(worlds, name, content, Disk())
        place.unlink()


def _set_aside(worlds: Path, name: str, content: bytes, disk: Disk) -> None:
    kept = worlds.parent / "set-aside"
    disk.make_folder(kept)
    disk.write(kept / f"{time.time_ns()}-{name}", content)
    disk.fsync_folders([kept])
