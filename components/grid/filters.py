"""The drawer above a grid: every control writes into the search line, which alone says what is asked."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

import streamlit as st

from components import wording
from components.grid import saved
from components.grid.ordering import to_first_page
from store.filter import Filter
from store.library import Library
from store.query_line import edited, parsed, values

_COUNTED = 40  # tags and categories that are offered, the most frequent
_DUPLICATES = {"Any": "", "Looks like another": "yes", "Unlike any other": "no"}
_LINE = (
    "The line takes words, and `tag:dog`, `-tag:nsfw`, `category:animals`, `after:2025-01`, "
    '`before:2025-02-15` (UTC), `dup:yes`, `source:"my list.json"`, `by:me`, `decided:today`, '
    '`has:visual`, `length:>200`; `tag:"two words"` for a tag with a space.'
)


def drawer(key: str, library: Library, asked: Filter) -> None:
    """What can be asked, with how many of what passes it would leave; worked out once it is open."""
    opened = st.popover(
        "Filter", icon=":material/tune:", key=f"{key}-filters", on_change="rerun", help="Narrow what is shown"
    )
    if not opened.open:
        return
    line = _line(key)
    with opened:
        saved.show(key, library, line=line, opened=open_line)
        _labels(key, "Tags", "tag", library.tag_counts(asked))
        _labels(key, "Categories", "category", library.category_counts(asked))
        _sources(key, library.source_counts(asked))
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            _day(key, "From", "after", shown=0)
            _day(key, "To", "before", shown=-1)
            _duplicates(key)
        _decided(key)
        st.caption(_LINE)


def open_line(key: str, line: str) -> None:
    """Put this into the search line, from the first page on."""
    st.session_state[f"{key}_words"] = line
    to_first_page(key)


def _line(key: str) -> str:
    return st.session_state.get(f"{key}_words") or ""


def _say(key: str, name: str, read: Callable[[Any], Sequence[str]]) -> None:
    """Write what a control shows into the line."""
    open_line(key, edited(_line(key), name, read(st.session_state[f"{key}-by-{name}"])))


def _labels(key: str, title: str, name: str, counts: Mapping[str, int]) -> None:
    chosen = values(_line(key), name)
    offered = list(dict.fromkeys([*chosen, *list(counts)[:_COUNTED]]))
    st.session_state[f"{key}-by-{name}"] = chosen
    if offered:
        st.pills(
            title, offered, selection_mode="multi", key=f"{key}-by-{name}",
            format_func=lambda label: f"{wording.plain(label, limit=40)} · {counts.get(label, 0):,}",
            on_change=partial(_say, key, name, list),
        )  # fmt: skip


def _sources(key: str, counts: Mapping[str, int]) -> None:
    chosen = values(_line(key), "source")[:1]
    offered = list(dict.fromkeys([*chosen, *counts]))
    st.session_state[f"{key}-by-source"] = chosen[0] if chosen else None
    if offered:
        st.selectbox(
            "Imported from", offered, index=None, key=f"{key}-by-source", placeholder="anywhere",
            format_func=lambda source: f"{source} · {counts.get(source, 0):,}",
            on_change=partial(_say, key, "source", lambda source: [source] if source else []),
        )  # fmt: skip


def _day(key: str, title: str, name: str, *, shown: int) -> None:
    """A day of creation; `shown`: days from the one in the line, for "before" leaves out its own day."""
    moment = parsed(" ".join(f"{name}:{value}" for value in values(_line(key), name))).filter
    seconds = moment.since if name == "after" else moment.until
    day = None if seconds is None else date.fromtimestamp(0) + timedelta(days=seconds // 86_400)
    st.session_state[f"{key}-by-{name}"] = day
    st.date_input(
        title, value=None, key=f"{key}-by-{name}", width=140,
        on_change=partial(
            _say, key, name, lambda day: [(day - timedelta(days=shown)).isoformat()] if day else []
        ),
    )  # fmt: skip


def _duplicates(key: str) -> None:
    said = "".join(values(_line(key), "dup")[-1:]).lower()
    st.session_state[f"{key}-by-dup"] = next(
        (label for label, value in _DUPLICATES.items() if value == said), "Any"
    )
    st.segmented_control(
        "Copycats", list(_DUPLICATES), key=f"{key}-by-dup", required=True,
        on_change=partial(_say, key, "dup", lambda label: [value] if (value := _DUPLICATES[label]) else []),
    )  # fmt: skip


def _decided(key: str) -> None:
    line = _line(key)
    st.session_state[f"{key}-mine"] = "me" in values(line, "by") and "today" in values(line, "decided")

    def say() -> None:
        mine = st.session_state[f"{key}-mine"]
        by_me = edited(line, "by", ["me"] if mine else [])
        open_line(key, edited(by_me, "decided", ["today"] if mine else []))

    st.toggle("Decided by me today", key=f"{key}-mine", on_change=say, help="Days are those of UTC.")
