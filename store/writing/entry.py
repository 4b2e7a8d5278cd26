"""Step 5 of the write path: what an operation did to the files is entered into the catalog."""

import sqlite3
from collections.abc import Collection
from pathlib import Path

from store.captions import drafts
from store.catalog import forgetting, history, rows
from store.catalog.catalog import next_generation
from store.disk.layout import Layout
from store.disk.stats import file_stats
from store.operations import Operation


def enter(db: sqlite3.Connection, layout: Layout, operation: Operation, *, edited: Collection[Path]) -> None:
    """Enter the records as they are now, their history, and what Chroma has to follow.

    Files that were `edited` by hand meanwhile are entered as unknown, so that they are compared and count.
    Deletes the person's draft of a caption that was written.
    """
    generation = next_generation(db)
    if operation.erases:
        _enter_erased(db, operation)
        return
    for change in operation.changes:
        rows.upsert(
            db,
            change.address,
            change.after,
            stats=file_stats(layout, change.after, change.address, unknown=edited),
            now=operation.created_at,
            generation=generation,
            embeddings=change.embeddings,
        )
        if "library" in (change.after.tier, change.before and change.before.tier):
            db.execute("INSERT OR REPLACE INTO chroma_queue VALUES (?, ?)", [change.address, generation])
        if operation.verb == "caption":  # what was being typed is what is now written
            drafts.delete(db, change.address, actor=operation.actor)
    history.record(db, operation)


def _enter_erased(db: sqlite3.Connection, operation: Operation) -> None:
    """Enter that records were deleted for good; what is left of them in other files goes after this."""
    for change in operation.changes:
        if row := db.execute("SELECT id FROM records WHERE address = ?", [change.address]).fetchone():
            rows.remove(db, row["id"])
    coins = forgetting.forget(db, [change.address for change in operation.changes])
    for change, coin in zip(operation.changes, coins, strict=True):
        assert change.before is not None, "what is erased was there"
        history.record_erased(db, operation, coin.word, change.before)
    forgetting.note(db, coins)
