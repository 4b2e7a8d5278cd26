"""Forget coins that are deleted for good: nothing in a catalog, or a copy of one, says what they were.

Who decided what and when stays in the history, under a word in the place of the coin's address.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass

from store.catalog import checksums
from store.operations import EMPTY_TRASH

ERASING = "erasing"  # in `meta`: what was deleted for good, until no file has anything of it

# Tables with a row for a coin, by the column with its address; the word takes its place.
_KEYS = {
    "history": ("address",), "verdicts": ("first", "second"), "sources": ("address",),
    "suggestions": ("address",), "job_items": ("key",),
}  # fmt: skip
# … of which nothing is kept.
_GONE = {
    "drafts": "address", "troubles": "address", "chroma_queue": "address", "judgements": "address",
    "advice": "address",
}  # fmt: skip
# Tables by a picture's hash, derived from pictures.
_PICTURES = {
    "fingerprints": ("image_hash",), "picture_texts": ("image_hash",), "picture_nudity": ("image_hash",),
    "picture_faults": ("image_hash",), "picture_details": ("image_hash",),
    "likened": ("image_hash",), "lookalikes": ("picture", "other"), "likenesses": ("picture", "other"),
}  # fmt: skip
# Texts that may name a coin by its address.
_MENTIONS = {
    "meta": ("value",), "history": ("reason",), "jobs": ("name", "options", "note", "error"),
    "job_items": ("key", "payload", "reason"), "removed": ("name", "kept"), "maps": ("addresses",),
    "evaluations": ("report",), "troubles": ("reason",), "answers": ("answer",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ForgottenCoin:
    """The facts about a coin that are needed until every trace of it is gone."""

    address: str
    word: str  # replaces its address in the history
    pictures: tuple[str, ...]  # SHA-256 of each that it had, unless another coin has it
    was_in_library: bool


def forget(db: sqlite3.Connection, addresses: Sequence[str]) -> list[ForgottenCoin]:
    """Delete the texts of these coins, and replace their addresses, within the caller's transaction.

    Their rows of `records` must be gone. Returns what `forget_mentions` and the files need.
    """
    coins, texts = [], set[str]()
    (following,) = db.execute("SELECT coalesce(max(id), 0) + 1 FROM history").fetchone()
    for place, address in enumerate(addresses):
        rows = db.execute("SELECT id, before, after FROM history WHERE address = ?", [address]).fetchall()
        states = [json.loads(text) for row in rows for text in (row["before"], row["after"]) if text]
        hashes = {state["image_hash"] for state in states}
        find = "SELECT 1 FROM records WHERE image_hash = ?"
        used = {one for one in hashes if db.execute(find, [one]).fetchone()}
        first = min((row["id"] for row in rows), default=following + place)
        was_in_library = any(state["tier"] == "library" for state in states)
        pictures = tuple(sorted(hashes - used - {""}))
        coins.append(ForgottenCoin(address, f"deleted-{first}", pictures, was_in_library))
        texts |= {state["sidecar_hash"] for state in states}
    forget_again(db, coins, texts=texts)
    return coins


def forget_again(
    db: sqlite3.Connection, coins: Collection[ForgottenCoin], *, texts: Collection[str] = ()
) -> None:
    """Forget these coins in the catalog or a copy of it; `texts` are hashes of sidecars of theirs."""
    tables = _tables(db)
    addresses = json.dumps([coin.address for coin in coins])
    db.execute("DELETE FROM sidecars WHERE hash IN (SELECT value FROM json_each(?))", [json.dumps([*texts])])
    db.execute(  # also those of a change that was refused
        "DELETE FROM sidecars WHERE CASE WHEN json_valid(text) THEN text ->> '$.token_address' END "
        "IN (SELECT value FROM json_each(?))",
        [addresses],
    )
    for coin in coins:
        _forget_rows(db, coin, tables)
    db.execute("DELETE FROM records WHERE address IN (SELECT value FROM json_each(?))", [addresses])


def _forget_rows(db: sqlite3.Connection, coin: ForgottenCoin, tables: set[str]) -> None:
    address, word = coin.address, coin.word
    if "suggestions" in tables:
        db.execute("DELETE FROM suggestions WHERE address = ? AND state = 'open'", [address])
        db.execute("UPDATE suggestions SET text = '', hint = '' WHERE address = ?", [address])
    if "job_items" in tables:
        db.execute(
            "UPDATE job_items SET payload = NULL, reason = '' WHERE key = ? AND state <> 'waiting'", [address]
        )
    for column in ("before", "after"):
        db.execute(
            f"UPDATE history SET {column} = json_set({column}, '$.sidecar_hash', '', '$.image_hash', '') "
            f"WHERE address = ? AND {column} IS NOT NULL",
            [address],
        )
    for table in tables & _KEYS.keys():
        for column in _KEYS[table]:
            db.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {column} = ?", [word, address])
    for table in tables & _GONE.keys():
        db.execute(f"DELETE FROM {table} WHERE {_GONE[table]} = ?", [address])
    for table in tables & _PICTURES.keys():
        for column in _PICTURES[table]:
            db.executemany(
                f"DELETE FROM {table} WHERE {column} = ?", [(picture,) for picture in coin.pictures]
            )


def forget_mentions(db: sqlite3.Connection, words: Mapping[str, str]) -> None:
    """Replace addresses by their words wherever a text names them, and in golden queries."""
    tables = _tables(db)

    def without(text: str) -> str:
        for address, word in words.items():
            if address in text:  # but not where it is a part of another coin's
                text = re.sub(rf"(?<![\w@-]){re.escape(address)}(?![\w@-])", word, text)
        return text

    db.create_function("without", 1, without, deterministic=True)
    for table in tables & _MENTIONS.keys():
        for column in _MENTIONS[table]:
            kept = f"AND key <> '{ERASING}'" if table == "meta" else ""
            db.execute(
                f"UPDATE OR REPLACE {table} SET {column} = without({column}) "
                f"WHERE typeof({column}) = 'text' AND without({column}) <> {column} {kept}"
            )
    db.execute(  # a reason that other coins share says nothing of one that is gone
        "UPDATE history SET reason = '' WHERE address IN (SELECT value FROM json_each(?1)) AND verb <> ?2 "
        "AND reason NOT IN "
        "(SELECT reason FROM history WHERE address NOT IN (SELECT value FROM json_each(?1)))",
        [json.dumps([*words.values()]), EMPTY_TRASH],
    )
    if "golden" in tables:
        for line, answers in db.execute("SELECT line, answers FROM golden").fetchall():
            left = [answer for answer in json.loads(answers) if answer not in words]
            if not left or without(line) != line:
                db.execute("DELETE FROM golden WHERE line = ?", [line])
            elif len(left) < len(json.loads(answers)):
                db.execute("UPDATE golden SET answers = ? WHERE line = ?", [json.dumps(left), line])


def forget_in_copy(db: sqlite3.Connection, coins: Collection[ForgottenCoin]) -> None:
    """Forget these coins in a copy, whose checksums no trigger keeps; those of damaged rows stay wrong."""
    for table in ("history", "sources", "suggestions", "job_items"):  # `snapshots.py` leaves indices out
        if table in _tables(db):
            column = _KEYS[table][0]
            db.execute(f"CREATE INDEX forgetting_{table} ON {table} ({column})")
    damaged = {(one.table, one.key) for one in checksums.wrong(db)} if "checksums" in _tables(db) else set()
    forget_again(db, coins)
    forget_mentions(db, {coin.address: coin.word for coin in coins})
    if "checksums" not in _tables(db):
        return
    for one in checksums.wrong(db):
        if (one.table, one.key) not in damaged:
            db.execute("DELETE FROM checksums WHERE name = ? AND key = ?", [one.table, one.key])
            if found := checksums.row(db, one.table, one.key):
                db.execute("INSERT INTO checksums VALUES (?, ?, ?)", [one.table, one.key, found[1]])


def note(db: sqlite3.Connection, coins: Collection[ForgottenCoin]) -> None:
    """Note within the caller's transaction that traces of these coins, as well, are still to be erased."""
    noted = [*waiting(db), *coins]
    value = json.dumps([asdict(coin) for coin in noted])
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [ERASING, value])


def waiting(db: sqlite3.Connection) -> list[ForgottenCoin]:
    """The coins whose traces are still to be erased."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", [ERASING]).fetchone()
    return [
        ForgottenCoin(one["address"], one["word"], tuple(one["pictures"]), one["was_in_library"])
        for one in (json.loads(row[0]) if row and row[0] else ())
    ]


def _tables(db: sqlite3.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
