"""The memory's file made again: from a damaged one and its copies, or from the files of earlier versions.

Up to version 1.2 each kind was a file. The new file is made under another name, compared with the old ones
and renamed, so that a crash leaves either; then the old ones go, since what is deleted for good must be in no
file. A file of another program that a kind takes over is moved aside instead, and is whole there.
"""

import logging
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal
from uuid import uuid4

from store.catalog import checksums, pages, snapshots
from store.catalog.checksums import WrongChecksum
from store.catalog.history import FORGET, FORGET_VECTORS, MOVE_ASIDE
from store.catalog.snapshots import DERIVED, CatalogSnapshot
from store.disk.aside import carry_out_moves, move_aside
from store.disk.files import Disk
from store.disk.lock import WriterLock
from store.disk.sqlite import connect, to_read
from store.disk.sqlite_identity import MEMORY_ID, identify, is_log, to_inspect
from store.errors import CatalogDamaged, CatalogTooNew, ForeignFile, NotWritten, ReadOnly
from store.memory.engine.database import SUMMED, VERSION, Database, Places, bring_copy_up_to_date
from store.memory.engine.kind import NEXT_MODEL, UNKNOWN, MemoryKind
from store.writing.salvage import beside, put_in_place, rebuild, take_copied, take_tables, unplaced

log = logging.getLogger(__name__)

NOT_TAKEN = {*DERIVED, "checksums", "token_states"}


def restore_if_lost(path: Path) -> None:
    """Make a file that is gone from its last copy. Raises CatalogDamaged if it was there and has none."""
    if path.is_symlink() or (path.exists() and (not path.is_file() or path.stat().st_size)):
        return
    if is_lost(path):
        log.warning("%s", salvage(path))
    elif _was_in_use(path):
        raise CatalogDamaged(
            f"{path} is gone, and there is no copy of it; restore it from a backup, or "
            "`memory doctor --repair` begins it empty"
        )


def is_needed(path: Path) -> bool:
    """Whether this file is damaged or gone."""
    return bool(unplaced(path)) or is_lost(path) or _is_damaged(path)


def is_lost(path: Path) -> bool:
    """Whether the file was deleted or emptied while a copy of it exists."""
    if path.exists() and path.stat().st_size:
        return False
    return bool(unplaced(path) or snapshots.kept(path))


def _was_in_use(path: Path) -> bool:
    """Whether the file was there: its log is, or copies of it were."""
    is_copied = (path.parent / snapshots.FOLDER / path.stem).is_dir()
    return is_copied or is_log(path.with_name(f"{path.name}-wal"))


def salvage(path: Path) -> str:
    """Replace the file by one with what can be read of it and of its last copy; returns what was done."""
    if made := unplaced(path):
        return f"{path} was made again; the old one is kept as {put_in_place(path, made)}"
    was_there, version, copy, count = path.exists(), VERSION, None, 0
    with suppress(sqlite3.Error):  # rows of an earlier version fit no tables of today
        version = min(VERSION, ((found := identify(path)) and found.version) or VERSION)

    def fill(db: sqlite3.Connection, _: Path) -> None:
        nonlocal copy, count
        copy = _take(db, path, version)
        (count,) = db.execute("SELECT count(*) FROM history").fetchone()

    kept = rebuild(path, lambda new: Database(new, disk=Disk(), writable=True, version=version), fill)
    source = f"from its copy of {copy.day}" if copy else "from what it still says"
    if not (copy or was_there):
        source = "empty, since there is no copy"
    lost = "; what was stored since that copy may be lost" if copy else ""
    old = f"; the old file is kept as {kept}" if was_there else ""
    state = "damaged" if was_there else "gone"
    return f"{path} was {state}: a new one with {count:,} events of its history was made {source}{lost}{old}"


def _take(db: sqlite3.Connection, broken: Path, version: int) -> CatalogSnapshot | None:
    """Copy every row that can be had; returns the copy that was needed."""
    rows = db.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    tables = [row[0] for row in rows if row[0] not in NOT_TAKEN and not row[0].startswith("sqlite_")]
    torn = take_tables(db, broken, tables, summed=SUMMED)

    def is_usable(copy: CatalogSnapshot) -> bool:
        bring_copy_up_to_date(copy.path, version)
        return True

    copy = take_copied(db, broken, torn, is_usable=is_usable)
    kinds = "SELECT replace(key, ' model', ' chroma_rebuild'), '1' FROM meta WHERE key GLOB '* model'"
    db.execute(f"INSERT OR REPLACE INTO meta {kinds}")
    return copy


