"""The JSON and JPG files of the records as they lie on the disk."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from store.errors import InvalidRecord
from store.files import content_hash
from store.layout import Layout
from store.records import MAX_SIDECAR_BYTES, TIERS, Tier, checked_address, validate
from store.writing.operations import State


class Pair(NamedTuple):
    """What lies there for one address in one tier: size and time of each file, "" where it is missing."""

    sidecar: str
    image: str


def scan(layout: Layout) -> dict[tuple[Tier, str], Pair]:
    """Every sidecar and every picture, by tier and file name, without opening one."""
    pairs: dict[tuple[Tier, str], Pair] = {}
    for tier in TIERS:
        sidecars = _files(layout.sidecar_folder(tier), ".json")
        images = _files(layout.image_folder(tier), ".jpg")
        for name in sidecars:
            pairs[tier, name] = Pair(sidecars[name], images.pop(name, ""))
        pairs |= {(tier, name): Pair("", stat) for name, stat in images.items()}
    return pairs


def read(layout: Layout, tier: Tier, address: str) -> tuple[State, bytes]:
    """What the files of this record say now; InvalidRecord when they are no record of this tier."""
    path = layout.sidecar(tier, address)
    try:
        content = path.read_bytes()
        sidecar = _parsed(content)
        validate(sidecar, tier=tier)
        checked_address(address)
        if sidecar["token_address"] != address:
            raise InvalidRecord(f"it says token_address {sidecar['token_address']}")
        picture = layout.image(tier, address).read_bytes()
    except (OSError, InvalidRecord) as error:
        raise InvalidRecord(f"{path}: {error}") from error
    return State(tier, content_hash(content), content_hash(picture)), content


def _parsed(content: bytes) -> dict[str, Any]:
    if len(content) > MAX_SIDECAR_BYTES:
        raise InvalidRecord(f"it is larger than {MAX_SIDECAR_BYTES:,} bytes")
    try:
        sidecar = json.loads(content.decode())  # of bytes, it would take UTF-16 and byte order marks too
    except (ValueError, RecursionError) as error:
        raise InvalidRecord(f"it is not JSON: {error}") from error
    if not isinstance(sidecar, dict):
        raise InvalidRecord("it is not a JSON object")
    return sidecar


def _files(folder: Path, ending: str) -> dict[str, str]:
    found: dict[str, str] = {}
    if folder.is_dir():
        with os.scandir(folder) as entries:
            for entry in entries:
                if (name := entry.name).endswith(ending) and name[0] != ".":
                    stat = entry.stat()
                    found[name.removesuffix(ending)] = f"{stat.st_size}:{stat.st_mtime_ns}"
    return found
