"""Read the log of decisions that a page sends; everything in it comes from a browser.

Each entry names its library and its person. One of another library or person is neither applied nor
confirmed; it stays in its browser.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from store.library import Library
from store.records import MAX_FACET

MAX_ADDRESSES = 200_000


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One line of a page's log; everything in it comes from a browser."""

    n: int
    verb: str
    addresses: list[str]
    seen: Mapping[str, int | None]  # the revision of each record when it was decided
    reason: str
    boot: str
    matching: Mapping[Any, Any] | None = None  # instead of addresses: all that pass a filter
    others: Sequence[str] = ()  # that a verdict is about
    library: str = ""  # where it was decided, by whom, and in which session of the browser
    actor: str = ""
    session: str = ""
    add: Sequence[str] = ()  # tags
    remove: Sequence[str] = ()
    text: str | None = None  # that stands in the picture; None: as a program read it
    is_sure: bool = False  # it was asked about, and is wanted all the same


def entries_of(log: object) -> dict[str, list[LoggedDecision]]:
    """A page's log as the browser sent it, by client; malformed entries are left out."""
    if not isinstance(log, Mapping):
        return {}
    # What an earlier page left behind comes first: an undo made since must not take back what was before it.
    logs = dict(_mapping(log.get("others")))
    if isinstance(client := log.get("client"), str):
        logs[client] = log.get("entries")
    return {
        client: [entry for raw in entries if (entry := _entry(raw))]
        for client, entries in logs.items()
        if isinstance(client, str) and len(client) <= 64 and isinstance(entries, list)
    }


def clients_of(log: object) -> list[str]:
    """The pages whose logs are included."""
    return list(entries_of(log))


def belonging(library: Library, log: object) -> tuple[dict[str, list[LoggedDecision]], int]:
    """The entries decided in this library by this person, by client, and how many were not.

    A client's log is cut at the first entry of others, because confirming a later one would drop it. An entry
    without a name, from before entries had one, cannot be verified and counts as another's.
    """
    here = (library.id, library.actor_name)
    own, foreign = {}, 0
    for client, entries in entries_of(log).items():
        entries.sort(key=lambda each: each.n)
        own[client] = list(takewhile(lambda each: (each.library, each.actor) == here, entries))
        foreign += len(entries) - len(own[client])
    return own, foreign


def _entry(raw: object) -> LoggedDecision | None:
    raw = _mapping(raw)
    n, verb, named = raw.get("n"), raw.get("verb"), raw.get("addresses")
    if not isinstance(n, int) or not isinstance(verb, str) or not isinstance(named, list):
        return None
    if len(named) > MAX_ADDRESSES or not all(isinstance(address, str) for address in named):
        return None
    reason = raw.get("reason")
    return LoggedDecision(
        n=n,
        verb=verb,
        addresses=named,
        seen=_mapping(raw.get("seen")),
        reason=reason[:500] if isinstance(reason, str) else "",
        boot=str(raw.get("boot", "")),
        matching=_mapping(raw["matching"]) if raw.get("matching") is not None else None,
        others=strings_of(raw.get("others")),
        library=str(raw.get("library", "")),
        actor=str(raw.get("who", "")),
        session=str(raw.get("session", "")),
        add=strings_of(raw.get("add")),
        remove=strings_of(raw.get("remove")),
        text=raw["text"][:MAX_FACET] if isinstance(raw.get("text"), str) else None,
        is_sure=raw.get("is_sure") is True,
    )


def strings_of(value: object) -> list[str]:
    """The strings of a list that a browser sent; none of anything else."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}