def _is_damaged(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return _was_in_use(path)
    try:
        if (found := identify(path)) and 0 < found.version < VERSION:
            with closing(sqlite3.connect(to_inspect(path), uri=True)) as db:
                return bool(pages.faults(db, ""))
        with closing(Database(path, disk=Disk(), writable=False)) as database, database.reading() as db:
            return bool(pages.faults(db, ""))
    except (CatalogDamaged, sqlite3.DatabaseError) as error:
        return not isinstance(error, sqlite3.OperationalError)
    except (CatalogTooNew, ForeignFile, NotWritten, ReadOnly):
        return False


# -- files of earlier versions and other programs ------------------------------------------------------------

_LAST = 6  # the last version of these files
_FORMER = "former file"  # in `meta`, of a kind: LEAVING, or GONE once its file needs no look any more
_NEW, _LEAVING, _GONE = ("",), "is leaving", "is gone"
_SHARED = ("recall", "adopted", "queried", "pending")
_UNFINISHED = "unfinished"
_PATIENCE = 600.0  # seconds that another process may take to do the same
_SUMMED = {
    "meta": "key", "decisions": "number", "history": "number", "pending": "id", "recall": "id",
    "kept_vectors": "json_array(id, model, text_hash)",
}  # fmt: skip  # tables of each former file whose rows have a checksum
# SQL: the row before a change as the history has it today
_BEFORE = "CASE WHEN json_valid(before) THEN json_remove(before, '$.embedding_model') ELSE before END"


def take_over(places: Places, kinds: Sequence[MemoryKind], *, disk: Disk, lock: WriterLock | None) -> None:
    """Take the former files in, and remove them; one that cannot be stays. Raises LibraryInUse."""
    waiting = [kind for kind in _waiting(places, kinds) if _is_something(places.former(kind.file))]
    if not waiting:
        return
    with _alone(places, lock) as is_alone:
        if not is_alone:
            return
        with _sources(places, _waiting(places, kinds, _NEW), disk) as sources:
            if sources and not _exists(places.database):
                _make(places, sources, disk)
            elif sources:
                with closing(Database(places.database, disk=disk, writable=True)) as database:
                    _take_sources(database, sources, disk)
        if _exists(places.database):
            with closing(Database(places.database, disk=disk, writable=True)) as database:
                for kind in kinds:
                    if database.of(kind).meta(_FORMER) == _LEAVING:
                        _leave(places.former(kind.file), kind, disk)
                        database.of(kind).set_meta(_FORMER, _GONE)
            (places.folder / "commits.lock").unlink(missing_ok=True)


def left(
    database: Database, places: Places, kinds: Sequence[MemoryKind], *, notes_absent: bool
) -> dict[str, str]:
    """Why the former files that are there cannot be taken in, by kind; those that are not are noted."""
    found = {}
    for kind in _waiting(places, kinds, _NEW):
        try:
            if _state(places, kind) != "none":
                path = places.former(kind.file)
                found[kind.name] = f"{path} was not taken over yet; open the memory again, or move it away"
            elif notes_absent:
                database.of(kind).set_meta(_FORMER, _GONE)
        except (CatalogDamaged, CatalogTooNew, ForeignFile) as error:
            found[kind.name] = str(error)
    return found


def is_damaged(path: Path) -> bool:
    """Whether there is a former file that SQLite cannot read."""
    with suppress(ForeignFile):
        try:
            if found := identify(path):
                with closing(sqlite3.connect(to_inspect(path), uri=True)) as db:
                    return found.application_id == MEMORY_ID and bool(pages.faults(db, ""))
        except sqlite3.DatabaseError:
            return True
    return False


def mend(path: Path) -> str:
    """Replace a damaged or lost former file by one with what it and its copies say; returns what was done."""
    made = beside(path, f"{_UNFINISHED}-mended")
    made.unlink(missing_ok=True)
    copies, source = snapshots.kept(path), "from what it still says"
    with closing(sqlite3.connect(made, isolation_level=None)) as db:
        db.row_factory = sqlite3.Row
        tables = _make_tables(db, [*(copy.path for copy in copies[:1]), path])
        torn = take_tables(db, path, tables, summed=())
        if copy := take_copied(db, path, torn):
            source = f"from its copy of {copy.day}"
        db.execute(f"PRAGMA application_id = {MEMORY_ID}")
        db.execute(f"PRAGMA user_version = {_LAST if tables else 0}")
    kept = put_in_place(path, made)
    return f"{path} was damaged or gone: a new one was made {source}; the old file is kept as {kept}"


def _make_tables(db: sqlite3.Connection, sources: Sequence[Path]) -> list[str]:
    """Make the tables that the first of these files has which says any; returns their names."""
    query = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    for source in sources:
        with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(to_read(source), uri=True)) as old:
            found = {name: sql for name, sql in old.execute(query) if name not in NOT_TAKEN}
            names = [name for name in found if "words" not in name and not name.startswith("sqlite_")]
            for name in names:
                db.execute(found[name])
            if names:
                return names
    return []


