"""As of: a moment of the past to ask about, and what changed since."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import streamlit as st

from components.memory.kinds import KINDS
from components.shell import format
from store import MemedexError, Memory
from store.memory.values import EntryDifference

_SHOWN = 50  # differences
_ICONS = {"added": ":material/add:", "removed": ":material/remove:", "changed": ":material/edit:"}


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of the past to ask about; None for now."""

    chosen: datetime | None
    is_compared: bool  # whether to show what changed since


NOW = Moment(None, False)


def choose() -> Moment:
    """A popover to choose a moment."""
    with st.popover(
        "As of", icon=":material/history:", help="Ask about the memory as it was at an earlier moment"
    ):
        chosen = st.datetime_input("As of", value=None, key="as_of", bind="query-params", step=60)
        is_compared = st.toggle("Show what changed since", key="changes", disabled=chosen is None)
    return Moment(chosen, is_compared)


@contextmanager
def at(memory: Memory, moment: Moment) -> Iterator[Memory]:
    """The memory as it was then, preceded by what changed since if that is asked for."""
    if moment.chosen is None:
        yield memory
        return
    seconds = moment.chosen.replace(tzinfo=ZoneInfo(st.context.timezone or "UTC")).timestamp()
    with ExitStack() as opened:
        try:
            past = opened.enter_context(memory.as_of(seconds))
        except MemedexError as error:
            st.error(format.plain(str(error)), icon=":material/error:")
            st.stop()
        st.caption(
            f":material/history: As it was on {moment.chosen:%Y-%m-%d %H:%M}. Nothing can be changed there."
        )
        if moment.is_compared:
            _changes(memory.difference(seconds))
        yield past


def _changes(found: Sequence[EntryDifference]) -> None:
    with st.expander(f"{format.counted(len(found), 'entry', 'entries')} changed since", expanded=True):
        if not found:
            st.caption("Nothing changed since.")
        for one in found[:_SHOWN]:
            place = format.plain(f"{KINDS[one.kind].label} · {one.id}")
            st.markdown(f"{_ICONS[one.what]} **{one.what}** {place}")
            for text, colour in ((one.before, "red"), (one.after, "green")):
                if text:
                    st.markdown(f":{colour}[{format.plain(text, limit=300)}]")
        if len(found) > _SHOWN:
            st.caption(f"… and {len(found) - _SHOWN:,} more: `python -m store memory diff` lists them all.")
