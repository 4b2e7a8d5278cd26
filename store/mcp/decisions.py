"""Decisions of agents about coins, which the process that writes to the library carries out.

An agent's server leaves each decision as a file in the library's folder (`leave`). The dashboard carries it
out within half a second; where no process has the library open, the server does (`carry_out_waiting`). What
came of it is under the decision's id in `library.answers`, so a crash in between repeats nothing.
"""

import json
import logging
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from store.disk.files import Disk, refused
from store.disk.layout import Layout
from store.errors import MemedexError, NotPermitted
from store.library import Library
from store.outcome import Outcome
from store.permissions import Agent

log = logging.getLogger(__name__)

Verb = Literal["approve", "reject", "tag", "undo"]
_LEFT, _TAKEN, _UNREADABLE = ".json", ".taken", ".unreadable"  # the ending says how far it is


@dataclass(frozen=True, slots=True)
class AgentDecision:
    """One decision of a program for a person."""

    id: str
    verb: Verb
    program: str
    person: str
    addresses: tuple[str, ...] = ()
    reason: str = ""
    add: tuple[str, ...] = ()  # tags
    remove: tuple[str, ...] = ()
    undoes: str = ""  # the decision that an undo takes back


_DECISION = TypeAdapter(AgentDecision)
_VERBS: Mapping[Verb, Callable[[Library, AgentDecision], Outcome]] = {
    "approve": lambda library, one: library.approve(one.addresses, decision=one.id),
    "reject": lambda library, one: library.reject(one.addresses, reason=one.reason, decision=one.id),
    "tag": lambda library, one: library.edit_tags(
        one.addresses, add=one.add, remove=one.remove, decision=one.id
    ),
    "undo": lambda library, one: _take_back(library, one),
}


def leave(layout: Layout, decision: AgentDecision) -> None:
    """Leave a decision for the process that writes; it is durable when this returns. Raises OSError."""
    disk = Disk()
    disk.make_folder(layout.agent_decisions)
    disk.replace(_place(layout, decision.id), json.dumps(asdict(decision)).encode())


def withdraw(layout: Layout, id: str) -> bool:
    """Take a decision back that no process has begun; returns whether none had."""
    try:
        _place(layout, id).unlink()
    except FileNotFoundError:
        return False
    return True


def carry_out_waiting(library: Library) -> None:
    """Carry out the decisions that wait, oldest first, and store what came of each.

    Among them are those that a crash interrupted. An error is an answer, too.
    """
    folder = library.layout.agent_decisions
    for path in sorted(folder.glob(f"*{_LEFT}"), key=_age):
        try:
            path.rename(path.with_suffix(_TAKEN))
        except OSError:  # withdrawn in this moment, or a folder that may only be read
            continue
    for path in sorted(folder.glob(f"*{_TAKEN}"), key=_age):
        try:
            decision = _DECISION.validate_python(json.loads(path.read_bytes()))
        except ValueError as error:  # pydantic's are some
            log.warning("%s holds no decision of an agent: %s", path, error)
            path.rename(path.with_suffix(_UNREADABLE))
            continue
        name = Agent(decision.program, person=decision.person).name
        library.answers.store(decision.id, json.dumps(_carried_out(library, decision)), actor=name)
        path.unlink()


def _carried_out(library: Library, decision: AgentDecision) -> dict[str, object]:
    try:
        agent = library.for_actor(Agent(decision.program, person=decision.person))
        outcome = _VERBS[decision.verb](agent, decision)
    except MemedexError as error:
        return {"error": str(error)}
    except (OSError, sqlite3.Error) as error:
        log.exception("%s by %s failed", decision.verb, decision.program)
        return {"error": refused(error, library.layout.root)}
    return {
        "done": outcome.done,
        "unchanged": outcome.unchanged,
        "refused": [asdict(one) for one in outcome.refused],
        "decision": outcome.decision,
    }


def _take_back(library: Library, decision: AgentDecision) -> Outcome:
    last = library.decision(decision.undoes)
    if last is None or last.actor != library.actor_name:
        raise NotPermitted("an agent takes back its own decisions only")
    return library.undo_decisions([decision.undoes], decision=decision.id)


def _place(layout: Layout, id: str) -> Path:
    return layout.agent_decisions / f"{id}{_LEFT}"


def _age(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # withdrawn in this moment
        return 0
