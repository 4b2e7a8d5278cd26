"""What the server has applied of every page's numbered log.

A page sends all that is not confirmed, again and again, two ways: by its script, and by a beacon at its end.
Here each number is applied once. After a restart of the server this memory is empty: then a decision is
applied only to records that are as they were when it was made, and undo, which names no record, not at all.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from components.grid.matching import addresses
from components.told import taken_back
from store.duplicates.verdicts import Verdict
from store.errors import MemedexError
from store.library import Library
from store.outcome import Outcome, Refusal
from store.reversing import reverse

BOOT = secrets.token_hex(8)  # tells one run of the server from another
KEPT_PAGES = 2_000
MAX_ADDRESSES = 200_000
AT_ONCE = 256  # records a page waits for, one operation; more are decided in the background

Handler = Callable[["Entry"], Outcome | None]

_VERBS: Mapping[str, Callable[[Library, "Entry"], Outcome]] = {
    "approve": lambda library, entry: library.approve(entry.addresses),
    "return": lambda library, entry: library.give_back(entry.addresses),
    "reject": lambda library, entry: library.reject(entry.addresses, reason=entry.reason),
    "degrade": lambda library, entry: library.degrade(entry.addresses),
    "delete": lambda library, entry: library.delete(entry.addresses),
    "restore": lambda library, entry: library.restore(entry.addresses),
    "undo": lambda library, _: reverse(library, "undo", at_once=AT_ONCE),
    "redo": lambda library, _: reverse(library, "redo", at_once=AT_ONCE),
    "judge": lambda library, entry: library.duplicates.judge(
        "".join(entry.addresses[:1]), cast(Verdict, entry.reason), entry.others
    ),
}


_LEADS_TO = {"approve": "approved", "return": "pending", "reject": "trash", "delete": "trash"}

_MOVES = {
    "approve": "Approve", "return": "Send back", "reject": "Reject", "degrade": "Degrade",
    "delete": "Delete", "restore": "Restore",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a page's log; everything in it comes from a browser."""

    n: int
    verb: str
    addresses: list[str]
    seen: Mapping[str, int | None]  # the revision of each record when it was decided
    reason: str
    boot: str
    matching: Mapping[Any, Any] | None = None  # instead of addresses: all that pass a filter
    others: Sequence[str] = ()  # that a verdict is about


@dataclass(slots=True)
class Settled:
    """How far one page's log is applied, and what came of the entries it has no answer to yet."""

    n: int = 0
    results: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Ledger:
    """One for each library; safe to use in several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: OrderedDict[str, Settled] = OrderedDict()

    def apply(
        self,
        library: Library,
        client: str,
        entries: Iterable[Entry],
        *,
        handlers: Mapping[str, Handler] | None,
    ) -> None:
        """Apply, in order and each by itself, the entries above the last number applied.

        Each is one decision and is undone as one, however many arrive together. `handlers` do the verbs that
        need a page; without any (None) it stops before the first of these, which waits for the next visit.
        """
        page = self._page(client)
        with page.lock:
            sent = sorted(entries, key=lambda each: each.n)
            if sent:  # what came of those before, the page has heard: it sends them no more
                page.results = [result for result in page.results if result["n"] >= sent[0].n]
            for entry in sent:
                if entry.n <= page.n:
                    continue
                if entry.matching is not None:
                    entry = replace(entry, addresses=addresses(library, entry.matching))
                if entry.verb in _VERBS:
                    outcome = _carry_out(library, entry)
                elif handlers is None:
                    return
                elif entry.verb in handlers:
                    outcome = handlers[entry.verb](entry) or Outcome()
                else:
                    outcome = _refused(entry, f"{entry.verb} cannot be done here")
                # In this order: who reads beside it must not see a number confirmed without what came of it.
                page.results = [*page.results, _result(library, entry, outcome)]
                page.n = entry.n

    def confirmed(self, clients: Iterable[str]) -> dict[str, dict[str, Any]]:
        """For each of these pages the last number applied, and what came of what it has sent."""
        with self._lock:
            known = [(client, self._pages[client]) for client in clients if client in self._pages]
        return {client: {"n": page.n, "results": page.results} for client, page in known}

    def _page(self, client: str) -> Settled:
        with self._lock:
            page = self._pages.setdefault(client, Settled())
            self._pages.move_to_end(client)
            while len(self._pages) > KEPT_PAGES:
                self._pages.popitem(last=False)
            return page


def entries_of(log: object) -> dict[str, list[Entry]]:
    """A page's log as it came from the browser, by client; what is not of that form is left out."""
    if not isinstance(log, Mapping):
        return {}
    # What an earlier page left behind comes first: an undo made since must not take back what was before it.
    logs = {**_mapping(log.get("others")), log.get("client"): log.get("entries")}
    return {
        client: [entry for raw in entries if (entry := _entry(raw))]
        for client, entries in logs.items()
        if isinstance(client, str) and len(client) <= 64 and isinstance(entries, list)
    }


def _entry(raw: object) -> Entry | None:
    raw = _mapping(raw)
    n, verb, named = raw.get("n"), raw.get("verb"), raw.get("addresses")
    if not isinstance(n, int) or not isinstance(verb, str) or not isinstance(named, list):
        return None
    if len(named) > MAX_ADDRESSES or not all(isinstance(address, str) for address in named):
        return None
    reason = raw.get("reason")
    return Entry(
        n=n,
        verb=verb,
        addresses=named,
        seen=_mapping(raw.get("seen")),
        reason=reason[:500] if isinstance(reason, str) else "",
        boot=str(raw.get("boot", "")),
        matching=_mapping(raw["matching"]) if raw.get("matching") is not None else None,
        others=_strings(raw.get("others")),
    )


def _strings(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _carry_out(library: Library, entry: Entry) -> Outcome:
    if not library.can_write:
        return _refused(entry, "this library is open for reading only")
    stale: list[Refusal] = []
    if entry.boot != BOOT and entry.matching is None:  # a filter's choice says itself what it knew of
        if not entry.addresses:
            return _refused(entry, f"the server was started anew; {entry.verb} again if it is still wanted")
        entry, stale = _still_as_seen(library, entry)
        if not entry.addresses:
            return Outcome(refused=stale)
    try:
        is_long = len(entry.addresses) > AT_ONCE and entry.verb in _MOVES
        outcome = _begin(library, entry) if is_long else _VERBS[entry.verb](library, entry)
    except MemedexError as error:
        outcome = _refused(entry, str(error))
    outcome.refused += stale
    return outcome


def _begin(library: Library, entry: Entry) -> Outcome:
    """So many that no page should wait for it: one decision all the same, with progress and a way to stop."""
    name = f"{_MOVES[entry.verb]} {len(entry.addresses):,} coins"
    options = {"verb": entry.verb, "reason": entry.reason}
    library.jobs.start("move", entry.addresses, name=name, options=options)
    return Outcome()


def _still_as_seen(library: Library, entry: Entry) -> tuple[Entry, list[Refusal]]:
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


def _refused(entry: Entry, reason: str) -> Outcome:
    return Outcome(refused=[Refusal(address, reason) for address in entry.addresses or [""]])


def _result(library: Library, entry: Entry, outcome: Outcome) -> dict[str, Any]:
    return {
        "n": entry.n,
        "verb": entry.verb,
        "done": outcome.done[:1],  # the page only needs to know where to look
        "said": taken_back(library, entry.verb, outcome.reversed),
        "refused": [{"item": refusal.item, "reason": refusal.reason} for refusal in outcome.refused[:200]],
    }