def _waiting(
    places: Places, kinds: Sequence[MemoryKind], states: Collection[str] = ("", _LEAVING)
) -> list[MemoryKind]:
    """The kinds whose former files were not taken in yet, or are still there."""
    if not _exists(places.database):
        return [*kinds]
    try:
        if not identify(places.database):
            return [*kinds]
        with closing(sqlite3.connect(to_inspect(places.database), uri=True)) as db:
            found = dict(db.execute("SELECT key, value FROM meta WHERE key GLOB ?", [f"* {_FORMER}"]))
    except (sqlite3.DatabaseError, ForeignFile):  # opening it says so
        return []
    return [kind for kind in kinds if found.get(kind.key(_FORMER), "") in states]


def _is_something(path: Path) -> bool:
    return path.is_symlink() or path.exists() or bool(snapshots.kept(path))


def _exists(path: Path) -> bool:
    return path.is_symlink() or (path.exists() and (not path.is_file() or path.stat().st_size > 0))


@contextmanager
def _alone(places: Places, lock: WriterLock | None) -> Iterator[bool]:
    """Hold the memory's lock; False if another process has it, and the memory's file is there already."""
    if lock and lock.is_held:
        yield True
        return
    own = WriterLock(places.lock)
    if _exists(places.database):
        is_alone = own.try_acquire()
    else:
        own.acquire(timeout=_PATIENCE)
        is_alone = True
    try:
        yield is_alone
    finally:
        if is_alone:
            own.release()


def _state(places: Places, kind: MemoryKind) -> Literal["none", "ours", "taken over"]:
    """What the former file of this kind is. Raises the reason if it may have entries and cannot be used."""
    path = places.former(kind.file)
    if path.is_symlink() and not path.exists():
        raise ForeignFile(
            f"{path} is a link to {path.readlink()}, which is not there; restore it, or remove it"
        )
    if not path.is_file() or not path.stat().st_size:
        return "ours" if snapshots.kept(path) else "none"
    try:
        found = identify(path)
        if found is None:
            return "none"
        known = {"meta", "changes", kind.table} if found.version else set(kind.takes_over)
        is_known = found.application_id == MEMORY_ID or (found.application_id == 0 and known)
        if not (is_known and (found.tables >= known or found.version > _LAST)):
            return "none"
        if found.version > _LAST:
            raise CatalogTooNew(
                f"{path} was written by a newer Memedex (version {found.version}, this one knows {_LAST}); "
                "it was not touched: update the program"
            )
        with closing(sqlite3.connect(to_inspect(path), uri=True)) as db:
            kind.check(db)
    except sqlite3.DatabaseError as error:
        raise CatalogDamaged(
            f"{path} cannot be read ({error}); `memory doctor --repair` makes a new one from what it "
            "still says and from its last copy, and keeps it"
        ) from error
    return "ours" if found.version else "taken over"


def _make(places: Places, sources: "Sequence[_Source]", disk: Disk) -> None:
    made = beside(places.database, _UNFINISHED)
    for ending in ("", "-wal", "-shm"):
        made.with_name(made.name + ending).unlink(missing_ok=True)
    with closing(Database(made, disk=disk, writable=True)) as database:
        _take_sources(database, sources, disk)
    disk.rename(made, places.database)
    disk.fsync_folders([places.folder])


