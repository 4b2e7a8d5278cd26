"""Move files that Memedex did not write to a folder of their own, safely across crashes.

The folder `foreign-DATE-TIME-…` keeps the files under their own names; `about.json` describes them. While it
holds `moving.json` instead, some files may still be at their source, unless that file says `moved`.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from store.disk.files import Disk

PREFIX = "foreign-"
KEPT = "nothing has to be done; Memedex never removes it"
_MOVING, _ABOUT = "moving.json", "about.json"


@dataclass(frozen=True, slots=True)
class Aside:
    """Files of another program that were moved out of the way: where they are now, and what they are."""

    place: Path
    what: str
    at: float  # UNIX seconds

    @property
    def summary(self) -> str:
        """One sentence for people: what was moved, and to where."""
        return f"{self.what} was moved to {self.place}, where it is whole"


def move_aside(names: Sequence[str], *, source: Path, into: Path, what: str, disk: Disk) -> Path:
    """Start to move those of `names` that exist in `source` to a new folder below `into`.

    Returns that folder.

    Call `finish_moves` afterwards: it renames the files, records the move in the history, and resumes after a
    crash.
    """
    carry_out_moves(into, disk=disk)  # one that was cut short must not take what comes after
    place = into / f"{PREFIX}{time.strftime('%Y%m%d-%H%M%S')}-{token_hex(3)}"
    disk.make_folder(place)
    there = [name for name in names if os.path.lexists(source / name)]
    about = {"source": os.path.relpath(source, into), "names": there, "what": what, "at": time.time()}
    disk.replace(place / _MOVING, json.dumps(about).encode())
    return place


def carry_out_moves(into: Path, *, disk: Disk) -> list[tuple[Path, Aside]]:
    """Rename the files of every started move; returns those that the history does not have yet."""
    found = []
    for place in _places(into):
        if (place / _MOVING).exists() and (about := _read(place / _MOVING)):
            if not about.get("moved"):
                _carry_out(place, about, source=into / about["source"], disk=disk)
            found.append((place, _aside(place, about)))
        elif not (place / _ABOUT).exists():
            with contextlib.suppress(OSError):  # ended before anything was moved
                place.rmdir()
    return found


def _carry_out(place: Path, about: dict[str, Any], *, source: Path, disk: Disk) -> None:
    for name in about["names"]:
        if os.path.lexists(source / name) and not os.path.lexists(place / name):
            disk.rename(source / name, place / name)
    disk.fsync_folders([folder for folder in (place, source) if folder.is_dir()])
    # Once only: what bears one of these names from now on is another thing, maybe ours.
    disk.replace(place / _MOVING, json.dumps({**about, "moved": True}).encode())


def finish_moves(into: Path, *, note: Callable[[Aside], None], disk: Disk) -> None:
    """Finish every move that was started; `note` is called for each, perhaps again after a crash."""
    for place, aside in carry_out_moves(into, disk=disk):
        note(aside)
        disk.rename(place / _MOVING, place / _ABOUT)
        disk.fsync_folders([place])


def moved_aside(*folders: Path) -> list[Aside]:
    """Everything that was moved aside below these folders, oldest first."""
    found = []
    for place in (place for folder in folders for place in _places(folder)):
        about = _read(place / _ABOUT) or _read(place / _MOVING)
        if about:
            found.append(_aside(place, about))
    return sorted(found, key=lambda one: one.at)


def _places(into: Path) -> Iterator[Path]:
    try:
        found = sorted(path for path in into.iterdir() if path.name.startswith(PREFIX) and path.is_dir())
    except OSError:
        return
    yield from found


def _aside(place: Path, about: dict[str, Any]) -> Aside:
    return Aside(place, about["what"], about["at"])


def _read(path: Path) -> dict[str, Any] | None:
    """The content of `moving.json` or `about.json`; None if Memedex did not write it whole."""
    try:
        about = json.loads(path.read_bytes())
        names, source = about["names"], about["source"]
        is_ours = isinstance(about["what"], str) and isinstance(about["at"], int | float)
        is_ours = is_ours and isinstance(source, str) and not Path(source).is_absolute()
        is_ours = is_ours and all(isinstance(name, str) and Path(name).name == name for name in names)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(about) if is_ours else None
