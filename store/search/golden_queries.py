"""Golden queries: queries with their relevant coins, and people's judgements of single results.

Both are in the catalog. Each collection of golden queries is also a file in the root's folder `golden/`, for
version control and exchange; a file edited by hand is imported when the library opens. A query is a line
(query_syntax.py) of texts and examples; an uploaded picture has no name to store. A file that was edited by
hand and cannot be read is never overwritten.
"""

import json
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from store.catalog import named_values
from store.catalog.catalog import Catalog
from store.catalog.words import in_words
from store.disk.files import Disk, content_hash, file_hash, read_regular
from store.disk.layout import Layout
from store.errors import BadSource, InvalidRecord
from store.records import checked_address
from store.search import query_syntax
from store.search.query import Part

WHAT = "golden query"
OWN = "own"  # the collection of what people say here
_FILE = "golden file "  # the catalog's `meta` keeps the hash of each file as it was last read or written
_LARGEST = 100_000_000  # bytes of a file
_LONGEST = 2_000  # characters of a line
_NAME = 40


@dataclass(frozen=True, slots=True)
class Golden:
    """A query with its relevant coins, all equally right."""

    line: str
    answers: tuple[str, ...]  # addresses
    collection: str = OWN
    actor: str = ""
    created_at: float = 0.0  # UNIX seconds

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of its line, as a search takes them."""
        return parts_of(self.line)


def parts_of(line: str) -> tuple[Part, ...]:
    """The parts of a line. Raises InvalidRecord if it asks nothing or needs an uploaded picture."""
    terms = query_syntax.read(line).terms
    if any(term.source == "picture" for term in terms):
        raise InvalidRecord("a picture that was only shown cannot be kept; ask with a coin of the library")
    if not terms:
        raise InvalidRecord("a golden query needs a text or an example")
    return tuple(
        Part(text=in_words(term.text), weight=term.weight, facets=term.facets)
        if term.source == "text"
        else Part(like=term.text, weight=term.weight, facets=term.facets)
        for term in terms
    )


def checked_line(line: str) -> str:
    """The line as it is stored, without filters. Raises InvalidRecord if it cannot be asked again."""
    if len(line) > _LONGEST:
        raise InvalidRecord(f"a question has at most {_LONGEST:,} characters")
    parts_of(line)
    question = query_syntax.read(line)
    return query_syntax.written(replace(question, filter=query_syntax.read("").filter))


def checked_collection(name: str) -> str:
    """The name, valid as a file name. Raises InvalidRecord for any other."""
    if not 0 < len(name) <= _NAME or not name.replace("-", "").replace("_", "").isalnum():
        raise InvalidRecord(f"a collection's name is 1 to {_NAME} letters, digits, - and _; not {name!r}")
    return name


class GoldenQueries:
    """`library.golden`: golden queries, and judgements of single results."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk, *, faults: list[str]) -> None:
        self._catalog = catalog
        self._folder = layout.golden
        self._disk = disk
        self.faults = faults  # what is wrong with which file, as of opening; the same for every actor

    def all(self, *, collection: str | None = None) -> list[Golden]:
        """All golden queries, or those of one collection, oldest first."""
        rows = self._catalog.rows(
            "SELECT * FROM golden WHERE collection = coalesce(?, collection) ORDER BY at, rowid", [collection]
        )
        return [_golden(row, row["collection"]) for row in rows]

    def save(self, line: str, answers: Iterable[str], *, collection: str = OWN, actor: str = "") -> None:
        """Store a query with its relevant coins, in its file too. Raises InvalidRecord or BadSource."""
        golden = Golden(
            checked_line(line),
            _answers(answers),
            checked_collection(collection),
            actor or self._catalog.actor.name,
        )
        with self._catalog.lock:  # until the file says it too: another one's would lack this question
            self._import_if_edited(collection)
            with self._catalog.writing() as db:
                _put(db, golden)
            self._write_file(collection)

    def delete(self, line: str, *, actor: str = "") -> None:
        """Delete a golden query, which `library.removed` can restore. Raises BadSource."""
        with self._catalog.lock:
            for golden in [one for one in self.all() if one.line == line]:
                self._import_if_edited(golden.collection)
                with self._catalog.writing() as db:
                    _note_removed(db, golden, actor=actor or self._catalog.actor.name)
                    db.execute("DELETE FROM golden WHERE line = ?", [line])
                self._write_file(golden.collection)

    def restore(self, db: sqlite3.Connection, line: str, value: dict[str, Any]) -> None:
        """Restore a deleted query within the caller's transaction. Raises InvalidRecord if it exists."""
        if db.execute("SELECT 1 FROM golden WHERE line = ?", [line]).fetchone():
            raise InvalidRecord("this question is among the golden queries again")
        _put(db, Golden(line, tuple(value["answers"]), value["collection"], value["who"]))

    def write_files(self) -> None:
        """Write every collection's file from the catalog."""
        self._catalog.check_writable()
        with self._catalog.lock:
            for collection in {one.collection for one in self.all()}:
                self._write_file(collection)

    def write_files_naming(self, addresses: Iterable[str]) -> None:
        """Write the files that name one of these coins, as the catalog no longer does."""
        with self._catalog.lock:
            for path in sorted(self._folder.glob("*.json")):
                content = path.read_bytes()
                if any(address.encode() in content for address in addresses):
                    self._write_file(path.stem)

    def judge(self, line: str, address: str, good: bool | None, *, actor: str = "") -> None:
        """Judge one result right (True), wrong (False) or not at all (None). Raises InvalidRecord."""
        line, address = checked_line(line), checked_address(address)
        with self._catalog.writing() as db:
            if good is None:
                db.execute("DELETE FROM judgements WHERE line = ? AND address = ?", [line, address])
            else:
                db.execute(
                    "INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, ?)",
                    [line, address, int(good), actor or self._catalog.actor.name, time.time()],
                )

    def relevance_of(self, line: str) -> dict[str, bool]:
        """The judgements of this query's results by address."""
        rows = self._catalog.rows("SELECT address, good FROM judgements WHERE line = ?", [checked_line(line)])
        return {row["address"]: bool(row["good"]) for row in rows}

    def judgements(self) -> dict[str, dict[str, bool]]:
        """All judgements of results, by line and address."""
        found: dict[str, dict[str, bool]] = {}
        for row in self._catalog.rows("SELECT line, address, good FROM judgements ORDER BY at"):
            found.setdefault(row["line"], {})[row["address"]] = bool(row["good"])
        return found

    def by_judgement(self) -> list[Golden]:
        """The judged queries as golden queries whose relevant coins are the results judged good."""
        rows = self._catalog.rows(
            "SELECT line, json_group_array(address) AS answers, max(who) AS who, max(at) AS at "
            "FROM judgements WHERE good GROUP BY line ORDER BY min(at)"
        )
        return [_golden(row, "judged") for row in rows]

    def import_content(self, collection: str, content: bytes) -> None:
        """Replace a collection by a file's content. Raises BadSource, changing nothing."""
        with self._catalog.lock:
            self._import_file(collection, content)
            self._write_file(collection)

    def apply_external_edits(self) -> None:
        """Import files that people added or edited; `faults` lists those that cannot be read."""
        self._catalog.check_writable()
        self.faults.clear()
        for path in sorted(self._folder.glob("*.json")):
            try:
                self._import_if_edited(path.stem)
            except (OSError, sqlite3.Error, BadSource) as error:
                self.faults.append(str(error) if isinstance(error, BadSource) else f"{path.name}: {error}")

    def unread(self) -> list[str]:
        """Names of the files that people added or edited and that are not imported yet."""
        return [path.name for path in sorted(self._folder.glob("*.json")) if not self._is_in(path)]

    def _is_in(self, path: Path) -> bool:
        try:
            return self._catalog.meta(_FILE + path.stem) == file_hash(path)
        except OSError:  # a folder, or a link to nothing, has its name
            return False

    def _import_if_edited(self, collection: str) -> None:
        """Import the collection's file if it was edited. Raises BadSource, naming it."""
        path = self._folder / f"{collection}.json"
        if not path.exists():
            return
        try:
            content = read_regular(path, limit=_LARGEST)
        except OSError as error:
            raise BadSource(f"{path.name} cannot be read: {error.strerror}") from error
        if self._catalog.meta(_FILE + collection) != content_hash(content):
            try:
                self._import_file(collection, content)
            except BadSource as error:
                raise BadSource(f"{path.name} was changed by hand, and {error}; fix or remove it") from error

    def _import_file(self, collection: str, content: bytes) -> None:
        try:
            name = checked_collection(collection)
            answers: dict[str, list[str]] = {}  # a question that is there twice has the answers of both
            for one in json.loads(content)["queries"]:
                if not isinstance(one["answers"], list):
                    raise TypeError(f"the answers to {one['line']!r} are not a list")
                answers.setdefault(checked_line(one["line"]), []).extend(_answers(one["answers"]))
            goldens = [Golden(line, _answers(right), name, "file") for line, right in answers.items()]
            for golden in goldens:
                golden.line.encode()  # an unpaired surrogate, as JSON can say it, could not be kept
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadSource(f"this is no list of golden queries: {error}") from error
        before = {one.line: one for one in self.all(collection=collection)}
        with self._catalog.writing() as db:
            for known in before.values():
                if known.line not in answers:
                    _note_removed(db, known, actor="file")
                    db.execute("DELETE FROM golden WHERE line = ?", [known.line])
            for golden in goldens:
                # What the file leaves as it was keeps its author and time.
                if golden.line not in before or before[golden.line].answers != golden.answers:
                    _put(db, golden)
            db.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", [_FILE + collection, content_hash(content)]
            )

    def _write_file(self, collection: str) -> None:
        """Write the collection's file atomically."""
        content = as_file(self.all(collection=collection))
        self._disk.make_folder(self._folder)
        self._disk.replace(self._folder / f"{collection}.json", content)
        self._catalog.set_meta(_FILE + collection, content_hash(content))