def _take_sources(database: Database, sources: "Sequence[_Source]", disk: Disk) -> None:
    """Take these files in, as one transaction that also says that they may go."""
    with database.attached({one.name: one.file for one in sources}), database.writing() as db:
        numbers = _take_decisions(db, sources)
        for one in sources:
            disk.step("take in", one.file)
            one.take(db, numbers[one.name])
            disk.step("compare", one.file)
            one.compare(db)
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [one.kind.key(_FORMER), _LEAVING])


def _take_decisions(db: sqlite3.Connection, sources: "Sequence[_Source]") -> dict[str, dict[int, int]]:
    """Take the decisions of all files in, by common number or by clock; returns their numbers now."""
    rows, numbers = [], defaultdict[str, dict[int, int]](dict)
    for one in sources:
        shared = one.meta(db).get("numbered_after")
        for row in one.decisions(db):
            is_shared = shared is not None and row["number"] > int(shared)
            rows.append((row["number"] if is_shared else 0, row["at"], row["number"], one.name, row))
    ids: dict[tuple[str, int], str] = {}
    for common, _, number, name, row in sorted(rows, key=lambda one: one[:4]):
        id = ids[name, number] = str(common) if common else uuid4().hex
        db.execute(
            "INSERT INTO decisions (id, verb, who, at, agent, count, reversed, is_final) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET count = count + excluded.count, "
            "reversed = max(reversed, excluded.reversed)",
            [id, *(row[one] for one in ("verb", "who", "at", "agent", "count", "reversed", "is_final"))],
        )
        (numbers[name][number],) = db.execute("SELECT number FROM decisions WHERE id = ?", [id]).fetchone()
        if reverses := ids.get((name, row["reverses"])):
            db.execute("UPDATE decisions SET reverses = ? WHERE id = ?", [reverses, id])
    return numbers


