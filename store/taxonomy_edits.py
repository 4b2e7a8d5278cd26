"""Editing the taxonomy's file: decided by one commit, then written whole, taken back like any decision."""

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path

from store import history
from store.catalog import Catalog, next_generation
from store.errors import InvalidRecord, NotWritten
from store.files import Disk
from store.layout import Layout
from store.taxonomy import Taxonomy, parsed, written
from store.writing.write_path import Decision

_TO_WRITE = "taxonomy to write"  # in the catalog while a decided text is not yet in the file


def edit(
    catalog: Catalog, layout: Layout, disk: Disk, entries: Mapping[str, str], *, decision: Decision
) -> bool:
    """Make this the taxonomy; False when it says so already. BadSource, NotWritten."""
    before, after = _text(layout.taxonomy), written(parsed(entries, path=layout.own_taxonomy))
    if before == after:
        return False
    _decide(catalog, layout, disk, before=before, after=after, decision=decision)
    return True


def take_back(catalog: Catalog, layout: Layout, disk: Disk, *, decision: Decision, more: bool) -> bool:
    """Put back what the reversed decision replaced; False when it changed no taxonomy.

    `more`: records follow, and the last of them takes the decision back. InvalidRecord where the file was
    changed since.
    """
    assert decision.reverses
    with catalog.reading() as db:
        row = db.execute("SELECT * FROM taxonomies WHERE decision = ?", [decision.reverses]).fetchone()
    if row is None:
        return False
    now = _text(layout.taxonomy)
    if now == row["before"]:  # an interrupted one came this far
        return True
    if now != row["after"]:
        raise InvalidRecord(f"the taxonomy was changed since; {decision.verb} would lose that")
    _decide(catalog, layout, disk, before=now, after=row["before"], decision=decision, reverses=not more)
    return True


def finish(catalog: Catalog, layout: Layout, disk: Disk) -> None:
    """Write what is decided and not yet in the file."""
    text = catalog.meta(_TO_WRITE)
    if text:
        disk.make_folder(layout.own_taxonomy.parent)
        disk.replace(layout.own_taxonomy, text.encode())
        with catalog.writing() as db:
            db.execute("DELETE FROM meta WHERE key = ?", [_TO_WRITE])


def is_made_by(catalog: Catalog, decision: str) -> bool:
    """Whether this decision has changed the taxonomy already."""
    with catalog.reading() as db:
        row = db.execute("SELECT 1 FROM taxonomies WHERE decision = ?", [decision]).fetchone()
    return row is not None


def _decide(
    catalog: Catalog,
    layout: Layout,
    disk: Disk,
    *,
    before: str,
    after: str,
    decision: Decision,
    reverses: bool = False,
) -> None:
    now = time.time()
    try:
        with catalog.lock:
            with catalog.writing() as db:
                next_generation(db)
                history.note_decision(db, decision.id, verb=decision.verb, who=decision.who, at=now)
                if reverses and decision.reverses:
                    history.note_reversal(db, decision.id, of=decision.reverses)
                db.execute(
                    "INSERT INTO taxonomies (decision, at, who, before, after) VALUES (?, ?, ?, ?, ?)",
                    [decision.id, now, decision.who, before, after],
                )
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_TO_WRITE, after])
            finish(catalog, layout, disk)
    except (OSError, sqlite3.Error) as error:
        raise NotWritten(f"the taxonomy could not be written: {error}") from error


def _text(path: Path) -> str:
    """The file as the program writes it: spaces and order changed by hand are no change."""
    return written(Taxonomy.load(path))