def as_file(goldens: Iterable[Golden]) -> bytes:
    """Golden queries as JSON, one on each line, for readable diffs."""
    rows = [
        json.dumps({"line": golden.line, "answers": golden.answers}, ensure_ascii=False) for golden in goldens
    ]
    return ('{"queries": [\n' + ",\n".join(rows) + "\n]}\n").encode()


def shipped(folder: Path, collection: str) -> bytes:
    """A collection that comes with the program."""
    return (folder / "golden" / f"{collection}.json").read_bytes()


def _answers(addresses: Iterable[str]) -> tuple[str, ...]:
    answers = tuple(dict.fromkeys(checked_address(answer) for answer in addresses))
    if not answers:
        raise InvalidRecord("a golden query needs at least one relevant coin")
    return answers


def _put(db: sqlite3.Connection, golden: Golden) -> None:
    db.execute(
        "INSERT OR REPLACE INTO golden (line, answers, collection, who, at) VALUES (?, ?, ?, ?, ?)",
        [golden.line, json.dumps(golden.answers), golden.collection, golden.actor, time.time()],
    )


def _note_removed(db: sqlite3.Connection, golden: Golden, *, actor: str) -> None:
    value = {"answers": golden.answers, "collection": golden.collection, "who": golden.actor}
    named_values.record_deleted(db, WHAT, golden.line, value, actor=actor)


def _golden(row: sqlite3.Row, collection: str) -> Golden:
    return Golden(row["line"], tuple(json.loads(row["answers"])), collection, row["who"], row["at"])
