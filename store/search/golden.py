"""Golden queries: a question and its right answers; and what people said of single results, "good" or "bad".

Both stand in the catalog. Golden queries are also files of the root's folder `golden/`, one for each
collection of them, to be kept under version control and passed on; a file that was changed by hand is taken
in on opening. A question is a line (question.py) of texts and examples; a picture that was only shown has
no name to keep. A file that was changed by hand and cannot be read is never written over.
"""

import json
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from store.catalog import Catalog
from store.errors import BadSource, InvalidRecord
from store.files import Disk, content_hash
from store.layout import Layout
from store.people import myself
from store.records import checked_address
from store.search import question
from store.search.query import Part

OWN = "own"  # the collection of what people say here
_FILE = "golden file "  # the catalog's `meta` keeps the hash of each file as it was last read or written
_LONGEST = 2_000  # characters of a line
_NAME = 40


@dataclass(frozen=True, slots=True)
class Golden:
    """A question with its right answers, all of them equally right."""

    line: str
    answers: tuple[str, ...]  # addresses
    collection: str = OWN
    who: str = ""
    at: float = 0.0  # UNIX seconds

    @property
    def parts(self) -> tuple[Part, ...]:
        return parts_of(self.line)


def parts_of(line: str) -> tuple[Part, ...]:
    """What a line asks; InvalidRecord where it asks nothing or needs a picture that was only shown."""
    terms = question.read(line).terms
    if any(term.source == "picture" for term in terms):
        raise InvalidRecord("a picture that was only shown cannot be kept; ask with a coin of the library")
    if not terms:
        raise InvalidRecord("a golden query needs a text or an example")
    return tuple(
        Part(text=term.said, weight=term.weight, facets=term.facets)
        if term.source == "text"
        else Part(like=term.said, weight=term.weight, facets=term.facets)
        for term in terms
    )


def checked_line(line: str) -> str:
    """The line as it is kept, its filters left out: what is right does not hang on them."""
    if len(line) > _LONGEST:
        raise InvalidRecord(f"a question has at most {_LONGEST:,} characters")
    parts_of(line)
    asked = question.read(line)
    return question.written(replace(asked, filter=question.read("").filter))


def checked_collection(name: str) -> str:
    """A name that may be a file's; InvalidRecord for any other."""
    if not 0 < len(name) <= _NAME or not name.replace("-", "").replace("_", "").isalnum():
        raise InvalidRecord(f"a collection's name is 1 to {_NAME} letters, digits, - and _; not {name!r}")
    return name


