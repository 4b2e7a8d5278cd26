"""The grid on a page: cards in, decisions out."""

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import streamlit as st

from components import pictures
from components.grid import assets
from components.grid.actions import Action
from components.grid.cards import Mark, card, details
from components.grid.comparison import comparison, twins
from components.grid.ledger import BOOT, Entry, Handler, Ledger, entries_of
from components.search_terms import LINE
from components.state import LINK
from store.library import Library
from store.outcome import Outcome
from store.reading import Reader
from store.records import Record

_component = st.components.v2.component(
    "memedex.grid", html=assets.HTML, css=assets.style(), js=assets.script()
)
_AGAIN = 4  # times that a link is followed once more
_OPENED = 3  # the coin in the large view and its two neighbours


@dataclass(frozen=True, slots=True)
class _Link:
    """Where a verb leads, and for which page's log."""

    page: str
    parameters: Mapping[str, str]
    client: str | None = None  # not followed yet
    again: int = _AGAIN


def show_cards(
    key: str,
    library: Library,
    records: Sequence[Record],
    *,
    actions: Sequence[Action],
    handlers: Mapping[str, Handler] | None = None,
    mark: Callable[[Record], Mark | None] = lambda _: None,
    pages: bool = False,
    matching: Mapping[str, Any] | None = None,
) -> None:
    """Show these records and carry out what is decided on them; also without any, so that undo stays at hand.

    `handlers` do the verbs that the store does not have, and may only use the store and `st.session_state`:
    they run before the page does. `pages` says whether there are pages to turn, `matching`
    what all of them are that match, on other pages too.
    """
    suspicions = library.duplicates.suspicions([record.address for record in records])
    cards = [
        card(library, record, mark=mark(record), suspicion=suspicions.get(record.address))
        for record in records
    ]
    mount(
        key,
        library,
        {"cards": cards, "pages": pages, "matching": matching},
        actions=actions,
        handlers=handlers or {},
    )


def mount(
    key: str,
    library: Library,
    data: Mapping[str, Any],
    *,
    actions: Sequence[Action],
    handlers: Mapping[str, Handler],
) -> None:
    """Put the component on the page with what every kind of grid needs beside its cards."""
    if not library.can_write:
        actions = [
            replace(action, label=_HARMLESS[action.verb])
            for action in actions
            if action.verb in handlers and action.verb in _HARMLESS
        ]
    state = sent(key)
    _follow_link(state)
    ledger = ledger_of(library.layout.root)
    _component(
        key=key,
        data={
            "key": key,
            "boot": BOOT,
            "actions": [action.as_json() for action in actions],
            "undoable": library.can_write,
            "confirmed": ledger.confirmed(entries_of(state.get("log"))),
            "beacon": {"url": f"{pictures.base_path()}/decisions", "token": token(library)},
            "details": _opened(library, _strings(state.get("open"))[:_OPENED]),
            "comparison": _compared(library, state.get("compare")),
            "line": _line(key),
            **data,
        },
        on_log_change=lambda: _apply(key, library, handlers),
        on_open_change=_nothing,
        on_compare_change=_nothing,
        on_weights_change=_nothing,
        on_knows_change=_nothing,
        on_view_change=_nothing,
        on_held_change=_nothing,
    )


def sent(key: str) -> Mapping[str, Any]:
    """What the grid with this key has last told the server."""
    state = st.session_state.get(key)
    return state if isinstance(state, Mapping) else {}


def go_to(page: str, parameter: str) -> Handler:
    """A handler that leads to a page about the coin: `?parameter=address`."""

    def handler(entry: Entry) -> Outcome | None:
        if entry.addresses:
            lead_to(page, **{parameter: entry.addresses[0]})
        return None

    return handler


def lead_to(page: str, **parameters: str) -> None:
    """Go to this page on the next run; for handlers, which run before the page does."""
    st.session_state[LINK] = _Link(page, parameters)


def token(library: Reader) -> str:
    """What a page shows to deliver decisions without its script: who looks at it, signed by this library."""
    return f"{_signed(library, library.who)}.{library.who}"


def bearer(library: Reader, given: str) -> str | None:
    """Who was given this token; None where this library never made it."""
    signature, _, who = given.partition(".")
    return who if hmac.compare_digest(signature.encode(), _signed(library, who).encode()) else None


def _signed(library: Reader, who: str) -> str:
    return hmac.new(library.secret, f"decisions {who}".encode(), sha256).hexdigest()


@lru_cache(maxsize=8)
def ledger_of(root: Path) -> Ledger:
    """The one ledger of the library in this folder."""
    return Ledger()


_HARMLESS = {
    "caption": "Captions", "like": "More like this", "style": "Same style", "model": "To model",
}  # fmt: skip


def _apply(key: str, library: Library, handlers: Mapping[str, Handler]) -> None:
    for client, entries in entries_of(sent(key).get("log")).items():
        ledger_of(library.layout.root).apply(library, client, entries, handlers=handlers)


def _follow_link(state: Mapping[str, Any]) -> None:
    """Go where a verb leads; again when the same grid speaks once more, which it may have done before its
    browser heard of the other page: that would bring its own back."""
    link: _Link | None = st.session_state.pop(LINK, None)
    if link is None:
        return
    log = state.get("log")
    client = log.get("client") if isinstance(log, Mapping) else None
    if link.client is None or (link.client == client and link.again):
        st.session_state[LINK] = replace(link, client=client or "", again=link.again - 1)
        st.switch_page(link.page, query_params=link.parameters)


def _opened(library: Reader, addresses: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What the large view shows: all of the first, the one that is looked at, and most of its neighbours."""
    found = details(library, addresses)
    for address in addresses[:1]:
        if address in found:
            found[address]["twins"] = twins(library, address)
    return found


def _compared(library: Reader, address: object) -> dict[str, Any] | None:
    return comparison(library, address) if isinstance(address, str) and address else None


def _line(key: str) -> dict[str, str] | None:
    """What the line above these cards says, for a page to see when it says something else by now."""
    for field in (f"{key}_words", LINE):
        if field in st.session_state:
            return {"field": field, "says": st.session_state[field] or ""}
    return None


def _strings(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _nothing() -> None:
    """Streamlit reports a value only where somebody listens."""
