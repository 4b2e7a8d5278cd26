"""Worlds as YAML files (reference 4): `id`, `name`, `start_message`, `lore`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.files import content_hash
from store.importing.candidate import Refusal

_LARGEST = 16_000_000  # bytes; a library of novels, and below what would fill the memory
_NAMES = ("*.yaml", "*.yml")


@dataclass(frozen=True, slots=True)
class World:
    """One world as its file tells it."""

    id: str
    name: str
    start_message: str
    lore: str
    file: str = ""
    hash: str = ""


def read_worlds(folder: Path, *, known: dict[str, str]) -> Iterator[World | Refusal]:
    """The worlds in this folder whose files are not as `known` (file name → hash) has them."""
    paths = sorted({path for pattern in _NAMES for path in folder.glob(pattern) if path.is_file()})
    for path in paths:
        try:
            if path.stat().st_size > _LARGEST:
                raise ValueError(f"it is larger than {_LARGEST:,} bytes")
            content = path.read_bytes()
            if known.get(path.name) != content_hash(content):
                yield parse_world(content, file=path.name)
        except (OSError, ValueError) as error:
            yield Refusal(path.name, f"it is no world: {error}")


def parse_world(content: bytes, *, file: str) -> World:
    """A world from YAML; ValueError says what is wrong with it."""
    import yaml  # type: ignore[import-untyped]

    try:
        fields = yaml.safe_load(content)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"it is not YAML ({' '.join(str(error).split())[:200]})") from error
    if not isinstance(fields, dict):
        raise ValueError("it has no fields such as id and lore")
    id = fields.get("id")
    if not isinstance(id, str | int) or isinstance(id, bool) or not str(id).strip():
        raise ValueError("it has no id")
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
