"""Browse: a tree of worlds, sessions, protocols and projects; its texts to read, or in a table; events."""

import re
import time
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from typing import Any, Literal

import streamlit as st

from components.memory import adding, connections, duplicates, entry_link, junk, scopes, tree
from components.memory.kinds import KINDS, TYPES, counted, place_of, text_of
from components.memory.markup import highlight
from components.memory.tree import EVENTS
from components.shell import format
from components.shell.page import address, forms, tables
from components.shell.page.forms import Button, Sent
from components.shell.session import resources
from store import Library, Memory
from store.memory.values import EventColumn, EventFilter, ReadMessage, Row, pages_of

Which = Literal["all", "old", "alike", "junk"]
_PER_PAGE = 50
_ROW = 35  # px, Streamlit's
_DAY = 86_400.0  # seconds
_OLD = 90  # days
_SCOPES = {"documents": "protocol", "world_lore": "world_id", "session_memory": "session_id",
           "transcript_vectors": "session_id"}  # fmt: skip
_WHICH: dict[Which, str] = {"all": "All", "old": "Stale", "alike": "Near-duplicates", "junk": "Junk"}
_SORTS = {
    "As stored": "",
    "Newest": "-written",
    "Oldest": "written",
    "Longest": "-length",
    "Shortest": "length",
}
_OTHER_SORTS = {"transcript_vectors": {"Most tokens": "-token_count"}, "documents": {"By page": "page"}}
_SHOWN = 160  # characters of a text in the table
_EVENTS_PER_PAGE = 100
_OF_EVENTS: tuple[tuple[str, EventColumn, str], ...] = (
    ("Type", "event", "event"),
    ("Tool", "tool_name", "tool"),
    ("Level", "lvl", "level"),
    ("Error", "error_type", "error"),
    ("Model", "model_used", "model"),
)
_LONGEST = 20_000  # characters of one entry; its drawer has all of it
_LINE = 80  # characters of what is folded
_EXCHANGE = re.compile(r"User: (.*?)\nAI: (.*)", re.DOTALL)
_WRAPPED = re.compile(r"(?<=\S)\n(?=[a-z])")  # a sentence that goes on in the next line of its file
_GROUPS = {"world_lore": "world_id", "session_memory": "session_id", "documents": "source",
           "transcript_vectors": "session_id"}  # fmt: skip
_SPEAKERS = {"user_query": "user", "assistant_response": "model"}  # the rest of a transcript is folded


def show(library: Library, memory: Memory) -> None:
    """The tree on the left; on the right its selection, or what is said of a coin."""
    left, right = st.columns([1, 3], gap="medium")
    with left:
        kind, sessions, scope = tree.show(memory, on_change=connections.leave)
        coin = connections.choose()
    with right:
        if coin:
            connections.show(library, memory, coin)
        elif kind == EVENTS:
            _events(memory, session=scope, projects=sessions.get("project_slug"))
        else:
            _entries(memory, kind, sessions, scope)


