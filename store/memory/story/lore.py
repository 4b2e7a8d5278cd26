"""Worlds and their lore: YAML files (`id`, `name`, `start_message`, `lore`), and texts found by meaning."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.disk.files import Disk, content_hash, read_regular, refused
from store.errors import ModelUnavailable
from store.memory.engine.entries import Entries, check_owner
from store.memory.engine.inputs import (
    LONGEST,
    InvalidInput,
    as_json,
    checked_characters,
    checked_text,
    for_chroma,
)
from store.memory.engine.kind import MemoryKind, source
from store.memory.story.sessions import N_RESULTS, Scoped
from store.outcome import Outcome, Refusal

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
    """Parse a world from YAML, named by its file without an `id`. Raises ValueError with line and example."""
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


CHUNK = 800  # characters


def split_lines(text: str, *, longest: int = CHUNK) -> list[tuple[int, int]]:
    """The chunks of a text as offsets: `text[start:end]`, whole lines, at most `longest` characters each.

    A chunk ends before the line that would make it too long, excludes white space at its edges, and is never
    empty. A single line longer than that is cut: after the last space that leaves the piece within the limit,
    or in the middle of a longer word. Its last piece continues with the lines that follow.
    """
    found: list[tuple[int, int]] = []
    start = end = 0  # of the chunk being filled
    for line_start, line_end in _pieces(text, longest):
        if line_end - start > longest and line_start > start:
            found.append((start, end))
            start = line_start
        end = line_end
    found.append((start, end))
    return [trimmed for span in found if (trimmed := _trimmed(text, *span))]


def _pieces(text: str, longest: int) -> list[tuple[int, int]]:
    """Every line without its line end, those that are too long in several pieces."""
    pieces = []
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        while end - start > longest:
            space = max(text.rfind(sign, start, start + longest) for sign in (" ", "\t"))
            cut = space + 1 if space > start else start + longest
            pieces.append((start, cut))
            start = cut
        pieces.append((start, end))
        start = end + 1
    return pieces


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    right = len(part.rstrip())
    return (start + left, start + right) if right > left else None


MAX_CHARS = 1000
BASE = "base_lore_"  # {world_id}_base_lore_{i}: the chunks of a world's own file

# When a text was stored, as its metadata say it: in a story's lore "date" may be of the story's own calendar.
TIMES_OF_LORE = ("ts", "timestamp", "created_at", "createdAt", "create_time", "createTime")
_TOLD = ", ".join(f"unixepoch(json_extract(metadata, '$.{name}'), 'auto')" for name in TIMES_OF_LORE)


def _own_metadata(row: Any) -> dict[str, Any]:
    """The metadata given to `add_lore`; the world's id, a filter, always wins."""
    return {**json.loads(row["metadata"]), "world_id": row["world_id"]}


KIND = MemoryKind(
    name="world_lore",
    file="world_lore",
    tables=("world_lore", "worlds"),
    text="text",
    scope="world_id",
    filters=("world_id",),
    scopes="SELECT id FROM worlds",
    order="world_id, number",
    written=f"coalesce({_TOLD}, (SELECT max(d.at) FROM history h JOIN decisions d ON d.number = h.decision "
    "WHERE h.id = world_lore.id))",
    siblings=("world_id",),
    sequence=("length(lore_id)", "lore_id"),  # base_lore_10 comes after base_lore_9
    metadata=_own_metadata,
)