class GoldenQueries:
    """`library.golden`: the golden queries, and the judgements of single results."""

    READING = frozenset({"all", "judged", "judgements", "by_judgement", "unread"})

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk) -> None:
        self._catalog = catalog
        self._folder = layout.golden
        self._disk = disk
        self.faults: list[str] = []  # what is wrong with which file, as of opening

    def all(self, *, collection: str | None = None) -> list[Golden]:
        """All of them, or those of one collection, oldest first."""
        with self._catalog.reading() as db:
            rows = db.execute(
                "SELECT * FROM golden WHERE collection = coalesce(?, collection) ORDER BY at, rowid",
                [collection],
            ).fetchall()
        return [_golden(row, row["collection"]) for row in rows]

    def save(self, line: str, answers: Iterable[str], *, collection: str = OWN, who: str = "") -> None:
        """Keep a question with its right answers in place of the line's earlier ones; the file follows."""
        kept = Golden(checked_line(line), _answers(answers), checked_collection(collection), who or myself())
        self._let_in(collection)
        with self._catalog.writing() as db:
            _put(db, kept)
        self._write_file(collection)

    def forget(self, line: str) -> None:
        """Let a golden query go; saving it again brings it back."""
        for collection in {one.collection for one in self.all() if one.line == line}:
            self._let_in(collection)
            with self._catalog.writing() as db:
                db.execute("DELETE FROM golden WHERE line = ?", [line])
            self._write_file(collection)

    def judge(self, line: str, address: str, good: bool | None, *, who: str = "") -> None:
        """Say of one result of a question that it is right or wrong; None takes it back."""
        line, address = checked_line(line), checked_address(address)
        with self._catalog.writing() as db:
            if good is None:
                db.execute("DELETE FROM judgements WHERE line = ? AND address = ?", [line, address])
            else:
                db.execute(
                    "INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, ?)",
                    [line, address, int(good), who or myself(), time.time()],
                )

    def judged(self, line: str) -> dict[str, bool]:
        """What was said of this question's results, good or bad, by address."""
        with self._catalog.reading() as db:
            rows = db.execute(
                "SELECT address, good FROM judgements WHERE line = ?", [checked_line(line)]
            ).fetchall()
        return {row["address"]: bool(row["good"]) for row in rows}

    def judgements(self) -> dict[str, dict[str, bool]]:
        """All that was said of results, good or bad, by line and address."""
        found: dict[str, dict[str, bool]] = {}
        with self._catalog.reading() as db:
            for row in db.execute("SELECT line, address, good FROM judgements ORDER BY at"):
                found.setdefault(row["line"], {})[row["address"]] = bool(row["good"])
        return found

    def by_judgement(self) -> list[Golden]:
        """The judged questions as golden queries: what was called good is right."""
        with self._catalog.reading() as db:
            rows = db.execute(
                "SELECT line, json_group_array(address) AS answers, max(who) AS who, max(at) AS at "
                "FROM judgements WHERE good GROUP BY line ORDER BY min(at)"
            ).fetchall()
        return [_golden(row, "judged") for row in rows]

    def take_in(self, collection: str, content: bytes) -> None:
        """Make a collection what this file says; BadSource, and nothing changed, where it cannot be read."""
        self._take_in(collection, content)
        self._write_file(collection)

    def take_in_changes(self) -> None:
        """Bring files that were put there or changed by hand into the catalog; `faults` names the wrong."""
        self.faults = []
        for path in sorted(self._folder.glob("*.json")):
            try:
                self._let_in(path.stem)
            except (OSError, sqlite3.Error, BadSource) as error:
                self.faults.append(str(error) if isinstance(error, BadSource) else f"{path.name}: {error}")

    def unread(self) -> list[str]:
        """The names of files that were put there or changed by hand and are not in the catalog, as of now."""
        return [path.name for path in sorted(self._folder.glob("*.json")) if not self._is_in(path)]

    def _is_in(self, path: Path) -> bool:
        try:
            return self._catalog.meta(_FILE + path.stem) == content_hash(path.read_bytes())
        except OSError:  # a folder, or a link to nothing, has its name
            return False

    def _let_in(self, collection: str) -> None:
        """What the collection's file says, where somebody changed it by hand; BadSource names it."""
        path = self._folder / f"{collection}.json"
        if not path.exists():
            return
        content = path.read_bytes()
        if self._catalog.meta(_FILE + collection) != content_hash(content):
            try:
                self._take_in(collection, content)
            except BadSource as error:
                raise BadSource(f"{path.name} was changed by hand, and {error}; mend or remove it") from error

    def _take_in(self, collection: str, content: bytes) -> None:
        try:
            name = checked_collection(collection)
            answers: dict[str, list[str]] = {}  # a question that stands there twice has the answers of both
            for one in json.loads(content)["queries"]:
                if not isinstance(one["answers"], list):
                    raise TypeError(f"the answers to {one['line']!r} are not a list")
                answers.setdefault(checked_line(one["line"]), []).extend(_answers(one["answers"]))
            goldens = [Golden(line, _answers(right), name, "file") for line, right in answers.items()]
            for golden in goldens:
                golden.line.encode()  # half a character, as JSON can say it, could not be kept
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadSource(f"this is no list of golden queries: {error}") from error
        with self._catalog.writing() as db:
            db.execute("DELETE FROM golden WHERE collection = ?", [collection])
            for golden in goldens:
                _put(db, golden)
            db.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", [_FILE + collection, content_hash(content)]
            )

    def _write_file(self, collection: str) -> None:
        """The collection as it is now, whole or not at all."""
        content = as_file(self.all(collection=collection))
        self._disk.make_folder(self._folder)
        self._disk.replace(self._folder / f"{collection}.json", content)
        self._catalog.set_meta(_FILE + collection, content_hash(content))


def as_file(goldens: Iterable[Golden]) -> bytes:
    """Golden queries as JSON, one a line, so that changes can be read."""
    rows = [
        json.dumps({"line": golden.line, "answers": golden.answers}, ensure_ascii=False) for golden in goldens
    ]
    return ('{"queries": [\n' + ",\n".join(rows) + "\n]}\n").encode()


def shipped(folder: Path, collection: str) -> bytes:
    """A collection that comes with the program."""
    return (folder / "golden" / f"{collection}.json").read_bytes()


def _answers(given: Iterable[str]) -> tuple[str, ...]:
    answers = tuple(dict.fromkeys(checked_address(answer) for answer in given))
    if not answers:
        raise InvalidRecord("a golden query needs at least one right answer")
    return answers


def _put(db: sqlite3.Connection, golden: Golden) -> None:
    db.execute(
        "INSERT OR REPLACE INTO golden (line, answers, collection, who, at) VALUES (?, ?, ?, ?, ?)",
        [golden.line, json.dumps(golden.answers), golden.collection, golden.who, time.time()],
    )


def _golden(row: sqlite3.Row, collection: str) -> Golden:
    return Golden(row["line"], tuple(json.loads(row["answers"])), collection, row["who"], row["at"])
