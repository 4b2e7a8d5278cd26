"""Copy the files of a root that no catalog lists: the memory, the taxonomy, what was moved aside."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from store.backup.manifest import digest_of
from store.disk.aside import PREFIX, moved_aside
from store.disk.layout import Layout
from store.disk.sqlite_identity import identify, to_read

_BESIDE_SQLITE = ("-wal", "-shm", "-journal")


def other_files(layout: Layout) -> Iterator[Path]:
    """Files that no catalog knows: the root's own taxonomy, the memory, what was moved aside.

    Without the memory's Chroma: it is derived, and may still contain deleted texts.
    """
    if (layout.root / "taxonomy.json").is_file():
        yield layout.root / "taxonomy.json"
    derived = layout.root / "memory" / "chroma"
    aside = [one.place for one in moved_aside(layout.memecoins, layout.chroma)]
    for folder in (layout.root / "memory", layout.set_aside, *aside):
        for path in sorted(folder.rglob("*")):
            if path == derived.with_suffix(".dirty") or path.is_relative_to(derived):
                continue
            if path.is_file() and not path.is_symlink() and path.suffix not in (".lock", ".holder"):
                yield path


def copy_other(source: Path, target: Path, place: Path) -> dict[str, str]:
    """Copy one file, a database through SQLite because it may be in use; returns its manifest entry."""
    if source.name.endswith(_BESIDE_SQLITE) and not source.parent.name.startswith(PREFIX):
        return {}
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if _is_database(source) and not source.parent.name.startswith(PREFIX):
            with (
                closing(sqlite3.connect(to_read(source), uri=True)) as db,
                closing(sqlite3.connect(target, isolation_level=None)) as copy,
            ):
                db.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
        else:
            shutil.copyfile(source, target)
    except FileNotFoundError:  # removed a moment ago
        return {}
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise
        shutil.copyfile(source, target)  # damaged, or nobody knows what: as it is
    return {target.relative_to(place).as_posix(): digest_of(target)}


def _is_database(path: Path) -> bool:
    try:
        return identify(path) is not None
    except sqlite3.DatabaseError:
        return False
