"""Rows of the text memory that are not what was written, by their checksums, and how they are given back."""

from store.catalog import checksums, snapshots
from store.catalog.checksums import WrongChecksum
from store.memory.engine.database import SUMMED, Database, bring_copy_up_to_date


def find(database: Database) -> list[WrongChecksum]:
    """The rows that are not what was written, lost ones included."""
    with database.reading() as db:
        return checksums.wrong(db, SUMMED)


def restore(database: Database) -> list[WrongChecksum]:
    """Give damaged rows back from the copies of the file; returns those that no copy has, unchanged."""
    if not find(database):
        return []
    copies = snapshots.kept(database.path)
    for copy in copies:
        bring_copy_up_to_date(copy.path)
    with database.writing() as db:
        wrong = checksums.wrong(db, SUMMED)
        return [one for one in wrong if not snapshots.restore_row(db, one, copies, SUMMED)]


def remove(database: Database, one: WrongChecksum, *, model: str) -> None:
    """Remove a damaged vector of this model, and the checksum of one that is lost."""
    with database.writing() as db:
        db.execute(f"DELETE FROM {one.table} WHERE key = ? AND model = ?", [one.key, model])
        lost = f"name = ? AND key = ? AND key NOT IN (SELECT key FROM {one.table})"
        db.execute(f"DELETE FROM checksums WHERE {lost}", [one.table, one.key])
