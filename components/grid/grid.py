"""The grid on a page: cards in, decisions out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import streamlit as st

from components.grid import assets, page_number
from components.grid.actions import Action
from components.grid.cards import Mark, card, details
from components.grid.comparison import comparison, twins
from components.grid.decision_log import BOOT, AppliedDecisions, Handler
from components.grid.logged_decision import LoggedDecision, belonging, clients_of, strings_of
from components.grid.remote_decisions import shadows
from components.shell import login, presenter, safe_mode, session
from components.shell.base_path import base_path
from components.shell.query_pictures import LINE
from components.shell.session import LINK
from components.shell.tokens import token
from store.catalog.filter_conditions import TIER
from store.catalog.filter_syntax import KEYS
from store.library import Library
from store.outcome import Outcome
from store.reading.reader import Reader
from store.records import Record

_component = st.components.v2.component(
    "memedex.grid", html=assets.HTML, css=assets.style(), js=assets.script()
)
_AGAIN = 4  # times that a link is followed once more
_OPENED = 3  # the coin in the large view and its two neighbours


@dataclass(frozen=True, slots=True)
class _Link:
    """The page that a verb leads to, and the log that it came from."""

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
    order: str = "",
    tagging: Mapping[str, Any] | None = None,
    names_tier: bool = False,
) -> None:
    """Show these records and apply decisions on them; draws the undo button even if there are none.

    `handlers` carry out verbs that the store does not have, and may only use the store and
    `st.session_state`, because they run before the page. `pages`: whether there are pages to turn.
    `matching`: everything that matches, on other pages too. `order`: the sort order. `tagging` opens the tag
    dialog, once for each `id`, for its `addresses`. `names_tier`: whether the line above may name a tier.
    """
    suspicions = library.duplicates.suspicions([record.address for record in records])
    unfit = library.unfit.pictures()
    cards = [
        card(library, record, unfit=unfit, mark=mark(record), suspicion=suspicions.get(record.address))
        for record in records
    ]
    mount(
        key,
        library,
        {
            "cards": cards,
            "pages": pages,
            "matching": matching,
            "question": matching["filter"] if matching else "",
            "order": order,
            "line": _line(key, names_tier=names_tier),
            "tagging": tagging,
            "elsewhere": shadows(
                key,
                library,
                [record.address for record in records],
                question=(matching and matching["filter"], order, page_number.shown(key)),
                is_of_a_window=partial(
                    applied_decisions_of(library.layout.root).has_made, actor=library.actor_name
                ),
            ),
        },
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
    """Mount the component with what every kind of grid needs beside its cards."""
    if not library.can_write:
        actions = [
            replace(action, label=_HARMLESS[action.verb])
            for action in actions
            if action.verb in handlers and action.verb in _HARMLESS
        ]
    state = session.sent(key)
    _follow_link(state)
    applied = applied_decisions_of(library.layout.root)
    _component(
        key=key,
        data={
            "key": key,
            "boot": BOOT,
            "generation": session.beginning().generation,
            # Whose decisions these are: they stand in each of them, and in the browser's key for it.
            "library": library.id,
            "who": library.actor_name,
            "session": login.session(),
            "actions": [action.as_json() for action in actions],
            "undoable": library.can_write,
            "safe": safe_mode.parameters(),
            "presents": presenter.is_on(),
            "confirmed": applied.confirmed(clients_of(state.get("log")), actor=library.actor_name),
            "foreign": belonging(library, state.get("log"))[1],
            "tags": f"{base_path()}/tags",
            "beacon": {"url": f"{base_path()}/decisions", "token": token(library)},
            "details": _opened(library, strings_of(state.get("open"))[:_OPENED]),
            "comparison": _compared(library, state.get("compare")),
            "line": _line(key),
            **data,
        },
        on_log_change=lambda: _apply(key, library, handlers),
        on_open_change=lambda: page_number.keep(key),
        on_compare_change=lambda: page_number.keep(key),
        on_weights_change=_nothing,
        on_requested_change=_nothing,
        on_view_change=_nothing,
        on_held_change=_nothing,
    )


def go_to(page: str, parameter: str) -> Handler:
    """A handler that opens a page about the coin: `?parameter=address`."""

    def handler(entry: LoggedDecision) -> Outcome | None:
        if entry.addresses:
            lead_to(page, **{parameter: entry.addresses[0]})
        return None

    return handler


def lead_to(page: str, **parameters: str) -> None:
    """Go to this page on the next run; for handlers, which run before the page."""
    st.session_state[LINK] = _Link(page, parameters)


@lru_cache(maxsize=8)
def applied_decisions_of(root: Path) -> AppliedDecisions:
    """The decisions that pages of the library in this folder sent."""
    return AppliedDecisions()


_HARMLESS = {"caption": "Captions", "like": "More like this", "style": "Same style", "model": "Generate"}


def _apply(key: str, library: Library, handlers: Mapping[str, Handler]) -> None:
    page_number.keep(key)
    own, _ = belonging(library, session.sent(key).get("log"))
    for client, entries in own.items():
        applied_decisions_of(library.layout.root).apply(
            library, client, entries, handlers=handlers, session=login.session()
        )


def _follow_link(state: Mapping[str, Any]) -> None:
    """Go where a verb leads; again if the same grid sends once more before its browser knows of the new page.

    Otherwise that message would bring its own page back.
    """
    link: _Link | None = st.session_state.pop(LINK, None)
    if link is None:
        return
    log = state.get("log")
    client = log.get("client") if isinstance(log, Mapping) else None
    if link.client is None or (link.client == client and link.again):
        st.session_state[LINK] = replace(link, client=client or "", again=link.again - 1)
        st.switch_page(link.page, query_params=link.parameters)


def _opened(library: Reader, addresses: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The data of the large view: everything of the first coin, most of its neighbours."""
    found = details(library, addresses)
    for address in addresses[:1]:
        if address in found:
            found[address]["twins"] = twins(library, address)
    return found


def _compared(library: Reader, address: object) -> dict[str, Any] | None:
    return comparison(library, address) if isinstance(address, str) and address else None


def _line(key: str, *, names_tier: bool = False) -> dict[str, Any] | None:
    """The line above these cards, so that a page notices when it changed.

    `keys` are the filters that it may name.
    """
    for field in (f"{key}_words", LINE):
        if field in st.session_state:
            keys = (*KEYS, *([TIER] if names_tier else [])) if field != LINE else ()
            return {"field": field, "says": st.session_state[field] or "", "keys": keys}
    return None


def _nothing() -> None:
    """An empty listener, because Streamlit only reports values that have one."""
