"""Giving a verdict, and taking it back: one transaction each, for no file is touched."""

import sqlite3
import time
from collections.abc import Iterable

from store import history
from store.catalog import Catalog, next_generation
from store.duplicates import verdicts
from store.duplicates.findings import weigh
from store.duplicates.verdicts import Verdict
from store.importing.candidate import Refusal
from store.outcome import Outcome
from store.writing.write_path import Decision


def judge(
    catalog: Catalog, address: str, verdict: Verdict, others: Iterable[str], *, decision: Decision
) -> Outcome:
    """Say what a record is to each of the others; what was said before of a pair no longer stands."""
    outcome, others = Outcome(), list(dict.fromkeys(others))
    try:
        with catalog.writing() as db:
            now, is_new = time.time(), False
            for other in others:
                if reason := _obstacle(db, address, other):
                    outcome.refused.append(Refusal(other, reason))
                    continue
                is_new |= verdicts.note(db, decision.id, address, verdict, other, who=decision.who, at=now)
                outcome.done.append(other)
            if is_new:
                history.note_decision(db, decision.id, verb=decision.verb, who=decision.who, at=now)
                _settle(db, [address, *outcome.done])
                outcome.decision = decision.id
    except (OSError, sqlite3.Error) as error:
        return _refused(others, error)
    return outcome


def take_back(catalog: Catalog, decision: Decision, outcome: Outcome) -> bool:
    """Say again what stood before the decision that this one reverses; False: the disk refused.

    What was said anew since stays and is named.
    """
    assert decision.reverses
    touched: dict[str, None] = {}
    refused = []
    try:
        with catalog.writing() as db:
            now = time.time()
            for first, second, is_done in verdicts.reverse(
                db, decision.id, of=decision.reverses, who=decision.who, at=now
            ):
                if is_done:
                    touched |= {first: None, second: None}
                else:
                    reason = f"what it is to {second} was said anew since; {decision.verb} would lose that"
                    refused.append(Refusal(first, reason))
            if touched:
                history.note_decision(db, decision.id, verb=decision.verb, who=decision.who, at=now)
                history.note_reversal(db, decision.id, of=decision.reverses)
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
    return Outcome(refused=[Refusal(item, f"nothing was changed: {error}") for item in items])


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
