"""Why approved records cannot be promoted.

A reason is kept until the record changes, moves or is promoted.
"""

import sqlite3
import time
from collections.abc import Iterable, Mapping

# Records with a trouble that still applies, for a condition on `records r`.
STANDING = (
    "r.address IN (SELECT t.address FROM troubles t JOIN records x ON x.address = t.address "
    "WHERE x.revision = t.revision AND x.tier = 'approved')"
)


def store(db: sqlite3.Connection, reasons: Mapping[str, str]) -> None:
    """Store why these approved records cannot be promoted; records of other tiers are skipped."""
    db.executemany(
        "INSERT OR REPLACE INTO troubles SELECT address, revision, ?, ? FROM records "
        "WHERE address = ? AND tier = 'approved'",
        [(reason, time.time(), address) for address, reason in reasons.items()],
    )
    db.execute(
        "DELETE FROM troubles WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.address = troubles.address "
        "AND r.revision = troubles.revision AND r.tier = 'approved')"
    )


def of(db: sqlite3.Connection, addresses: Iterable[str]) -> dict[str, str]:
    """The reasons that still apply to these records, by address."""
    find = (
        f"SELECT t.reason FROM troubles t JOIN records r USING (address) WHERE r.address = ? AND {STANDING}"
    )
    found = {address: db.execute(find, [address]).fetchone() for address in addresses}
    return {address: row[0] for address, row in found.items() if row}
