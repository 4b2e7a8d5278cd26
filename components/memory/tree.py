"""The tree of Browse: kinds, projects, and below them worlds, sessions or protocols, with counts."""

from collections.abc import Callable, Collection, Mapping

import streamlit as st

from components.memory.kinds import KINDS
from components.shell import format
from components.shell.page import streamlit_style
from store import Memory

EVENTS = "events"
_ALL = "everything"
_FEW = 15  # scopes that are all shown


def show(memory: Memory, *, on_change: Callable[[], None]) -> tuple[str, dict[str, list[str]], str | None]:
    """The chosen kind, the filter of recorded sessions, and the world, session or protocol."""
    st.html(streamlit_style.COUNTS)
    with st.container(key=streamlit_style.COUNTED):
        kind = _kind(memory, on_change)
        if kind == "memories":
            return kind, {}, None
        is_recorded = kind in (EVENTS, "transcript_vectors")
        where = recorded(memory, by_model=kind != EVENTS) if is_recorded else {}
        return kind, where, _scope(memory, kind, where, on_change)


def _kind(memory: Memory, on_change: Callable[[], None]) -> str:
    counts = {name: memory.entries(name).count() for name in KINDS}
    counts[EVENTS] = memory.transcripts.count_events()
    names = [*KINDS, EVENTS]
    return st.radio(
        "Kind", names, key="kind", bind="query-params", label_visibility="collapsed", on_change=on_change,
        format_func=lambda name: "Events" if name == EVENTS else KINDS[name].label,
        captions=[f"{counts[name]:,}" for name in names],
    )  # fmt: skip


def recorded(memory: Memory, *, by_model: bool = True) -> dict[str, list[str]]:
    """The filter of recorded sessions: of chosen projects, and in which one of the chosen models answered."""
    sessions = memory.transcripts.sessions()
    projects = _some("Projects", "project", {one["project_slug"] for one in sessions} - {None})
    names = {name for one in sessions for name in one["models"]} if by_model else set()
    models = _some("Answered by", "answered", names)
    where = {"project_slug": projects} if projects else {}
    if models:
        where["session_id"] = [one["session_id"] for one in sessions if {*models} & {*one["models"]}]
    return where


def _some(label: str, key: str, names: Collection[str]) -> list[str]:
    if not names:
        return []
    return st.multiselect(label, sorted(names), key=key, bind="query-params", placeholder="all")


def _scope(
    memory: Memory, kind: str, where: Mapping[str, list[str]], on_change: Callable[[], None]
) -> str | None:
    source = "transcript_vectors" if kind == EVENTS else kind
    found = _scopes(memory, kind, where)
    titles = _titles(memory) if source == "transcript_vectors" else {}
    label, names = KINDS[source].scope.capitalize(), [_ALL, *found]
    if len(found) <= _FEW:
        scope = st.radio(
            label, names, key=f"scope_{source}", bind="query-params", on_change=on_change,
            captions=["", *(_below(titles.get(name, ""), count) for name, count in found.items())],
        )  # fmt: skip
    else:
        scope = st.selectbox(
            label, names, key=f"scope_of_{source}", bind="query-params", help="Type to search among them.",
            on_change=on_change, format_func=lambda name: _with_title(name, titles),
        )  # fmt: skip
    return None if scope == _ALL else scope


def open_session(id: str) -> None:
    """Choose this session in the tree, however it is drawn."""
    for key in ("scope_transcript_vectors", "scope_of_transcript_vectors"):
        if key in st.session_state:
            st.session_state[key] = id


def _titles(memory: Memory) -> dict[str, str]:
    sessions = memory.transcripts.sessions()
    return {one["session_id"]: format.plain(one["title"]) for one in sessions if one["title"]}


def _below(title: str, count: int) -> str:
    return f"{title} · {count:,}" if title else f"{count:,}"


def _with_title(name: str, titles: Mapping[str, str]) -> str:
    return f"{titles[name]} · {name}" if name in titles else name


def _scopes(memory: Memory, kind: str, where: Mapping[str, list[str]]) -> dict[str, int]:
    """Every world, session or protocol that has entries, with their number."""
    if kind == EVENTS:
        return memory.transcripts.event_sessions(project_slug=where.get("project_slug"))
    counts = memory.entries(kind).counts()
    if kind == "world_lore":
        return {**{world.id: 0 for world in memory.lore.worlds()}, **counts}
    if not where:
        return counts
    of_these = {
        one["session_id"]
        for one in memory.transcripts.sessions()
        if all(one[column] in chosen for column, chosen in where.items())
    }
    return {name: count for name, count in counts.items() if name in of_these}
