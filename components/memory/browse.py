"""Browse: a tree of worlds, sessions, protocols and projects; a table with full-text search; bulk delete."""

from typing import Any

import streamlit as st

from components.memory import adding, addressed, events, opening, scopes
from components.memory.kinds import KINDS, counted, place_of, text_of
from store.memory import Memory
from store.memory.passages import Row

_PER_PAGE = 50
_FEW = 15  # scopes that are all shown
_ROW = 36  # px
_ALL = "everything"
_EVENTS = "events"
_SCOPES = {"documents": "protocol", "world_lore": "world_id", "session_memory": "session_id",
           "transcript_vectors": "session_id"}  # fmt: skip
_SORTS = {
    "As told": "",
    "Longest": "-length",
    "Shortest": "length",
}
_OTHER_SORTS = {
    "memories": {"Newest": "", "Oldest": "timestamp"},
    "transcript_vectors": {"Newest": "-created_at", "Most tokens": "-token_count"},
    "documents": {"By page": "page"},
}
_SHOWN = 160  # characters of a text in the table


def show(memory: Memory) -> None:
    """The tree on the left, what is chosen in it on the right."""
    tree, table = st.columns([1, 3], gap="medium")
    with tree:
        kind, scope = _tree(memory)
    with table:
        if kind == _EVENTS:
            events.show(memory, scope)
        else:
            _table(memory, kind, scope)


def _tree(memory: Memory) -> tuple[str, str | None]:
    kind = st.radio(
        "Kind", [*KINDS, _EVENTS], key="kind", bind="query-params", label_visibility="collapsed",
        format_func=lambda name: "Events" if name == _EVENTS else KINDS[name].label,
    )  # fmt: skip
    if kind == "memories":
        return kind, None
    source = "transcript_vectors" if kind == _EVENTS else kind
    project = _project(memory) if source == "transcript_vectors" else None
    found = _scopes(memory, source, project)
    label = KINDS[source].scope.capitalize()
    names = [_ALL, *found]
    if len(found) <= _FEW:
        chosen = st.radio(label, names, key=f"scope_{source}", bind="query-params")
    else:
        chosen = st.selectbox(
            label, names, key=f"scope_of_{source}", bind="query-params", help="Type to search among them."
        )
    return kind, None if chosen == _ALL else chosen


def _project(memory: Memory) -> str | None:
    projects = [
        name for name in memory.passages["transcript_vectors"].counts("project_slug") if name != "None"
    ]
    if not projects:
        return None
    return st.selectbox(
        "Project", projects, index=None, key="project", bind="query-params", placeholder="all"
    )


def _scopes(memory: Memory, kind: str, project: str | None) -> list[str]:
    """Every world, session or protocol that has entries."""
    if project is None:
        return [*memory.passages[kind].counts()]
    return [one["session_id"] for one in memory.transcripts.sessions() if one["project_slug"] == project]


def _table(memory: Memory, kind: str, scope: str | None) -> None:
    passages = memory.passages[kind]
    if scope:
        scopes.about(memory, kind, scope)
    where: dict[str, Any] = {_SCOPES[kind]: scope} if scope else {}
    if kind == "transcript_vectors" and not scope and (project := st.session_state.get("project")):
        where["project_slug"] = project
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        words = st.text_input(
            "Words", key="words", bind="query-params", type="search", icon=":material/search:", live=True,
            placeholder="words in the text", label_visibility="collapsed",
        )  # fmt: skip
        sorts = {**_SORTS, **_OTHER_SORTS.get(kind, {})}
        sort = st.selectbox(
            "Order", list(sorts), key=f"sort_{kind}", bind="query-params", width=150,
            label_visibility="collapsed",
        )  # fmt: skip
        if memory.can_write:
            adding.menu(memory, kind, scope)
    total = passages.count(words=words or "", where=where)
    page = _page(kind, total)
    rows = passages.find(
        words=words or "", where=where, order=sorts[sort], offset=(page - 1) * _PER_PAGE, limit=_PER_PAGE
    )
    if not rows:
        _nothing(memory, kind, words or "", scope)
        return
    chosen = _rows(kind, rows, page)
    _tools(memory, kind, rows, chosen, words=words or "", where=where, total=total)


def _page(kind: str, total: int) -> int:
    pages, key = max(1, -(-total // _PER_PAGE)), f"page_{kind}"
    if st.session_state.get(key, 1) > pages:  # deleted away, or an old link
        st.session_state[key] = pages
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(counted(kind, total), width="stretch")
        if pages == 1:
            return 1
        return st.pagination(pages, key=key, bind="query-params", max_visible_pages=5)


def _rows(kind: str, rows: list[Row], page: int) -> list[int]:
    """The table; which of its rows are chosen."""
    shown = [
        {
            "text": " ".join(text_of(kind, row).split())[:_SHOWN],
            "where": place_of(kind, row),
            "length": len(text_of(kind, row)),
        }
        for row in rows
    ]
    event = st.dataframe(
        shown, hide_index=True, key=f"table-{kind}-{page}", on_select="rerun", selection_mode="multi-row",
        height=min(13, len(rows) + 1) * _ROW, alt="The entries that pass",
        column_config={
            "text": st.column_config.TextColumn("text", width="large"),
            "where": st.column_config.TextColumn("where", width="medium"),
            "length": st.column_config.NumberColumn("characters", width="small"),
        },
    )  # fmt: skip
    return [number for number in event["selection"]["rows"] if number < len(rows)]


def _tools(
    memory: Memory,
    kind: str,
    rows: list[Row],
    chosen: list[int],
    *,
    words: str,
    where: dict[str, Any],
    total: int,
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not chosen:
            st.caption("Choose a row to open it, several to delete them.")
        if len(chosen) == 1:
            row = rows[chosen[0]]
            st.button(
                "Open", type="primary", icon=":material/open_in_full:", on_click=addressed.open_entry,
                args=(kind, row["id"]),
            )  # fmt: skip
        if not memory.can_write:
            return
        if chosen:
            ids = [rows[number]["id"] for number in chosen]
            st.button(
                f"Delete {counted(kind, len(ids))}",
                icon=":material/delete:",
                on_click=_delete,
                args=(memory, kind, ids),
            )
        elif (words or where) and total:
            with st.popover(f"Delete all {total:,}", icon=":material/delete_sweep:"):
                st.markdown(f"Deletes {counted(kind, total)} that pass these filters. Undo brings them back.")
                st.button(
                    f"Delete {total:,}", type="primary", key="delete-all", on_click=_delete_all,
                    args=(memory, kind, words, where),
                )  # fmt: skip


def _delete(memory: Memory, kind: str, ids: list[str]) -> None:
    opening.done(
        memory.passages[kind].remove, ids, said=f"{counted(kind, len(ids))} deleted; undo brings them back."
    )


def _delete_all(memory: Memory, kind: str, words: str, where: dict[str, Any]) -> None:
    found = memory.passages[kind].find(words=words, where=where, limit=None)
    _delete(memory, kind, [row["id"] for row in found])


def _nothing(memory: Memory, kind: str, words: str, scope: str | None) -> None:
    if words or scope:
        st.info("No entry passes these filters.", icon=":material/search_off:")
    else:
        st.info(f"There is nothing in {KINDS[kind].label.lower()} yet.", icon=KINDS[kind].icon)
