"""Rows of the text memory that are not what was written, by their checksums, and how they are given back."""

from store.catalog import checksums, snapshots
from store.catalog.checksums import WrongChecksum
from store.memory.engine.database import SUMMED, Database


def find(database: Database) -> list[WrongChecksum]:
    """The rows that are not what was written, lost ones included."""
    with database.reading() as db:
        return checksums.wrong(db, SUMMED)


def restore(database: Database) -> list[WrongChecksum]:
    """Give damaged rows back from the copies of the file; returns those that no copy has, unchanged."""
    if not find(database):
        return []
    copies = snapshots.kept(database.path)
    with database.writing() as db:
        wrong = checksums.wrong(db, SUMMED)
        return [one for one in wrong if not snapshots.restore_row(db, one, copies, SUMMED)]


def restore_if_sound(database: Database, one: WrongChecksum, *, vector: bytes) -> None:
    """Write this vector to a damaged entry if with it the entry is what was written."""
    with database.writing() as db:
        db.execute("SAVEPOINT one")
        db.execute(f"UPDATE {one.table} SET vector = ? WHERE id = ?", [vector, one.key])
        if checksums.recorded(db, one.table, one.key) != one.expected:  # a trigger has summed it up
            db.execute("ROLLBACK TO one")
        db.execute("RELEASE one")
