"""Give a verdict, and undo it: one transaction each, because no file changes."""

import sqlite3
import time
from collections.abc import Iterable

from store.catalog import history
from store.catalog.catalog import Catalog, next_generation
from store.disk.sqlite import not_written
from store.duplicates import verdicts
from store.duplicates.findings import weigh
from store.duplicates.verdicts import Verdict
from store.operations import DecisionIntent
from store.outcome import Outcome, Refusal


def judge(
    catalog: Catalog, address: str, verdict: Verdict, others: Iterable[str], *, decision: DecisionIntent
) -> Outcome:
    """Store the verdict on a record and each of the others; it replaces earlier verdicts of a pair."""
    outcome, others = Outcome(), list(dict.fromkeys(others))
    try:
        with catalog.writing() as db:
            now, is_new = time.time(), False
            for other in others:
                if reason := _obstacle(db, address, other):
                    outcome.refused.append(Refusal(other, reason))
                    continue
                is_new |= verdicts.record(
                    db, decision.id, address, verdict, other, actor=decision.actor, at=now
                )
                outcome.done.append(other)
            if is_new:
                history.record_decision(db, decision.id, verb=decision.verb, actor=decision.actor, at=now)
                _settle(db, [address, *outcome.done])
                outcome.decision = decision.id
    except (OSError, sqlite3.Error) as error:
        return _refused(others, error)
    return outcome


def undo(catalog: Catalog, decision: DecisionIntent, outcome: Outcome) -> bool:
    """Restore the verdicts before the decision that this one reverses; False if the disk refused.

    Verdicts given since stay and are reported.
    """
    assert decision.reverses
    touched: dict[str, None] = {}
    refused = []
    try:
        with catalog.writing() as db:
            now = time.time()
            for first, second, is_done in verdicts.reverse(
                db, decision.id, of=decision.reverses, actor=decision.actor, at=now
            ):
                if is_done:
                    touched |= {first: None, second: None}
                else:
                    reason = f"it was judged again with {second} since; {decision.verb} would lose that"
                    refused.append(Refusal(first, reason))
            if touched:
                history.record_decision(db, decision.id, verb=decision.verb, actor=decision.actor, at=now)
                history.record_reversal(db, decision.id, of=decision.reverses)
                _settle(db, touched)
    except (OSError, sqlite3.Error) as error:
        outcome.refused += _refused([decision.reverses], error).refused
        return False
    outcome.refused += refused
    if touched:
        outcome.done += touched
        outcome.decision = decision.id
    return True


def _refused(items: Iterable[str], error: Exception) -> Outcome:
    return Outcome(refused=[Refusal(item, str(not_written(error, str(error)))) for item in items])


def _obstacle(db: sqlite3.Connection, address: str, other: str) -> str:
    if address == other:
        return "a record is not compared with itself"
    for one in (address, other):
        if not db.execute("SELECT 1 FROM records WHERE address = ?", [one]).fetchone():
            return f"no record has the address {one}"
    return ""


def _settle(db: sqlite3.Connection, addresses: Iterable[str]) -> None:
    next_generation(db)
    for address in dict.fromkeys(addresses):
        weigh(db, address)