class Lore(Scoped):
    """`add_lore` and `query_lore`, and loading worlds from their files."""

    def __init__(self, entries: Entries, *, folder: Path, refused: list[Refusal]) -> None:
        """`folder` has the files of worlds."""
        super().__init__(entries)
        self.folder = folder
        self.refused = refused  # world files that could not be taken in on opening; the same for every actor

    def add_lore(
        self,
        world_id: str,
        lore_id: str,
        text: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        actor: str = "",
        decision: str | None = None,
    ) -> None:
        """Store a text of this world, replacing the one with the same `lore_id`. Raises InvalidInput."""
        row = {
            "id": f"{checked_text(world_id, what='the world')}_{checked_text(lore_id, what='the lore id')}",
            "world_id": world_id,
            "lore_id": lore_id,
            "text": checked_text(text, what="the lore", most=LONGEST),
            "metadata": as_json(checked_metadata(metadata)),
        }
        self.entries.upsert([row], verb="add lore", actor=actor, decision=decision)

    def query_lore(
        self, world_id: str, query: str, n_results: int = N_RESULTS, max_chars: int = MAX_CHARS
    ) -> tuple[list[str], bool]:
        """This world's nearest chunks, whole, and whether they exceed `max_chars`; ([], False) on failure."""
        return self._texts(world_id, query, n=n_results, max_chars=max_chars, what="lore")

    # -- worlds -------------------------------------------------------------------------------------------

    def worlds(self) -> list[World]:
        """Every world that came from a file."""
        return [World(**row) for row in self.entries.database.rows("SELECT * FROM worlds ORDER BY name, id")]

    def put_file(self, name: str, content: bytes) -> None:
        """Write a world's file to the folder; `load_worlds` loads it."""
        self.entries.database.check_writable()
        put_world_file(self.folder, name, content)

    def load_worlds(self, *, actor: str = "") -> Outcome:
        """Load the folder's files that are new or changed; for the others it only compares the content."""
        self.entries.database.check_writable()
        known = {world.file: world.hash for world in self.worlds()}
        report = Outcome()
        seen: dict[str, str] = {world.id: world.file for world in self.worlds()}
        for world in read_worlds(self.folder, known=known):
            if isinstance(world, Refusal):
                report.refused.append(world)
            elif seen.get(world.id, world.file) != world.file and (self.folder / seen[world.id]).exists():
                reason = f"the world {world.id} is already defined by {seen[world.id]}"
                report.refused.append(Refusal(world.file, reason))
            else:
                seen[world.id] = world.file
                try:
                    self.put_world(world, actor=actor)
                except (InvalidInput, ModelUnavailable) as error:  # the others, and all there was, are there
                    report.refused.append(Refusal(world.file, f"it was not imported: {error}"))
                else:
                    report.done.append(world.id)
        self.refused[:] = report.refused
        return report

    def unread_files(self) -> list[str]:
        """The folder's files that are new, changed or unreadable, compared with what was loaded."""
        known = {world.file: world.hash for world in self.worlds()}
        return [
            found.item if isinstance(found, Refusal) else found.file
            for found in read_worlds(self.folder, known=known)
        ]

    def exchange_files(self, *, decision: str) -> list[Refusal]:
        """After this decision was undone or redone, let the files of its worlds follow.

        Otherwise the next opening would load what was undone. A file that was changed since stays; one that
        is not kept is left out. Returns the files that the disk refused to move.
        """
        self.entries.database.check_writable()
        query = (
            "SELECT h.id, json_extract(h.before, '$.file') AS old_file, w.file, w.hash, "
            "json_extract(h.before, '$.hash') AS old_hash FROM history h "
            "JOIN decisions d ON d.number = h.decision LEFT JOIN worlds w ON w.id = h.id "
            "WHERE h.tbl = 'worlds' AND d.reverses = ?"
        )
        changed = self.entries.database.rows(query, [decision])
        worlds, stayed = self.worlds(), list[Refusal]()
        for row in changed:
            file = row["file"] or row["old_file"]
            # Another world is from the same file if the id in the file was changed.
            others = [one.hash for one in worlds if one.file == file and one.id != row["id"]]
            aside, back = (others, [row["hash"]]) if row["file"] else ([], others)
            try:
                if row["old_file"]:
                    set_world_file_aside(self.folder, row["old_file"], file_hash=row["old_hash"])
                for file_hash in aside:
                    set_world_file_aside(self.folder, file, file_hash=file_hash)
                for file_hash in back:
                    put_world_file_back(self.folder, file, file_hash=file_hash)
            except OSError as error:
                why = refused(error, self.folder)
                reason = f"the world is as you decided, but its file could not be moved: {why}"
                stayed.append(Refusal(file, reason))
        return stayed

    def put_world(
        self, world: World, *, verb: str = "load world", actor: str = "", decision: str | None = None
    ) -> None:
        """Store a world's base lore in place of what its file had; what was added otherwise stays."""
        checked_text(world.id, what="the world's id")
        texts = [world.lore[start:end] for start, end in split_lines(world.lore)]
        new = self.entries.embed(texts)
        with self.entries.change(verb, actor=actor, decision=decision) as change:
            change.store(new)
            rows = {f"{world.id}_{BASE}{i}": text for i, text in enumerate(texts)}
            was_loaded = change.row("worlds", world.id) is not None  # else no chunk is this file's yet
            for old in self._base_ids(change.db.execute, world.id) if was_loaded else ():
                if old not in rows:
                    change.remove(old)
            for i, (id, text) in enumerate(rows.items()):
                row = {
                    "id": id,
                    "world_id": world.id,
                    "lore_id": f"{BASE}{i}",
                    "text": text,
                    "metadata": "{}",
                }
                before = change.row("world_lore", id)
                check_owner(before, row, KIND)
                if before != row or source(new.model, text).key in new.by_key:
                    change.upsert(row)
            fields = {name: getattr(world, name) for name in World.__slots__}
            if change.row("worlds", world.id) != fields:
                change.upsert(fields, table="worlds")

    @staticmethod
    def _base_ids(execute: Any, world_id: str) -> Iterable[str]:
        found = execute(
            "SELECT id, lore_id FROM world_lore WHERE world_id = ? AND lore_id GLOB ?",
            [world_id, f"{BASE}[0-9]*"],
        )
        return [row["id"] for row in found if row["lore_id"].removeprefix(BASE).isdecimal()]


def checked_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Strings, finite numbers and booleans by name, as Chroma stores them. Raises InvalidInput for others."""
    given = dict(metadata or {})
    for name, value in given.items():
        if not isinstance(name, str) or not isinstance(value, str | int | float | bool):
            raise InvalidInput(f"the metadata {name!r} has to be a text, a number, true or false")
        checked_characters(name, what=f"the name of the metadata {name!r}")
        if name.startswith("chroma:"):
            raise InvalidInput(f"the metadata cannot be called {name!r}: Chroma uses this name itself")
        if isinstance(value, str):
            checked_characters(value, what=f"the metadata {name!r}")
        elif for_chroma({name: value}) != {name: value}:
            raise InvalidInput(f"the metadata {name!r} has to be a finite number of at most 64 bits")
    return given
