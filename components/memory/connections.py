"""From a coin to the texts that mention it, and from a text to the coins that it mentions."""

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from components.memory.kinds import text_of
from components.memory.markup import line, listed
from components.shell import format
from components.shell.page import address, thumbnails
from components.shell.session import safe_mode
from store import Filter, Library, MemedexError, Memory, Record
from store.memory.values import CoinMention, Mention, coins_in, coins_near

_COIN = "about"  # the key of its field, and the parameter
_OFFERED = 20  # coins that match what is typed
_HOW = {"name": "names it", "ticker": "by its ticker", "meaning": "near in meaning"}


def choose() -> str:
    """The words of a coin whose mentions are wanted; "" without one."""
    words = st.text_input(
        "What is said of a coin", **address.kept(_COIN), type="search", icon=":material/search:",
        live=True, placeholder="name, ticker or address",
    )  # fmt: skip
    return (words or "").strip()


def leave() -> None:
    """Ask for no coin any more."""
    st.session_state[_COIN] = ""


def show(library: Library, memory: Memory, words: str) -> None:
    """The texts that name the coin of these words, or come near it."""
    record = _chosen(library, words)
    if record is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        shown = safe_mode.shown(library, record)
        thumbnails.picture(library, record, width=56)
        st.markdown(f"## {format.plain(shown.name)}", width="content", anchors=False)
        st.badge(format.plain(shown.ticker, limit=16) or "no ticker", color="gray")
        st.page_link(
            "pages/captions.py",
            label="Its caption",
            icon=":material/edit_note:",
            query_params={"address": record.address},
        )
    try:
        with st.spinner("Looking through the memory …"):
            found = memory.mentions(record)
    except MemedexError as error:
        st.error("The memory could not be asked:")
        st.text(str(error))
        return
    _mentions(found)


def _chosen(library: Library, words: str) -> Record | None:
    """The chosen coin: by its address, else by words."""
    with suppress(MemedexError):  # a link names the address
        return library.get(words)
    found = library.find(Filter(words=words), limit=_OFFERED)
    if not found:
        st.info("No coin has these words.", icon=":material/search_off:")
        return None
    exact = [
        record for record in found if words.casefold() in (record.name.casefold(), record.ticker.casefold())
    ]
    offered = exact or found
    if len(offered) == 1:
        return offered[0]
    shown = [safe_mode.shown(library, record) for record in offered]
    names = {record.address: f"{record.name} · {record.ticker}" for record in shown}
    address = st.pills("Which one?", list(names), format_func=names.__getitem__)
    return next((record for record in offered if record.address == address), None)


def _mentions(found: Sequence[Mention]) -> None:
    named = [mention for mention in found if mention.how != "meaning"]
    many = f"{len(named):,} entries name it." if len(named) > 1 else "1 entry names it."
    st.caption(many if named else "No entry names it; these come nearest.")
    listed(_line(mention) for mention in found)


def _line(mention: Mention) -> str:
    about = f"cosine {mention.score:.2f}" if mention.score is not None else ""
    text = _excerpt(text_of(mention.kind, mention.row), mention.place)
    look = "mdx-weak" if mention.how == "meaning" else "mdx-strong mdx-told"
    return line(
        mention.kind, mention.row, text, lead=f'<b title="{about}">{_HOW[mention.how]}</b>', look=look
    )


def _excerpt(text: str, place: int, *, most: int = 260) -> str:
    """The text around this place; the beginning, as far as that reaches it."""
    start = 0 if place < most // 2 else text.rfind(" ", 0, place - most // 3) + 1
    cut = text[start : start + most]
    return f"{'… ' if start else ''}{cut}{' …' if start + most < len(text) else ''}"


def of_text(library: Library, text: str) -> None:
    """The coins that a text mentions, then on request those near it in meaning."""
    found = coins_in(library, text)
    if not found:
        st.caption("It names no coin of the library.")
    _coins(library, found)
    if st.button("Coins near it in meaning", icon=":material/travel_explore:", type="tertiary"):
        try:
            with st.spinner("Searching the library …"):
                _coins(library, coins_near(library, text))
        except MemedexError as error:
            st.text(str(error))


def _coins(library: Library, found: list[CoinMention]) -> None:
    for mentioned in found:
        record = mentioned.record
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            thumbnails.picture(library, record, width=40)
            st.page_link(
                "pages/captions.py",
                label=format.plain(safe_mode.shown(library, record).name),
                query_params={"address": record.address},
            )
            score = f" · {mentioned.score:.2f}" if mentioned.score is not None else ""
            st.caption(_HOW[mentioned.how] + score)
