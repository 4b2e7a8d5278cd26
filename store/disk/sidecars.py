"""The JSON and JPG files of the records as they are on disk."""

import contextlib
import json
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from store.disk.files import content_hash, file_hash, read_regular
from store.disk.layout import Layout
from store.errors import InvalidRecord
from store.operations import State
from store.records import MAX_SIDECAR_BYTES, TIERS, Tier, checked_address, validate


def file_stats(
    layout: Layout, state: State, address: str, *, unknown: Collection[Path] = ()
) -> tuple[str, str]:
    """Size and modification time of the record's sidecar and of its picture; "" if the path is `unknown`."""
    sidecar, image = (
        "" if path in unknown else stat_text(path)
        for path in (layout.sidecar(state.tier, address), layout.image(state.tier, address))
    )
    return sidecar, image


def stat_text(path: Path) -> str:
    """The file's size in bytes and modification time in nanoseconds, as `size:time`; "" for none."""
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return f"{stat.st_size}:{stat.st_mtime_ns}"


Kind = Literal["sidecar", "image"]


class CoinFiles(NamedTuple):
    """The two files of one address in one tier: size and time of each as text, "" if missing."""

    sidecar: str
    image: str


def listed(layout: Layout, tier: Tier, kind: Kind) -> Iterator[tuple[str, str]]:
    """Every sidecar or picture of a tier, without opening one: file name less its ending, size and time."""
    folder, ending = (
        (layout.sidecar_folder(tier), ".json") if kind == "sidecar" else (layout.image_folder(tier), ".jpg")
    )
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if (name := entry.name).endswith(ending) and name[0] != ".":
                with contextlib.suppress(FileNotFoundError):  # moved this very moment, or a link to nothing
                    stat = entry.stat()
                    yield name.removesuffix(ending), f"{stat.st_size}:{stat.st_mtime_ns}"


def files_of(layout: Layout, address: str) -> dict[Tier, CoinFiles]:
    """The files of one address by tier, without opening them; tiers with neither are left out."""
    found: dict[Tier, CoinFiles] = {}
    for tier in TIERS:
        pair = CoinFiles(stat_text(layout.sidecar(tier, address)), stat_text(layout.image(tier, address)))
        if pair != ("", ""):
            found[tier] = pair
    return found


def blocked(layout: Layout) -> dict[Tier, tuple[Path, bool]]:
    """The tiers of which a folder is missing or none, each with it and whether something is there."""
    found: dict[Tier, tuple[Path, bool]] = {}
    for tier in TIERS:
        for folder in (layout.sidecar_folder(tier), layout.image_folder(tier)):
            if not folder.is_dir():
                path = layout.chroma if tier == "library" and not layout.chroma.is_dir() else folder
                found[tier] = path, os.path.lexists(path)
                break
    return found


def read(layout: Layout, tier: Tier, address: str) -> tuple[State, bytes]:
    """Read a record's state and sidecar from its files. Raises InvalidRecord if they are none."""
    path = layout.sidecar(tier, address)
    try:
        content = read_regular(path, limit=MAX_SIDECAR_BYTES)
        sidecar = _parsed(content)
        validate(sidecar, tier=tier)
        checked_address(address)
        if sidecar["token_address"] != address:
            raise InvalidRecord(f"it says token_address {sidecar['token_address']}")
        picture = file_hash(layout.image(tier, address))
        if picture is None:
            raise InvalidRecord("its picture is missing, or no file")
    except (OSError, InvalidRecord) as error:
        raise InvalidRecord(f"{path}: {error}") from error
    return State(tier, content_hash(content), picture), content


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        sidecar = json.loads(content.decode())  # of bytes, it would take UTF-16 and byte order marks too
    except (ValueError, RecursionError) as error:
        raise InvalidRecord(f"it is not JSON: {error}") from error
    if not isinstance(sidecar, dict):
        raise InvalidRecord("it is not a JSON object")
    return sidecar
