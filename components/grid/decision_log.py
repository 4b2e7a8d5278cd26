"""Apply the numbered log of every page's decisions, each exactly once.

A page sends everything that is not confirmed, repeatedly and in two ways: by its script, and by a beacon at
its end. After a restart of the server its memory of applied numbers is empty, and a later session may send
what an earlier one left in the browser: then a decision is applied only to records that are as they were when
it was made, and undo, which names no record, only if it reverses a decision of the same log.
"""

import logging
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cachetools import LRUCache

from components.grid.logged_decision import LoggedDecision
from components.grid.matching import addresses
from components.grid.remote_decisions import decided_since, decision_text
from components.shell.decision_text import undone_text
from components.shell.undo import AT_ONCE
from store.catalog.history import Event
from store.disk.files import refused
from store.duplicates import findings
from store.errors import LoginEnded, MemedexError
from store.identity import current_user
from store.library import Library
from store.outcome import Outcome, Refusal
from store.tasks.undo import reverse

log = logging.getLogger(__name__)

BOOT = secrets.token_hex(8)  # tells one run of the server from another
KEPT_PAGES = 2_000

Handler = Callable[[LoggedDecision], Outcome | None]

_VERBS: Mapping[str, Callable[[Library, LoggedDecision], Outcome]] = {
    "approve": lambda library, entry: library.approve(entry.addresses),
    "return": lambda library, entry: library.send_back(entry.addresses),
    "reject": lambda library, entry: library.reject(entry.addresses, reason=entry.reason),
    "degrade": lambda library, entry: library.degrade(entry.addresses),
    "delete": lambda library, entry: library.delete(entry.addresses),
    "restore": lambda library, entry: library.restore(entry.addresses),
    "undo": lambda library, _: reverse(library, "undo", at_once=AT_ONCE),
    "redo": lambda library, _: reverse(library, "redo", at_once=AT_ONCE),
    "tag": lambda library, entry: library.edit_tags(entry.addresses, add=entry.add, remove=entry.remove),
    "correct text": lambda library, entry: library.correct_text(entry.addresses, entry.text),
    "flag": lambda library, entry: library.flag(entry.addresses, _FLAGS.get(entry.reason)),
    "judge": lambda library, entry: library.duplicates.judge(
        "".join(entry.addresses[:1]), findings.checked_verdict(entry.reason), entry.others
    ),
}


_FLAGS: Mapping[str, bool] = {
    "unfit": True,
    "fit": False,
}  # the reason of a flag; any other: as the program says
_LEADS_TO = {
    "approve": "approved",
    "return": "pending",
    "reject": "trash",
    "delete": "trash",
    "degrade": "approved",
}

_MOVES = {
    "approve": "Approve {}",
    "return": "Return {} to review",
    "reject": "Reject {}",
    "degrade": "Remove {} from the library",
    "delete": "Delete {}",
    "restore": "Restore {}",
}


@dataclass(slots=True)
class SettledPage:
    """How far one page's log is applied, and the results of entries that it has no answer to yet."""

    n: int = 0
    results: list[dict[str, Any]] = field(default_factory=list)
    made: set[str] = field(default_factory=set)  # its decisions, by their ids in the history
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Repeatable(Refusal):
    """A coin that was decided elsewhere, which the person may decide all the same, having seen that."""

    seen: int = 0  # its revision by then


class AppliedDecisions:
    """The applied entries of one library; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: LRUCache[tuple[str, str], SettledPage] = LRUCache(KEPT_PAGES)  # by person and client

    def apply(
        self,
        library: Library,
        client: str,
        entries: Iterable[LoggedDecision],
        *,
        handlers: Mapping[str, Handler] | None,
        session: str | None = None,
    ) -> None:
        """Apply, one by one and in order, the entries above the last number applied.

        Each is a decision of its own and is undone as one, however many arrive together. `handlers` carry out
        verbs that need a page; without any (None) it stops before the first of these, which waits for the
        next visit. Entries decided in another `session` (None: any) are applied as after a restart. It stops
        if the login ends: the rest waits until the person is back.
        """
        page = self._page(library.actor_name, client)
        with page.lock:
            sent = sorted(entries, key=lambda each: each.n)
            if sent:  # what came of those before, the page has heard: it sends them no more
                page.results = [result for result in page.results if result["n"] >= sent[0].n]
            for entry in sent:
                if entry.n <= page.n:
                    continue
                if handlers is None and entry.verb not in _VERBS:
                    return
                try:
                    person = library.for_actor(library.catalog.actor.admitted())
                except LoginEnded:
                    return
                outcome = _outcome(person, entry, handlers or {}, page=page, session=session)
                # In this order: who reads beside it must not see a number confirmed without what came of it.
                page.results = [*page.results, _result(person, entry, outcome)]
                page.n = entry.n

    def confirmed(self, clients: Iterable[str], *, actor: str = "") -> dict[str, dict[str, Any]]:
        """For each of these pages of a person, the last number applied, and the results of what it sent."""
        person = actor or current_user()
        with self._lock:
            known = [
                (client, self._pages[person, client]) for client in clients if (person, client) in self._pages
            ]
        return {client: {"n": page.n, "results": page.results} for client, page in known}

    def has_made(self, decision: str, *, actor: str) -> bool:
        """Whether one of this person's pages made the decision."""
        with self._lock:
            return any(decision in page.made for (person, _), page in self._pages.items() if person == actor)

    def _page(self, actor: str, client: str) -> SettledPage:
        with self._lock:
            return self._pages.setdefault((actor, client), SettledPage())