def _entries(memory: Memory, kind: str, sessions: dict[str, list[str]], scope: str | None) -> None:
    if scope:
        scopes.about(memory, kind, scope)
    where: dict[str, Any] = {_SCOPES[kind]: scope} if scope else {**sessions}
    if (named := st.query_params.get("which")) in _WHICH:  # the address has labels; a link may have names
        st.query_params["which"] = _WHICH[named]
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        layout = st.segmented_control(
            "Layout", ["Read", "Table"], default="Read", required=True, key="layout", bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
        which = st.segmented_control(
            "Which", list(_WHICH), default="all", required=True, key="which", bind="query-params",
            format_func=_WHICH.__getitem__, label_visibility="collapsed",
        )  # fmt: skip
        before = _before() if which == "old" else None
        st.space("stretch")
        if memory.can_write:
            adding.menu(memory, kind, scope)
    if which == "alike":
        duplicates.show(memory, kind)
    elif which == "junk":
        junk.show(memory, kind)
    else:
        _found(memory, kind, where, before=before, is_read=layout == "Read")


def _before() -> float:
    """The time before which an entry is stale; the same all day, so that pages do not change."""
    days = st.number_input(
        "Days", 1, 36_500, _OLD, key="days", bind="query-params", width=130, label_visibility="collapsed"
    )
    st.caption("days without a change", width="content")
    return (time.time() // _DAY - days) * _DAY


def _found(memory: Memory, kind: str, where: dict[str, Any], *, before: float | None, is_read: bool) -> None:
    """Those of these that have the words, to read or as a table."""
    entries = memory.entries(kind)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        words = st.text_input(
            "Words", **address.kept("words"), type="search", live=True,
            icon=":material/search:", placeholder="words in the text", label_visibility="collapsed",
        )  # fmt: skip
        sorts = {**_SORTS, **_OTHER_SORTS.get(kind, {})}
        sort = st.selectbox(
            "Order", list(sorts), key=f"sort_{kind}", bind="query-params", width=150,
            label_visibility="collapsed",
        )  # fmt: skip
    session = where.get("session_id") if kind == "transcript_vectors" else None
    if is_read and isinstance(session, str) and not (words or before or sorts[sort]):
        _conversation(memory, session)
        return
    conditions: dict[str, Any] = {"words": words or "", "where": where, "before": before}
    total = entries.count(**conditions)
    page = _page(kind, total)
    rows = entries.find(**conditions, order=sorts[sort], offset=(page - 1) * _PER_PAGE, limit=_PER_PAGE)
    if not rows:
        _nothing(kind, filtered=bool(words or where or before))
        return
    if note := entries.not_read("\n".join(text_of(kind, row)[:_SHOWN] for row in rows)):
        st.caption(f":material/translate: {format.plain(note, limit=300)}")
    if is_read:
        _reader(kind, rows, words=words or "")
        return
    chosen = _rows(memory, kind, rows, page)
    _tools(memory, kind, rows, chosen, conditions=conditions, total=total)


def _conversation(memory: Memory, session: str) -> None:
    """A session from its first message to its last one, whatever of it is embedded."""
    about = [one for one in memory.transcripts.sessions() if one["session_id"] == session]
    total = sum(one["messages"] for one in about)
    page = _page("transcript_vectors", total, what=format.counted(total, "message"))
    messages = memory.transcripts.reading(session, offset=(page - 1) * _PER_PAGE, limit=_PER_PAGE)
    conversation(messages, title=next((one["title"] for one in about if one["title"]), session))


def _page(kind: str, total: int, *, what: str = "", per_page: int = _PER_PAGE) -> int:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(what or counted(kind, total), width="stretch")
        return tables.page_number(
            total, per_page, key=f"page_{kind}", bind="query-params", max_visible_pages=5
        )


def _rows(memory: Memory, kind: str, rows: list[Row], page: int) -> list[int]:
    """The table; returns the selected rows."""
    written = memory.entries(kind).written([row["id"] for row in rows])
    shown = [
        {
            "text": " ".join(text_of(kind, row).split())[:_SHOWN],
            "where": place_of(kind, row),
            "written": tables.moment(written[row["id"]]),
            "length": len(text_of(kind, row)),
        }
        for row in rows
    ]
    event = tables.show(
        shown, key=f"table-{kind}-{page}", on_select="rerun", selection_mode="multi-row",
        height=min(13, len(rows) + 1) * _ROW + 2, alt="The entries that pass",
        columns={
            "text": st.column_config.TextColumn("text", width=300),
            "where": st.column_config.TextColumn("where", width=130),
            "written": tables.when(),
            "length": st.column_config.NumberColumn("characters", width="small"),
        },
    )  # fmt: skip
    return [number for number in event["selection"]["rows"] if number < len(rows)]


def _tools(
    memory: Memory, kind: str, rows: list[Row], chosen: list[int], *, conditions: dict[str, Any], total: int
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not chosen:
            st.caption("Choose a row to open it, several to remove them.")
        if len(chosen) == 1:
            row = rows[chosen[0]]
            entry_link.show(kind, row["id"])
        if not memory.can_write:
            return
        if chosen:
            ids = [rows[number]["id"] for number in chosen]
            forms.show(
                f"delete-{kind}", resources.library(), partial(_delete, memory, kind, ids),
                button=Button(f"Remove {counted(kind, len(ids))}", icon="delete"),
            )  # fmt: skip
        elif conditions["words"] or conditions["where"] or conditions["before"]:
            with st.popover(f"Remove all {total:,}", icon=":material/delete_sweep:"):
                st.markdown(f"Removes {counted(kind, total)} that pass these filters. Undo brings them back.")
                forms.show(
                    "delete-all", resources.library(), partial(_delete_all, memory, kind, conditions),
                    button=Button(f"Remove {total:,}", kind="primary"),
                )  # fmt: skip


def _delete(memory: Memory, kind: str, ids: Sequence[str], sent: Sent) -> str:
    count = memory.entries(kind).remove(ids, decision=sent.decision)
    return f"{counted(kind, count)} removed; undo brings them back."


def _delete_all(memory: Memory, kind: str, conditions: dict[str, Any], sent: Sent) -> str:
    ids = [row["id"] for row in memory.entries(kind).find(**conditions, limit=None)]
    return _delete(memory, kind, ids, sent)


def _nothing(kind: str, *, filtered: bool) -> None:
    if filtered:
        st.info("No entry passes these filters.", icon=":material/search_off:")
    else:
        st.info(f"There is nothing in {KINDS[kind].label.lower()} yet.", icon=KINDS[kind].icon)


def _events(memory: Memory, *, session: str | None, projects: list[str] | None) -> None:
    """Filters, and a page of the events that match, newest first."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        type_, tool, level, error, model = (
            st.selectbox(
                label,
                memory.transcripts.event_values(column),
                index=None,
                key=key,
                bind="query-params",
                placeholder="any",
            )
            for label, column, key in _OF_EVENTS
        )
        since = st.date_input("Since", None, key="events_since", bind="query-params")
        until = st.date_input("Until", None, key="events_until", bind="query-params")
    filter = EventFilter(
        event=type_, tool_name=tool, lvl=level, error_type=error, model_used=model, session_id=session,
        project_slug=projects, since=since.isoformat() if since else None,
        until=until.isoformat() if until else None,
    )  # fmt: skip
    total = memory.transcripts.count_events(filter)
    page = _page(EVENTS, total, what=format.counted(total, "event"), per_page=_EVENTS_PER_PAGE)
    rows = memory.transcripts.find_events(
        filter, offset=(page - 1) * _EVENTS_PER_PAGE, limit=_EVENTS_PER_PAGE
    )
    if not rows:
        st.info("No event passes these filters.", icon=":material/search_off:")
        return
    columns = ("ts", "event", "lvl", "tool_name", "error_type", "model_used", "session_id", "data")
    shown = [{name: row[name] for name in columns} for row in rows]
    tables.show(shown, height=min(15, len(rows) + 1) * 36, alt="Events, newest first")


def _reader(kind: str, rows: Sequence[Row], *, words: str) -> None:
    """These entries in their order, these words marked; each opens by the link above it."""
    parts, group = [], ""
    for row in rows:
        if (own := str(row.get(_GROUPS.get(kind, ""), ""))) != group:
            parts.append(f"<h2>{escape(own)}</h2>")
            group = own
        parts += _entry(kind, row, words)
    st.html(f'<div class="mdx-read">{"".join(parts)}</div>')


def conversation(messages: Sequence[ReadMessage], *, title: str) -> None:
    """One session as a person reads it: what was said, and folded between it what tools and thoughts say."""
    parts = [f"<h2>{escape(title)}</h2>"]
    for message in messages:
        at = f" · {message.ts[:16].replace('T', ' ')}" if message.ts else ""
        at += f" · {message.model}" if message.model else ""
        for number, (kind, text) in enumerate(message.parts):
            label = escape(f"{TYPES.get(kind, kind)}{'' if number else at}")
            shown = escape(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …")
            if speaker := _SPEAKERS.get(kind):
                parts.append(_said(speaker, label, shown))
            else:
                line = escape(" ".join(text[:_LINE].split()))
                parts.append(
                    f'<div class="mdx-aside"><details><summary>{label} · {line}</summary>'
                    f'<p class="mdx-text">{shown}</p></details></div>'
                )
    st.html(f'<div class="mdx-read">{"".join(parts)}</div>')


def _entry(kind: str, row: Row, words: str) -> Iterable[str]:
    text = text_of(kind, row)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
    if kind == "session_memory" and (said := _EXCHANGE.fullmatch(text)):
        yield _said("user", _link(kind, row, "User"), highlight(said[1], words))
        yield _said("model", "AI", highlight(said[2], words))
    elif kind == "transcript_vectors":
        number = f" · {row['chunk_index'] + 1} of {row['total_chunks']}" if row["total_chunks"] > 1 else ""
        said_as = str(row["content_type"])
        link = _link(kind, row, TYPES.get(said_as, said_as) + number)
        if speaker := _SPEAKERS.get(said_as):
            yield _said(speaker, link, highlight(text, words))
        else:
            is_open = " open" if words else ""
            body = f'<summary>show</summary><p class="mdx-text">{highlight(text, words)}</p>'
            yield f'<div class="mdx-aside">{link}<details{is_open}>{body}</details></div>'
    else:
        text = _WRAPPED.sub(" ", text)
        yield _said("text", _link(kind, row, _label(kind, row)), highlight(text, words))


def _label(kind: str, row: Row) -> str:
    """The part of its place that the heading above an entry does not say."""
    if kind == "documents":
        return " · ".join(filter(None, [pages_of(row), row["section"]]))
    return str(row["lore_id"]) if kind == "world_lore" else place_of(kind, row)


def _link(kind: str, row: Row, label: str) -> str:
    address = escape(entry_link.address(kind, row["id"]))
    return f'<a class="memedex-link" target="_self" href="{address}" title="Open">{escape(label)}</a>'


def _said(speaker: str, label: str, text: str) -> str:
    return f'<div class="mdx-{speaker}"><small>{label}</small><p class="mdx-text">{text}</p></div>'