class _Source:
    """The former file of one kind, attached under the kind's name."""

    def __init__(self, kind: MemoryKind, file: Path, *, wrong: Sequence[WrongChecksum] = ()) -> None:
        """`wrong` are rows that are not what was written; they stay so, for doctor to say."""
        self.kind = kind
        self._wrong = wrong
        self.name = f"former_{kind.name}"
        self.file = file

    def meta(self, db: sqlite3.Connection) -> dict[str, str]:
        """Its own named values; another program's has none."""
        if "meta" not in self._tables(db) or "changes" not in self._tables(db):
            return {}
        return dict(db.execute(f"SELECT key, value FROM {self.name}.meta").fetchall())

    def decisions(self, db: sqlite3.Connection) -> list[sqlite3.Row]:
        """All decisions, with who decided in the person's place, and whether they can be undone."""
        if not self.meta(db):
            return []
        rows = f"FROM {self.name}.history h WHERE h.decision = d.number"
        agent = (  # what a person accepted has a row that is not by the agent
            f"CASE WHEN EXISTS (SELECT 1 {rows} AND agent = '') THEN '' "
            f"ELSE coalesce((SELECT agent {rows} LIMIT 1), '') END"
        )
        is_final = (
            f"(d.reversed AND (d.verb IN ('{FORGET}', '{FORGET_VECTORS}', '{MOVE_ASIDE}') "
            f"OR (d.verb = 'import' AND NOT EXISTS (SELECT 1 {rows}))))"
        )
        if "agent" not in self._columns(db, "history"):
            agent = "''"
        return db.execute(
            f"SELECT d.*, {agent} AS agent, {is_final} AS is_final FROM {self.name}.decisions d"
        ).fetchall()

    def take(self, db: sqlite3.Connection, numbers: Mapping[int, int]) -> None:
        """Take all rows in; `numbers` are those of its decisions."""
        name, kind = self.name, self.kind.name
        for table in self.kind.tables:
            self._copy(db, table)
        db.executemany(
            "UPDATE checksums SET sum = ? WHERE name = ? AND key = ?",
            [(one.expected, one.table, one.key) for one in self._wrong if one.table in self.kind.tables],
        )
        for table in _SHARED:
            self._copy(db, table, kind=kind)
        vectors = f"SELECT vector_key(model, said), model, vector FROM {self._vectors(db)}"
        db.execute(f"INSERT OR IGNORE INTO main.{self.kind.vectors} {vectors}")
        if self.kind.has_token_states:
            self._copy(db, "token_states")
        (offset,) = db.execute(
            "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)"
        ).fetchone()
        if self.meta(db):
            db.execute(
                "INSERT INTO changes (number, kind, tbl, id, version) "
                f"SELECT number + ?, ?, tbl, id, version FROM {name}.changes ORDER BY number",
                [offset, kind],
            )
            db.execute(  # new versions come after all that there were
                f"UPDATE sqlite_sequence SET seq = max(seq, (SELECT max(version) FROM changes), "
                f"? + coalesce((SELECT seq FROM {name}.sqlite_sequence WHERE name = 'changes'), 0)) "
                "WHERE name = 'changes'",
                [offset],
            )
            self._take_history(db, numbers)
            self._take_meta(db, offset)
        else:  # another program's
            db.execute(
                "INSERT INTO changes (kind, tbl, id) SELECT ?1, ?2, id FROM " + self.kind.table,
                [kind, self.kind.table],
            )

    def compare(self, db: sqlite3.Connection) -> None:
        """Raises CatalogDamaged unless the memory has now what the file says."""
        for table in (*self.kind.tables, *_SHARED, "history"):
            if table not in self._tables(db):
                continue
            columns = self._shared_columns(db, table)
            if table == "history":
                columns = [one for one in columns if one not in ("number", "decision")]
            sums = ", ".join(f"CAST({one} AS BLOB)" for one in columns)
            query = f"SELECT count(*), coalesce(sum(row_sum({sums})), 0) FROM"
            of_kind = "" if table in self.kind.tables else f"WHERE kind = '{self.kind.name}'"
            former = query.replace("CAST(before AS", f"CAST({_BEFORE} AS")
            theirs = db.execute(f"{former} {self.name}.{table}").fetchone()
            ours = db.execute(f"{query} main.{table} {of_kind}").fetchone()
            if tuple(theirs) != tuple(ours):
                raise CatalogDamaged(
                    f"{table} of {self.file} could not be taken over whole; it stays as it is"
                )

        lost = f"vector_key(model, said) NOT IN (SELECT key FROM main.{self.kind.vectors})"
        if db.execute(f"SELECT 1 FROM {self._vectors(db)} AND {lost}").fetchone():
            raise CatalogDamaged(
                f"the vectors of {self.file} could not be taken over whole; it stays as it is"
            )

    def _vectors(self, db: sqlite3.Connection) -> str:
        """SQL to select from: every vector with its model and its text, or the hash of that."""
        name, text, tables = self.name, self.kind.text, self._tables(db)
        found = [
            f"SELECT coalesce(embedding_model, '{UNKNOWN}') AS model, CAST({text} AS BLOB) AS said, vector "
            f"FROM {name}.{self.kind.table}"
        ]
        if "history" in tables:
            found.append(
                f"SELECT coalesce(before ->> '$.embedding_model', '{UNKNOWN}'), "
                f"CAST(before ->> '$.{text}' AS BLOB), vector FROM {name}.history "
                f"WHERE tbl = '{self.kind.table}' AND vector IS NOT NULL AND json_valid(before)"
            )
        if "kept_vectors" in tables:
            found.append(f"SELECT model, text_hash, vector FROM {name}.kept_vectors")
        if "new_vectors" in tables:
            model = f"(SELECT value FROM {name}.meta WHERE key = '{NEXT_MODEL}')"
            found.append(f"SELECT {model}, text_hash, vector FROM {name}.new_vectors")
        return f"({' UNION ALL '.join(found)}) WHERE vector IS NOT NULL AND model IS NOT NULL"

    def _copy(self, db: sqlite3.Connection, table: str, *, kind: str = "") -> None:
        if table not in self._tables(db):
            return
        columns = ", ".join(self._shared_columns(db, table))
        into, what = (f"kind, {columns}", f"'{kind}', {columns}") if kind else (columns, columns)
        (is_index,) = db.execute(
            "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", [table]
        ).fetchone()
        order = "" if is_index else "ORDER BY rowid"
        db.execute(f"INSERT INTO main.{table} ({into}) SELECT {what} FROM {self.name}.{table} {order}")

    def _take_history(self, db: sqlite3.Connection, numbers: Mapping[int, int]) -> None:
        columns = [one for one in self._shared_columns(db, "history") if one not in ("number", "decision")]
        names, theirs = ", ".join(columns), ", ".join(_BEFORE if one == "before" else one for one in columns)
        db.execute("CREATE TEMP TABLE renumbered (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
        db.executemany("INSERT INTO renumbered VALUES (?, ?)", numbers.items())
        db.execute(
            f"INSERT INTO main.history (decision, kind, {names}) "
            f"SELECT r.new, ?, {theirs} "
            f"FROM {self.name}.history h JOIN renumbered r ON r.old = h.decision ORDER BY h.number",
            [self.kind.name],
        )
        db.execute("DROP TABLE temp.renumbered")

    def _take_meta(self, db: sqlite3.Connection, offset: int) -> None:
        found = self.meta(db)
        for key in ("numbered_after", "reserved"):
            found.pop(key, None)
        if int(found.get("chroma_cursor", 0)):
            found["chroma_cursor"] = str(int(found["chroma_cursor"]) + offset)
        if found.get("chroma_rebuild"):
            found["chroma_rebuild"] = "1"
        db.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            [(self.kind.key(key), value) for key, value in found.items()],
        )

    def _tables(self, db: sqlite3.Connection) -> set[str]:
        return {
            row[0] for row in db.execute(f"SELECT name FROM {self.name}.sqlite_schema WHERE type = 'table'")
        }

    def _columns(self, db: sqlite3.Connection, table: str) -> list[str]:
        return [row["name"] for row in db.execute(f"PRAGMA {self.name}.table_info({table})")]

    def _shared_columns(self, db: sqlite3.Connection, table: str) -> list[str]:
        ours = [row["name"] for row in db.execute(f"PRAGMA main.table_info({table})")]
        theirs = self._columns(db, table)
        return [one for one in ours if one in theirs]


