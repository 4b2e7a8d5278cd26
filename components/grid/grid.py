"""The grid on a page: cards in, decisions out; its script and style."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st
from pydantic import TypeAdapter, ValidationError

from components.grid import page_number
from components.grid.actions import Action, Handler
from components.grid.cards import Mark, card
from components.grid.matching import addresses
from components.grid.remote_decisions import shadows
from components.shell import format, javascript
from components.shell.page import places
from components.shell.page.query_pictures import LINE
from components.shell.page.streamlit_style import TOOLS
from components.shell.server import messages
from components.shell.session import presenter, safe_mode, session
from store import Library, MemedexError, Record
from store.catalog import filter_conditions, filter_syntax
from store.rules import families
from store.tasks import undo

_HERE = Path(__file__).resolve().parent
_STYLES = ("grid", "tags", "panel", "comparison", "ranking", "views")

HTML = '<div class="memedex-grid"></div>\n'


def script(name: str = "main.js") -> str:
    """The grid's JavaScript, or another component's of this folder."""
    return javascript.component(f"grid/js/{name}")


def style(*names: str) -> str:
    """These parts of the style, or all of it."""
    tiers = " ".join(f"--{tier}: var(--st-{color}-text-color);" for tier, color in format.TIER_COLORS.items())
    files = ((_HERE / f"{name}.css").read_text("utf-8") for name in names or _STYLES)
    return "\n".join([f".memedex-grid {{ {tiers} }}", *files])


_component = st.components.v2.component("memedex.grid", html=HTML, css=style(), js=script())
_place = st.components.v2.component(
    "memedex.grid_tools", html='<div class="memedex-grid place"></div>', css=style(), js=script("place.js")
)
_UNDONE = 50  # decisions that can be undone one after the other before the page runs again
_LINK = "memedex.link"  # where the verb of a handler leads


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
    counted: str = "",
    branches: Sequence[families.Branch] = (),
    table: bool = False,
) -> None:
    """Show these records and apply decisions on them.

    `handlers` do what needs the page, such as opening another; they may only use the store and
    `st.session_state`, because they run before the page. `pages`: whether there are pages to turn.
    `matching`: everything that matches, on other pages too. `order`: the sort order. `tagging` opens the tag
    dialog, once for each `id`, for its `addresses`. `names_tier`: whether the line above may name a tier.
    `counted`: how many there are, and which of them are shown. `branches`: where each of them stands in a
    tree, which is drawn line by line. `table`: whether they are offered as a table, too.
    """
    suspicions = library.duplicates.suspicions([record.address for record in records])
    unfit = library.unfit.pictures()
    cards = [
        card(library, record, unfit=unfit, mark=mark(record), suspicion=suspicions.get(record.address))
        for record in records
    ]
    for shown, branch in zip(cards, branches, strict=False):
        shown["branch"] = {"depth": branch.depth, "up": branch.up, "edge": branch.member.edge}
    mount(
        key,
        library,
        {
            "cards": cards,
            "pages": pages,
            "matching": matching,
            "question": matching["filter"] if matching else "",
            "order": order,
            "counted": counted,
            "isTree": bool(branches),
            "table": table,
            "line": _line(key, names_tier=names_tier),
            "tagging": tagging,
            "elsewhere": shadows(
                key,
                library,
                [record.address for record in records],
                question=(matching and matching["filter"], order, page_number.shown(key)),
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
    """Mount the component with what every kind of grid needs in addition to its cards."""
    if not library.can_write:
        actions = [
            replace(action, label=_HARMLESS[action.verb]) for action in actions if action.verb in _HARMLESS
        ]
    actions = [replace(each, to="") if each.verb in handlers else each for each in actions]
    actions = [each for each in actions if each.goes in ("", "dialog") or each.to or each.verb in handlers]
    _component(
        key=key,
        data={
            "key": key,
            "generation": session.beginning().generation,
            # Whose decisions these are: what a page could not send waits in its browser under these names.
            "library": library.id,
            "who": library.actor_name,
            "actions": [action.as_json() for action in actions],
            "undoable": library.can_write,
            "undo": undo.undoable(library, limit=_UNDONE),
            "redo": undo.redoable(library, limit=_UNDONE),
            "safe": safe_mode.parameters(),
            "presents": presenter.is_on(),
            "switches": safe_mode.switches(),
            "acted": st.session_state.get(_acted(key)),
            "server": messages.server(library),
            "line": _line(key),
            **data,
        },
        on_asked_change=lambda: _act(key, library, handlers),
        on_weights_change=_nothing,
        on_requested_change=_nothing,
        on_view_change=_nothing,
        on_held_change=_nothing,
    )


def tools_place() -> None:
    """The place in the page's row where the grid puts its tools."""
    _place(key=TOOLS)


def lead_to(link: places.Link) -> None:
    """Let the browser follow this link once the run is drawn; for handlers, which run before the page."""
    st.session_state[_LINK] = places.address(link)


_HARMLESS = {"caption": "Captions", "like": "More like this", "style": "Same style", "model": "Generate"}


@dataclass(frozen=True, slots=True)
class _Act:
    """One press of a key that needs the page; everything in it comes from a browser."""

    n: int
    verb: str
    addresses: list[str]
    matching: Mapping[str, Any] | None = None  # instead of addresses: all that pass a filter


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one page asks of its next run, again with each message until a run has done it."""

    client: str  # this page, until it is loaded again
    entries: list[_Act]


_ASKED = TypeAdapter(_Asked)


def _act(key: str, library: Library, handlers: Mapping[str, Handler]) -> None:
    """Let the handlers do what was asked since the last run, in order and once."""
    page_number.keep(key)
    try:
        asked = _ASKED.validate_python(session.sent(key).get("asked"))
    except ValidationError:
        return
    done = st.session_state.get(_acted(key)) or {}
    last = done["n"] if done.get("client") == asked.client else 0
    for entry in asked.entries:
        if entry.n <= last:
            continue
        last = entry.n
        st.session_state.pop(_LINK, None)
        chosen = entry.addresses if entry.matching is None else addresses(library, entry.matching)
        if entry.verb in handlers:
            try:
                handlers[entry.verb](chosen)
            except MemedexError as error:
                session.queue_message(format.plain(str(error), limit=300), icon=":material/error:")
        link = st.session_state.pop(_LINK, "")
        st.session_state[_acted(key)] = {"client": asked.client, "n": last, "link": link}


def _acted(key: str) -> str:
    """In the session's state: the number of the last press that a handler has done, and where it leads."""
    return f"{key}.acted"


def _line(key: str, *, names_tier: bool = False) -> dict[str, Any] | None:
    """The line above these cards, so that a page notices when it changed.

    `keys` are the filters that it may name.
    """
    for field in (f"{key}_words", LINE):
        if field in st.session_state:
            keys = (
                (*filter_syntax.KEYS, *([filter_conditions.TIER] if names_tier else []))
                if field != LINE
                else ()
            )
            return {"field": field, "says": st.session_state[field] or "", "keys": keys}
    return None


def _nothing() -> None:
    """An empty listener, because Streamlit only reports values that have one."""
