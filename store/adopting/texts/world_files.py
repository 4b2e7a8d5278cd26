"""Worlds as YAML files (reference 4), with and without an `id`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from store.adopting.texts.adoption import VERB, Adoption
from store.disk.files import read_regular
from store.errors import MemedexError
from store.memory.story.worlds import LARGEST, World, parse_world
from store.outcome import Refusal

_PLACES = ("", "worlds", "assets/worlds", "engine/assets/worlds")
_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class WorldFile:
    """A world that can be taken, with its file."""

    path: Path
    content: bytes
    world: World


def find_worlds(path: Path) -> Iterator[WorldFile | Refusal]:
    """The worlds in this folder, or where reference 4 has them below it.

    In a folder not named `worlds`, only files that name an id or lore are worlds, others are passed over.
    """
    folders = [path / place for place in _PLACES] if path.is_dir() else []
    for folder in (folder for folder in folders if folder.is_dir()):
        for file in sorted(one for one in folder.iterdir() if one.suffix.lower() in _ENDINGS):
            try:
                content = read_regular(file, limit=LARGEST)
                world = parse_world(content, file=file.name)
            except (OSError, ValueError) as error:
                if folder.name == "worlds":
                    yield Refusal(file.relative_to(path).as_posix(), str(error))
                continue
            if folder.name == "worlds" or world.lore:
                yield WorldFile(file, content, world)


def take_worlds(adoption: Adoption, path: Path) -> int:
    """Take the worlds that are not here yet; returns how many were found."""
    found = 0
    for one in find_worlds(path):
        if isinstance(one, Refusal):
            adoption.report.refused.append(one)
            continue
        found += 1
        if adoption.progress.cancelled:
            break
        _take_world(adoption, one)
        adoption.progress.done += 1
    return found


def _take_world(adoption: Adoption, one: WorldFile) -> None:
    memory, world = adoption.memory, one.world
    item = f"world {world.id}"
    here = {known.id: known for known in memory.lore.worlds()}
    if world.id in here:
        if here[world.id].hash == world.hash:
            adoption.report.present.append(item)
            _put_file(adoption, one)
        else:
            adoption.refuse(item, f"there is such a world here, from {here[world.id].file}; it stays")
        return
    place = memory.places.worlds / one.path.name
    if place.exists() and place.read_bytes() != one.content:
        adoption.refuse(item, f"there is another file {one.path.name} among the worlds; it stays")
        return
    try:
        memory.lore.put_world(world, verb=VERB, actor=adoption.actor, number=adoption.number)
    except MemedexError as error:
        adoption.refuse(item, str(error))
        return
    _put_file(adoption, one)
    adoption.report.taken.append(item)


def _put_file(adoption: Adoption, one: WorldFile) -> None:
    """After its rows: an interrupted adoption must not leave a file that the next opening loads."""
    places = adoption.memory.places
    if not (places.worlds / one.path.name).exists():
        adoption.memory.lore.put_file(places.worlds, one.path.name, one.content)