@contextmanager
def _sources(places: Places, kinds: Sequence[MemoryKind], disk: Disk) -> Iterator[list[_Source]]:
    """The files to take in; of another program's, a copy that is upgraded."""
    found, copies = list[_Source](), list[Path]()
    try:
        for kind in kinds:
            path = places.former(kind.file)
            try:
                state = _state(places, kind)
            except (CatalogDamaged, CatalogTooNew, ForeignFile):  # `left` says so
                continue
            if state == "ours":
                if not _exists(path):
                    log.warning("%s", mend(path))
                found.append(_Source(kind, path, wrong=_give_back(path, kind)))
            elif state == "taken over":
                copies.append(copy := beside(path, _UNFINISHED))
                copy.unlink(missing_ok=True)
                if _is_upgraded(path, copy, kind, disk):
                    found.append(_Source(kind, copy))
        yield found
    finally:
        for copy in copies:
            copy.unlink(missing_ok=True)


def _is_upgraded(path: Path, copy: Path, kind: MemoryKind, disk: Disk) -> bool:
    """Whether another program's file could be copied and upgraded."""
    with closing(sqlite3.connect(copy, isolation_level=None)) as db:
        with closing(sqlite3.connect(to_read(path), uri=True)) as theirs:
            theirs.backup(db)
        db.row_factory = sqlite3.Row
        db.execute("BEGIN")
        try:
            kind.upgrade(db, lambda name: disk.step(name, path))
        except (ValueError, TypeError, KeyError, sqlite3.Error) as error:
            log.warning("%s is of another program and cannot be taken over: %s", path, error)
            return False
        db.execute("COMMIT")
    return True


def _give_back(path: Path, kind: MemoryKind) -> list[WrongChecksum]:
    """Give rows that are not what was written back from the copies of their file; returns the others."""
    tables = {**_SUMMED, **dict.fromkeys(kind.tables, "id")}
    with closing(connect(path)) as db:
        checksums.install(db)
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'checksums'").fetchone():
            return []
        return snapshots.restore_rows(db, snapshots.kept(path), tables)


def _leave(path: Path, kind: MemoryKind, disk: Disk) -> None:
    names = [f"{path.name}{ending}" for ending in ("", "-wal", "-shm", "-journal")]
    found = identify(path)
    if found and not found.version:
        what = f"a database of another program, whose {kind.name} were taken over,"
        move_aside(names, source=path.parent, into=path.parent, what=what, disk=disk)
        carry_out_moves(path.parent, disk=disk)
        return
    for name in reversed(names):
        disk.step("remove", path.with_name(name))
        path.with_name(name).unlink(missing_ok=True)
    shutil.rmtree(path.parent / snapshots.FOLDER / path.stem, ignore_errors=True)
