"""A memory as versions up to 1.2 kept it: a file for each kind, made from the one of today."""

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

from store.catalog import checksums
from store.disk.sqlite_values import marks
from store.memory.engine.former_files import _SUMMED
from store.memory.engine.kind import MemoryKind
from store.memory.engine.places import Places
from store.memory.kinds import KINDS

_RELEASED = Path(__file__).parents[1] / "released" / "1.2.0.zip"
_SHARED = ("recall", "adopted", "queried", "kept_vectors", "new_vectors", "pending", "changes", "history")


def as_of_1_2(root: Path) -> None:
    """Put the files of 1.2.0 in the place of this closed memory's, with all that it has."""
    places = Places(root)
    with zipfile.ZipFile(_RELEASED) as released:
        for kind in KINDS:
            (name,) = [one for one in released.namelist() if one.endswith(f"memory/{kind.file}.sqlite3")]
            places.former(kind.file).write_bytes(released.read(name))
            with closing(sqlite3.connect(places.former(kind.file), isolation_level=None)) as db:
                checksums.install(db)
                _fill(db, places.database, kind)
    for ending in ("", "-wal", "-shm"):
        places.database.with_name(f"{places.database.name}{ending}").unlink(missing_ok=True)
    for copy in (places.folder / "snapshots" / "memory").glob("*"):
        copy.unlink()
    if (places.folder / "snapshots" / "memory").exists():
        (places.folder / "snapshots" / "memory").rmdir()


def _fill(db: sqlite3.Connection, new: Path, kind: MemoryKind) -> None:
    db.execute("ATTACH ? AS new", [str(new)])
    db.execute("CREATE TABLE IF NOT EXISTS adopted (id TEXT PRIMARY KEY, metadata TEXT NOT NULL) STRICT")
    for table in (*kind.tables, *_SHARED, "decisions", "meta", "checksums"):
        db.execute(f"DELETE FROM main.{table}")
    db.execute("DELETE FROM sqlite_sequence")
    for table in (*kind.tables, *_SHARED):
        theirs = {row[1] for row in db.execute(f"PRAGMA new.table_info({table})")}
        names = [row[1] for row in db.execute(f"PRAGMA main.table_info({table})") if row[1] in theirs]
        only = f"WHERE kind = '{kind.name}'" if table in _SHARED else ""
        listed = ", ".join(names)
        db.execute(f"INSERT INTO main.{table} ({listed}) SELECT {listed} FROM new.{table} {only}")
    db.execute(
        "INSERT INTO main.decisions (number, verb, who, at, count, reverses, reversed) SELECT number, verb, "
        "who, at, count, (SELECT r.number FROM new.decisions r WHERE r.id = d.reverses), "
        "reversed OR is_final FROM new.decisions d WHERE number IN (SELECT decision FROM main.history)"
    )
    own = db.execute("SELECT key, value FROM new.meta WHERE key GLOB ?", [f"{kind.name} *"]).fetchall()
    values = [(key.removeprefix(f"{kind.name} "), value) for key, value in own if "former" not in key]
    db.executemany(f"INSERT OR REPLACE INTO main.meta VALUES ({marks('kv')})", values)
    db.execute("INSERT INTO main.meta VALUES ('numbered_after', '0')")
    db.execute("INSERT OR IGNORE INTO main.meta VALUES ('epoch', '1')")
    db.execute("DETACH new")
    checksums.begin(db, {**_SUMMED, **dict.fromkeys(kind.tables, "id")})
