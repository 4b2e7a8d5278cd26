"""A memory as earlier versions kept it, made from the one of today: up to 1.2 a file for each kind."""

import shutil
import sqlite3
import zipfile
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from store.catalog import checksums
from store.disk.sqlite import marks, statements
from store.disk.sqlite_identity import MEMORY_ID
from store.memory.engine.database import SUMMED, VERSIONS, Places, install
from store.memory.engine.kind import MemoryKind, add_functions
from store.memory.engine.salvage import _SUMMED
from store.memory.kinds import KINDS

_RELEASED = Path(__file__).parents[1] / "released" / "1.2.0.zip"
_SHARED = ("recall", "adopted", "queried", "pending", "changes", "history")


def as_of_1_2(root: Path) -> None:
    """Put the files of 1.2.0 in the place of this closed memory's, with all that it has."""
    places = Places(root)
    with zipfile.ZipFile(_RELEASED) as released:
        for kind in KINDS:
            (name,) = [one for one in released.namelist() if one.endswith(f"memory/{kind.file}.sqlite3")]
            places.former(kind.file).write_bytes(released.read(name))
            with closing(sqlite3.connect(places.former(kind.file), isolation_level=None)) as db:
                checksums.install(db)
                add_functions(db)
                _fill(db, places.database, kind)
    for ending in ("", "-wal", "-shm"):
        places.database.with_name(f"{places.database.name}{ending}").unlink(missing_ok=True)
    for copy in (places.folder / "snapshots" / "memory").glob("*"):
        copy.unlink()
    if (places.folder / "snapshots" / "memory").exists():
        (places.folder / "snapshots" / "memory").rmdir()


def as_of_1_4(root: Path) -> None:
    """Put the file of 1.4 in the place of this closed memory's, with all that it has."""
    path = Places(root).database
    made = path.with_name("made")
    with closing(sqlite3.connect(made, isolation_level=None)) as db:
        db.row_factory = sqlite3.Row
        install(db)
        for statement in statements("".join(VERSIONS[:8])):
            db.execute(statement)
        db.execute("ATTACH ? AS new", [str(path)])
        tables = [row[0] for row in db.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'")]
        named = "SELECT name FROM new.sqlite_schema WHERE sql LIKE 'CREATE TABLE%'"
        theirs = {row[0] for row in db.execute(named)}
        for table in (table for table in tables if table in theirs):
            names = ", ".join(row["name"] for row in db.execute(f"PRAGMA new.table_info({table})"))
            db.execute(f"INSERT OR REPLACE INTO main.{table} ({names}) SELECT {names} FROM new.{table}")
        db.execute("DELETE FROM main.meta WHERE key GLOB '* fingerprint *'")
        for kind in KINDS:
            _put_vectors(db, kind, [kind.name])
        db.execute("DETACH new")
        kept = {"kept_vectors": "json_array(kind, id, model, text_hash)"}
        checksums.begin(db, {**{table: key for table, key in SUMMED.items() if table in tables}, **kept})
        db.execute(f"PRAGMA application_id = {MEMORY_ID}")
        db.execute("PRAGMA user_version = 8")
    made.replace(path)
    shutil.rmtree(path.parent / "snapshots" / "memory", ignore_errors=True)


def _fill(db: sqlite3.Connection, new: Path, kind: MemoryKind) -> None:
    db.execute("ATTACH ? AS new", [str(new)])
    db.execute("CREATE TABLE IF NOT EXISTS adopted (id TEXT PRIMARY KEY, metadata TEXT NOT NULL) STRICT")
    for table in (*kind.tables, *_SHARED, "kept_vectors", "new_vectors", "decisions", "meta", "checksums"):
        db.execute(f"DELETE FROM main.{table}")
    db.execute("DELETE FROM sqlite_sequence")
    for table in (*kind.tables, *_SHARED):
        theirs = {row[1] for row in db.execute(f"PRAGMA new.table_info({table})")}
        names = [row[1] for row in db.execute(f"PRAGMA main.table_info({table})") if row[1] in theirs]
        only = f"WHERE kind = '{kind.name}'" if table in _SHARED else ""
        listed = ", ".join(names)
        db.execute(f"INSERT INTO main.{table} ({listed}) SELECT {listed} FROM new.{table} {only}")
    _put_vectors(db, kind)
    db.execute(
        "INSERT INTO main.decisions (number, verb, who, at, count, reverses, reversed) SELECT number, verb, "
        "who, at, count, (SELECT r.number FROM new.decisions r WHERE r.id = d.reverses), "
        "reversed OR is_final FROM new.decisions d WHERE number IN (SELECT decision FROM main.history)"
    )
    own = db.execute("SELECT key, value FROM new.meta WHERE key GLOB ?", [f"{kind.name} *"]).fetchall()
    values = [
        (key.removeprefix(f"{kind.name} "), value)
        for key, value in own
        if "former" not in key and "fingerprint" not in key
    ]
    db.executemany(f"INSERT OR REPLACE INTO main.meta VALUES ({marks('kv')})", values)
    db.execute("INSERT INTO main.meta VALUES ('numbered_after', '0')")
    db.execute("INSERT OR IGNORE INTO main.meta VALUES ('epoch', '1')")
    db.execute("DETACH new")
    checksums.begin(db, {**_SUMMED, **dict.fromkeys(kind.tables, "id")})


def _put_vectors(db: sqlite3.Connection, kind: MemoryKind, of_kind: Sequence[str] = ()) -> None:
    """Each vector into its row or, by another model than the kind's, beside it, or into the history."""
    (own,) = db.execute("SELECT value FROM new.meta WHERE key = ?", [kind.key("model")]).fetchone()
    for model, vector_key in [
        (row[0], f"vector_key('{row[0]}', CAST({kind.text} AS BLOB))")
        for row in db.execute(f"SELECT DISTINCT model FROM new.{kind.vectors}")
    ]:
        found = f"(SELECT vector FROM new.{kind.vectors} WHERE key = {vector_key})"
        if model == own:
            db.execute(f"UPDATE main.{kind.table} SET embedding_model = ?, vector = {found}", [model])
            past = found.replace(kind.text, f"before ->> '$.{kind.text}'")
            db.execute(
                f"UPDATE main.history SET vector = {past}, before = json_set(before, '$.embedding_model', ?) "
                "WHERE tbl = ? AND before IS NOT NULL",
                [model, kind.table],
            )
            continue
        for id, text, vector in db.execute(f"SELECT id, {kind.text}, {found} FROM main.{kind.table}"):
            if vector is not None:
                row = [*of_kind, id, model, sha256(text.encode()).hexdigest(), vector]
                db.execute(f"INSERT INTO main.kept_vectors VALUES ({marks(row)})", row)
