"""The controls of a probe: the question, kinds, number of results, minimum score and filters."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any, Literal, get_args

import streamlit as st

from components.memory.kinds import KINDS, TYPES
from components.memory.tree import projects
from components.shell.page import address
from store import MemoryVerbs
from store.memory.values import RELEVANT, Mode

Scores = Literal["raw", "calibrated"]
_MANY = 1_000  # worlds or sessions offered
_QUESTION, _EACH = "ask", "each"  # not the search page's "q" and "n": going back, each would lose the other's
_MODES: dict[Mode, str] = {"semantic": "meaning", "hybrid": "both", "full_text": "words"}


@dataclass(frozen=True, slots=True)
class Column:
    """One question to one kind, or to one protocol of it."""

    kind: str
    title: str
    where: dict[str, Any] = field(default_factory=dict)
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class ProbeControls:
    """The values of all controls."""

    question: str
    columns: list[Column]
    n: int
    budget: int | None
    scores: Scores
    mode: Mode  # of transcripts
    mmr: float | None


def controls(memory: MemoryVerbs) -> ProbeControls:
    """Draw the controls; all their values are in the page's address."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        question = st.text_input(
            "Question", **address.kept(_QUESTION), type="search",
            icon=":material/search:", placeholder="A question, as an agent or a player would put it",
            label_visibility="collapsed",
        )  # fmt: skip
        with st.popover("Filters", icon=":material/filter_alt:"):
            where, protocols = _filters(memory)
        with st.popover("Scoring", icon=":material/tune:"):
            scoring = _scoring()
    kinds = st.pills(
        "Kinds", list(KINDS), selection_mode="multi", default=list(KINDS), key="kinds",
        format_func=lambda name: KINDS[name].label, bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    columns = [
        column for kind in KINDS if kind in kinds for column in _columns(kind, where, protocols, scoring[1])
    ]
    n, _, budget, scores, mode, mmr = scoring
    return ProbeControls((question or "").strip(), columns, n, budget, scores, mode, mmr)


def put_question(question: str) -> None:
    """Ask this from the next run on."""
    st.session_state[_QUESTION] = question


def _filters(memory: MemoryVerbs) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The filter of each kind, and the selected protocols."""
    world = _one(memory, "World", "world", "world_lore", "world_id")
    session = _one(memory, "Session memory", "session", "session_memory", "session_id")
    protocols = st.multiselect(
        "Protocols",
        list(memory.documents.protocols()),
        key="protocols",
        bind="query-params",
        help="Two or more are asked side by side, the same number of passages for each.",
    )
    section = _one(memory, "Section of documents", "section", "documents", "section")
    chosen = projects(memory)
    recorded = _one(memory, "Recorded session", "recorded", "transcript_vectors", "session_id")
    types = st.multiselect(
        "Transcript content", list(TYPES), key="types", bind="query-params", format_func=TYPES.__getitem__
    )
    user = _one(memory, "User", "user", "transcript_vectors", "user_id")
    tags = st.multiselect(
        "Tags of memories", list(memory.tags()), key="tags", bind="query-params",
        help="Memories that have all of them.",
    )  # fmt: skip
    with st.container(horizontal=True, gap="small"):
        dates = {**_date("Written since", "since", time.min), **_date("Written until", "until", time.max)}
    where: dict[str, dict[str, Any]] = {
        "memories": {"tags": tags} if tags else {},
        "documents": {"section": section} if section else {},
        "world_lore": {"world_id": world} if world else {},
        "session_memory": {"session_id": session} if session else {},
        "transcript_vectors": {
            **({"project_slug": chosen} if chosen else {}),
            **({"session_id": recorded} if recorded else {}),
            **({"user_id": user} if user else {}),
            **({"content_type": types} if types else {}),
        },
    }
    return {kind: {**own, **dates} for kind, own in where.items()}, protocols


def _date(label: str, key: str, at: time) -> dict[str, float]:
    """A day as a filter, from this time of it; nothing if none is chosen."""
    day = st.date_input(label, value=None, key=key, bind="query-params")
    return {key: datetime.combine(day, at).timestamp()} if isinstance(day, date) else {}


def _one(memory: MemoryVerbs, label: str, key: str, kind: str, column: str) -> str | None:
    names = [name for name in memory.entries(kind).counts(column) if name][:_MANY]
    return st.selectbox(label, names, index=None, key=key, bind="query-params", placeholder="all")


def _scoring() -> tuple[int, float, int | None, Scores, Mode, float | None]:
    n = st.slider("Results for each", 1, 20, 5, key=_EACH, bind="query-params")
    floor = st.slider(
        "Threshold", 0.0, 1.0, 0.0, 0.05, key="floor", bind="query-params",
        help="The lowest cosine that counts. Memories never go below 30 %.",
    )  # fmt: skip
    budget = st.number_input(
        "Budget in characters", 0, 100_000, 0, 500, key="budget", bind="query-params",
        help="0: none. Entries that do not fit any more are left out.",
    )  # fmt: skip
    scores: Scores = st.segmented_control(
        "Scores", list(get_args(Scores)), default="raw", required=True, key="scores", bind="query-params",
        help="Raw: the cosine in percent. Calibrated: deviations above the mean of all entries of its kind.",
    )  # fmt: skip
    mode: Mode = st.segmented_control(
        "Transcripts by", list(_MODES), default="semantic", required=True, key="mode", bind="query-params",
        format_func=_MODES.__getitem__,
    )  # fmt: skip
    diverse = st.slider(
        "Diversity", 0.0, 1.0, 0.0, 0.1, key="diverse", bind="query-params",
        help="Maximal marginal relevance: 0 is relevance alone (λ = 1), 1 difference alone (λ = 0).",
    )  # fmt: skip
    return n, floor, budget or None, scores, mode, 1 - diverse if diverse else None


def _columns(
    kind: str, where: dict[str, dict[str, Any]], protocols: Sequence[str], floor: float
) -> list[Column]:
    label = KINDS[kind].label
    if kind == "documents" and protocols:
        return [
            Column(kind, f"{label} · {name}", {**where[kind], "protocol": name}, floor or None)
            for name in protocols
        ]
    least = max(floor, RELEVANT / 100) if kind == "memories" else floor
    return [Column(kind, label, where.get(kind, {}), least or None)]
