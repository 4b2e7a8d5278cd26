"""The coins as they were when people decided about them, so that a rule can be asked what it would have done.

A database in memory holds each coin with the name, texts and tags that it had at that moment. SQLite finds
its tables before the catalog's, so the filter of a rule needs no other form.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from store.catalog import history, rows
from store.catalog.catalog import read_json
from store.catalog.filters import conditions
from store.disk.sqlite import marks
from store.operations import State, state_from
from store.permissions import AGENTS
from store.reading.reader import Reader
from store.rules import matching
from store.rules.rule import Rule

MOST = 20_000  # decisions, the latest
_TABLES = (
    "records",
    "labels",
    "words",
    "embeddings",
    "spellings",
    "unexamined",
    "suspicions",
    "unfit",
    "history",
)
PEOPLE = (  # events that neither a rule, an agent nor the program itself made
    f"who NOT GLOB ? AND who NOT IN ({marks(history.NOBODY)}) "
    f"AND decision NOT IN (SELECT substr(key, {len(matching.RUN) + 1}) FROM meta WHERE key GLOB ?)"
)
OF_PEOPLE = [AGENTS, *history.NOBODY, f"{matching.RUN}*"]
_LAST = (  # of each coin the last decision of people in review that stands
    "SELECT max(id) AS id FROM history WHERE {among} at >= ? AND verb IN ('approve', 'reject', 'delete') "
    "AND before ->> 'tier' = 'pending' AND after ->> 'tier' IN ('approved', 'trash') "
    f"AND {PEOPLE} AND decision NOT IN {history.UNDONE} GROUP BY address ORDER BY id DESC LIMIT ?"
)
_AMONG = "address IN (SELECT value FROM json_each(?)) AND"
_TIER = (  # where people left the coin: what others did to it later is no word of theirs
    f"(SELECT after ->> 'tier' FROM history WHERE address = h.address AND id >= h.id AND {PEOPLE} "
    "ORDER BY id DESC LIMIT 1)"
)


Said = Literal["approved", "rejected"]


@dataclass(frozen=True, slots=True)
class Decided:
    """What a person decided about one coin in review."""

    event: int  # its number in the history
    decision: str
    address: str
    was: Said  # as people have left it, such as by settling a disagreement
    said: Said  # by this decision itself
    reason: str
    actor: str
    at: float  # UNIX seconds
    before: State  # the coin when it was decided


def latest(reader: Reader, *, most: int) -> list[str]:
    """The coins that the latest decisions were about, of people and others."""
    found = reader.catalog.rows(
        "SELECT DISTINCT address FROM (SELECT address FROM history WHERE verb IN "
        "('approve', 'reject', 'delete') ORDER BY id DESC LIMIT ?) JOIN records USING (address)",
        [most],
    )
    return [row[0] for row in found]


def decided(
    reader: Reader, *, since: float, most: int = MOST, among: Collection[str] | None = None
) -> list[Decided]:
    """What people decided since (UNIX seconds) and did not take back, newest first; `among` these."""
    last = _LAST.format(among="" if among is None else _AMONG)
    found = reader.catalog.rows(
        f"SELECT h.*, h.after ->> 'tier' AS first, {_TIER} AS tier "
        f"FROM ({last}) last JOIN history h ON h.id = last.id "
        "JOIN records r ON r.address = h.address WHERE r.tier <> 'pending' ORDER BY h.id DESC",
        [*OF_PEOPLE, *([] if among is None else [json.dumps([*among])]), since, *OF_PEOPLE, most],
    )
    made = []
    for row in found:
        if row["tier"] == "pending":  # a person returned it; others decided since
            continue
        before = state_from(read_json(row["before"], "an event"))
        assert before, "a coin in review"
        made.append(
            Decided(
                row["id"], row["decision"], row["address"], said(row["tier"]), said(row["first"]),
                row["reason"], row["who"], row["at"], before,
            )
        )  # fmt: skip
    return made


def said(tier: str) -> Said:
    """What was decided about a coin that went from review to this tier."""
    return "rejected" if tier == "trash" else "approved"


def meant(reader: Reader, rule: Rule, cases: Sequence[Decided]) -> set[str]:
    """The addresses of these coins that the rule would have meant just before they were decided."""
    if not rule.is_usable:
        return set()
    leave = set(rule.exceptions)
    cases = [one for one in cases if one.address not in leave]
    looks = rule.other or "dup:" in rule.when.casefold()
    with reader.catalog.reading() as now:
        alike = matching.with_likenesses(now, [one.address for one in cases]) if looks else set()
        if rule.other:
            cases = [one for one in cases if one.address in alike]
        with _as_decided(reader, now, cases, alike if "dup:" in rule.when.casefold() else set()) as then:
            where, values = conditions(rule.filter)
            passing = {
                row[0] for row in then.execute(f"SELECT r.address FROM records r WHERE {where}", values)
            }
        if not rule.other:
            return passing
        return {
            one.address
            for one in cases
            if one.address in passing and matching.compared(now, rule, one.address, before=one.event)
        }


@contextmanager
def _as_decided(
    reader: Reader, now: sqlite3.Connection, cases: Sequence[Decided], alike: set[str]
) -> Iterator[sqlite3.Connection]:
    """A connection on which the catalog's records are these coins, each as it was when it was decided."""
    with reader.catalog.scratch() as db:
        for table in _TABLES:
            (made,) = db.execute("SELECT sql FROM kept.sqlite_schema WHERE name = ?", [table]).fetchone()
            db.execute(made)
        db.execute("CREATE INDEX history_of ON history (address)")
        db.execute("BEGIN")
        for one in cases:
            if not db.execute("SELECT 1 FROM sidecars WHERE hash = ?", [one.before.sidecar_hash]).fetchone():
                continue  # deleted for good since
            rows.upsert(db, one.address, one.before, stats=("", ""), now=one.at, generation=0, embeddings={})
            db.execute(
                "INSERT INTO main.history SELECT * FROM kept.history WHERE address = ? AND id < ?",
                [one.address, one.event],
            )
            if one.address in alike:
                _suspect(db, now, one)
        db.execute("COMMIT")
        yield db


def _suspect(db: sqlite3.Connection, now: sqlite3.Connection, case: Decided) -> None:
    """Store the badge that the coin had: of coins that were there, and that nobody had judged."""
    (at,) = now.execute("SELECT at FROM history WHERE id = ?", [case.event]).fetchone()
    there = matching.suspects(now, case.address, before=case.event)
    unjudged = [one for one in there if not one.judgement or one.judgement.created_at > at]
    if unjudged:
        worst = max(unjudged, key=lambda one: one.confidence)
        db.execute(
            "INSERT INTO suspicions SELECT id, ?, ? FROM records WHERE address = ?",
            [worst.confidence, worst.findings[0].kind, case.address],
        )


def limits(rule: Rule) -> list[str]:
    """What of a rule cannot be asked as of then, one sentence each."""
    said = []
    line = rule.when.casefold()
    if "dup:" in line or rule.other:
        said.append("Coins count as alike by the pictures and names that they have today.")
    if "set:" in line:
        said.append("Selections are as they are today.")
    if "unfit:" in line:
        said.append("The word list is today's.")
    return said
