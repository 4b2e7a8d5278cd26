"""The lore of a world: chunks of text, found by meaning."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from store.disk.files import refused
from store.errors import ModelUnavailable
from store.memory.engine.entries import Entries
from store.memory.engine.errors import InvalidInput
from store.memory.engine.inputs import LONGEST, as_json, checked_characters, checked_text, for_chroma
from store.memory.engine.kind import MemoryKind
from store.memory.engine.vectors import source
from store.memory.story.scoped import N_RESULTS, Scoped, check_owner
from store.memory.story.worlds import (
    World,
    put_world_file,
    put_world_file_back,
    read_worlds,
    set_world_file_aside,
)
from store.memory.text.line_chunks import split_lines
from store.outcome import Refusal

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


@dataclass(slots=True)
class WorldReport:
    """Worlds loaded, worlds unchanged, and files that are not worlds."""

    done: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


class Lore(Scoped):
    """`add_lore` and `query_lore`, and loading worlds from their files."""

    what = "world"

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
        self._keep(row, verb="add lore", actor=actor, decision=decision)

    def query_lore(
        self, world_id: str, query: str, n_results: int = N_RESULTS, max_chars: int = MAX_CHARS
    ) -> tuple[list[str], bool]:
        """This world's chunks nearest to the question, and whether they exceed `max_chars` together.

        Nothing is cut or left out for that. Returns ([], False) on failure, with the reason in the log.
        """
        return self._texts(world_id, query, n=n_results, max_chars=max_chars, what="lore")

    # -- worlds -------------------------------------------------------------------------------------------

    def worlds(self) -> list[World]:
        """Every world that came from a file."""
        with self.entries.database.reading() as db:
            return [World(**row) for row in db.execute("SELECT * FROM worlds ORDER BY name, id")]

    def put_file(self, name: str, content: bytes) -> None:
        """Write a world's file to the folder; `load_worlds` loads it."""
        self.entries.database.check_writable()
        put_world_file(self.folder, name, content)

    def load_worlds(self, *, actor: str = "") -> WorldReport:
        """Load the folder's files that are new or changed; for the others it only compares the content."""
        self.entries.database.check_writable()
        known = {world.file: world.hash for world in self.worlds()}
        report = WorldReport()
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
        with self.entries.database.reading() as db:
            changed = db.execute(query, [decision]).fetchall()
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
        """Store a world's base lore in chunks, and delete what its file had and no longer has.

        What `add_lore` or an adoption added stays. Unchanged chunks keep their vectors. `decision` as in
        `Entries.change`.
        """
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
                check_owner(before, row, "world_id")
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
    """The metadata that Chroma can store: strings, finite numbers and booleans by name.

    Raises InvalidInput for any other value.
    """
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