def _outcome(
    library: Library,
    entry: LoggedDecision,
    handlers: Mapping[str, Handler],
    *,
    page: SettledPage,
    session: str | None,
) -> Outcome:
    """The result of one entry; errors become its answer, because otherwise it would return with every run."""
    try:
        if entry.matching is not None:
            entry = replace(entry, addresses=addresses(library, entry.matching))
        if entry.verb in handlers and entry.verb not in _VERBS:
            return handlers[entry.verb](entry) or Outcome()
        if entry.verb not in _VERBS:
            return _refused(entry, f"{entry.verb} cannot be done here")
        return _carry_out(library, entry, page=page, is_later=session not in (None, entry.session))
    except MemedexError as error:
        return _refused(entry, str(error))
    except (OSError, sqlite3.Error) as error:
        log.exception("%s of %d coins failed", entry.verb, len(entry.addresses))
        return _refused(entry, refused(error, library.layout.root))
    except Exception:
        log.exception("%s of %d coins failed", entry.verb, len(entry.addresses))
        return _refused(entry, f"{entry.verb} failed: a bug in Memedex; see the server log")


def _carry_out(library: Library, entry: LoggedDecision, *, page: SettledPage, is_later: bool) -> Outcome:
    if not library.can_write:
        return _refused(entry, "this library is open for reading only")
    stale: list[Refusal] = []
    # A filter's choice says itself what it knew of.
    if (is_later or entry.boot != BOOT) and entry.matching is None:
        if not entry.addresses and not _takes_back_its_own(library, entry, page):
            return _refused(
                entry,
                f"the page or the server was restarted since; {entry.verb} again if it is still wanted",
            )
        if entry.addresses:
            entry, stale = _still_as_seen(library, entry)
            if not entry.addresses:
                return Outcome(refused=stale)
    elsewhere: dict[str, Event] = {}
    if entry.verb in _MOVES:
        entry, elsewhere = _not_decided_elsewhere(library, entry, page)
        if elsewhere and not entry.addresses:
            return Outcome(refused=_asking(library, elsewhere))
    stale += _asking(library, elsewhere)
    is_long = len(entry.addresses) > AT_ONCE and (entry.verb in _MOVES or entry.verb == "tag")
    try:
        outcome = _begin(library, entry) if is_long else _VERBS[entry.verb](library, entry)
    except MemedexError as error:
        outcome = _refused(entry, str(error))
    if outcome.decision:
        page.made.add(outcome.decision)
    outcome.refused += stale
    return outcome


def _not_decided_elsewhere(
    library: Library, entry: LoggedDecision, page: SettledPage
) -> tuple[LoggedDecision, dict[str, Event]]:
    """The decision without those coins that another page has moved since they were shown here; and these."""
    elsewhere = {
        address: event
        for address in entry.addresses
        if (seen := entry.seen.get(address)) is not None
        and (event := decided_since(library, address, seen=seen, made=page.made))
        and event.after_tier != _LEADS_TO.get(entry.verb)  # else the store says that it is there already
    }
    return replace(entry, addresses=[each for each in entry.addresses if each not in elsewhere]), elsewhere


def _asking(library: Library, elsewhere: Mapping[str, Event]) -> list[Refusal]:
    refused: list[Refusal] = []
    for address, event in elsewhere.items():
        record = library.get(address)
        refused.append(Repeatable(address, decision_text(library, event), seen=record.revision))
    return refused


def _takes_back_its_own(library: Library, entry: LoggedDecision, page: SettledPage) -> bool:
    """Whether a late undo still means what it meant: a decision of the log that it is in."""
    last = library.to_undo(actor=library.actor_name) if entry.verb == "undo" else None
    return last is not None and last.id in page.made


def _begin(library: Library, entry: LoggedDecision) -> Outcome:
    """Start a large decision as a job: one decision with progress and a way to stop."""
    name = _MOVES.get(entry.verb, "Tag {}").format(f"{len(entry.addresses):,} coins")
    if entry.verb == "tag":
        edits = {"add": list(entry.add), "remove": list(entry.remove)}
        library.jobs.start("tags", entry.addresses, name=name, options=edits)
    else:
        options = {"verb": entry.verb, "reason": entry.reason}
        library.jobs.start("move", entry.addresses, name=name, options=options)
    return Outcome()


def _still_as_seen(library: Library, entry: LoggedDecision) -> tuple[LoggedDecision, list[Refusal]]:
    current, stale = [], []
    for address in entry.addresses:
        try:
            record = library.get(address)
        except MemedexError as error:
            stale.append(Refusal(address, str(error)))
            continue
        if record.revision == entry.seen.get(address):
            current.append(address)
        elif record.tier != _LEADS_TO.get(entry.verb):  # else it is done: the page was closed before it heard
            stale.append(Refusal(address, "it was changed since you decided"))
    return replace(entry, addresses=current), stale


def _refused(entry: LoggedDecision, reason: str) -> Outcome:
    return Outcome(refused=[Refusal(address, reason) for address in entry.addresses or [""]])


def _result(library: Library, entry: LoggedDecision, outcome: Outcome) -> dict[str, Any]:
    """What the page is told, also if that cannot be read now: else it would send the entry again."""
    try:
        generation = library.generation
        message = undone_text(library, entry.verb, outcome.reversed, by=outcome.decision)
    except Exception:
        log.exception("what came of %s cannot be read", entry.verb)
        generation, message = 0, ""
    repeatable = [refusal for refusal in outcome.refused if isinstance(refusal, Repeatable)]
    return {
        "n": entry.n,
        "generation": generation,  # cards of an earlier one do not show it
        "verb": entry.verb,
        "decision": outcome.decision,
        "reason": entry.reason,
        "again": {refusal.item: refusal.seen for refusal in repeatable},  # with what was seen by then
        "done": outcome.done[:1],  # the page only needs to know where to look
        "message": message,
        "refused": [{"item": refusal.item, "reason": refusal.reason} for refusal in outcome.refused[:200]],
    }
