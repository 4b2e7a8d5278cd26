"""Worlds as YAML files: `id`, `name`, `start_message`, `lore`."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.disk.files import Disk, content_hash, read_regular
from store.outcome import Refusal

LARGEST = 16_000_000  # bytes; a library of novels, and below what would fill the memory
_MOST_VALUES = 10_000  # of a file, of which a world needs four
_NAMES = ("*.yaml", "*.yml")
_ASIDE = "set-aside"  # the folder next to that of the worlds
_EXAMPLE = "id: frogland\nname: Frogland\nlore: Frogs rule the lily ponds and fear the stork."


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
    """Parse a world from YAML; without an `id` the file's name serves.

    Raises ValueError with the line of the fault and an example.
    """
    fields = _fields(content)
    id = fields.get("id")
    if id is None and file and fields.keys() & {"name", "start_message", "lore"}:
        id = fields["id"] = Path(file).stem
    if not isinstance(id, str | int) or isinstance(id, bool) or not str(id).strip():
        raise _fault(_line(content, "id"), "add an `id`")
    return World(
        id=_text(fields, "id", content),
        name=_text(fields, "name", content) or _text(fields, "id", content),
        start_message=_text(fields, "start_message", content),
        lore=_text(fields, "lore", content),
        file=file,
        hash=content_hash(content),
    )


def _fields(content: bytes) -> dict[Any, Any]:
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Refuses what would fill the memory: too many values, or aliases of aliases that are merged."""

        made = 0

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            self.made += 1
            self._check(self.made, self.peek_event().start_mark)
            return super().compose_node(parent, index)

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            super().flatten_mapping(node)
            self._check(len(node.value), node.start_mark)

        def _check(self, count: int, mark: yaml.Mark) -> None:
            if count > _MOST_VALUES:
                problem = f"it has more than {_MOST_VALUES:,} values, the limit for a world"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)

    try:
        fields = yaml.load(content, Loader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = " ".join(str(getattr(error, "problem", None) or error).split())[:200]
        raise _fault(mark.line + 1 if mark else 1, f"this is not YAML: {problem}") from error
    if not isinstance(fields, dict):
        raise _fault(1, "add fields such as `id` and `lore`")
    return fields


def _fault(line: int, what: str) -> ValueError:
    return ValueError(f"line {line}: {what}; a world looks like this:\n{_EXAMPLE}")


def _line(content: bytes, name: str) -> int:
    """The line of this field; 1 if the file does not have it."""
    lines = content.decode(errors="replace").splitlines()
    return next((at for at, line in enumerate(lines, start=1) if line.startswith(f"{name}:")), 1)


def _text(fields: dict[Any, Any], name: str, content: bytes) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value)
        text.encode()  # half characters, which no database holds: UnicodeEncodeError is a ValueError
        return text
    raise _fault(_line(content, name), f"its {name} is not text")


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


def put_world_file_back(worlds: Path, name: str, *, file_hash: str) -> None:
    """Move the file with this content back from those set aside, if no other is in its place."""
    place, kept = worlds / name, worlds.parent / _ASIDE
    if place.exists() or not kept.is_dir():
        return
    for path in sorted(kept.iterdir()):
        is_of_name = path.name.partition("-")[2] == name and path.is_file()
        if is_of_name and content_hash(content := path.read_bytes()) == file_hash:
            Disk().replace(place, content)
            path.unlink()
            return


def _set_aside(worlds: Path, name: str, content: bytes, disk: Disk) -> None:
    kept = worlds.parent / _ASIDE
    disk.make_folder(kept)
    disk.write(kept / f"{time.time_ns()}-{name}", content)
    disk.fsync_folders([kept])
