"""The options of a question: what is asked, which entries may answer, how many, and the prompt's template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from typing import Any, Literal, get_args

import streamlit as st

from components.memory.kinds import KINDS, TYPES
from components.memory.tree import recorded
from components.shell.page import forms
from components.shell.page.forms import Button
from components.shell.session import resources
from store import Memory
from store.memory.values import DEFAULT, LORE_RESULTS, MEMORY_RESULTS, PLACEHOLDERS, RELEVANT, Mode, Where

Scores = Literal["raw", "calibrated"]
_MANY = 1_000  # names offered; others can be typed
_MODES: dict[Mode, str] = {"semantic": "meaning", "hybrid": "both", "full_text": "words"}
_TEMPLATE = "memedex.template"
_STORY = {"lore": LORE_RESULTS, "memory": MEMORY_RESULTS}


@dataclass(frozen=True, slots=True)
class Asked:
    """One kind, or one protocol of it: which entries may answer, and the least cosine that counts."""

    kind: str
    title: str
    where: Where
    floor: float | None


@dataclass(frozen=True, slots=True)
class Options:
    """The values of all controls."""

    asked: Sequence[Asked]
    limits: Mapping[str, Any]  # number of each, budget in characters, λ, as `probe` takes them
    scores: Scores
    mode: Mode  # of transcripts
    is_by_kind: bool  # a column for each kind, not one ranking
    world: str  # "": that of the best hit
    session: str
    numbers: Mapping[str, int]  # entries in the prompt, by placeholder
    template: str


def choose(memory: Memory) -> Options:
    """Draw the controls, folded; what they say is in the page's address, but for the template."""
    with st.expander("Options", icon=":material/tune:"):
        kinds = st.pills(
            "Kinds", list(KINDS), selection_mode="multi", default=list(KINDS), key="kinds",
            format_func=lambda name: KINDS[name].label, bind="query-params",
        )  # fmt: skip
        with st.grid(4, min_column_width=220, gap="medium") as grid:
            with grid.cell():
                where, protocols = _texts(memory)
            with grid.cell():
                where["transcript_vectors"] = _transcripts(memory)
                dates = {
                    **_date("Written since", "since", time.min), **_date("Written until", "until", time.max)
                }  # fmt: skip
            with grid.cell():
                floor, limits, scores, mode, is_by_kind = _how()
            with grid.cell():
                numbers, template = _numbers(), _template(memory)
    chosen = [kind for kind in KINDS if kind in kinds]
    asked = [one for kind in chosen for one in _asked(kind, {**where[kind], **dates}, protocols, floor)]
    return Options(
        asked, limits, scores, mode, is_by_kind,
        where["world_lore"].get("world_id", ""), where["session_memory"].get("session_id", ""),
        numbers, template,
    )  # fmt: skip


def _texts(memory: Memory) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The filter of each kind but transcripts, and the chosen protocols."""
    best = "that of the best hit"
    where: dict[str, dict[str, Any]] = {
        "world_lore": _one(memory, "World", "world", "world_lore", "world_id", best),
        "session_memory": _one(memory, "Session", "session", "session_memory", "session_id", best),
    }
    protocols = st.multiselect(
        "Protocols", list(memory.protocols()), key="protocols", bind="query-params", placeholder="all",
        help="Of each as many passages are found.",
    )  # fmt: skip
    where["documents"] = _one(memory, "Section of papers", "heading", "documents", "section")
    tags = st.multiselect(
        "Tags of memories", list(memory.tags()), key="tags", bind="query-params", placeholder="all",
        help="Memories that have all of them.",
    )  # fmt: skip
    where["memories"] = {"tags": tags} if tags else {}
    return where, protocols


def _transcripts(memory: Memory) -> dict[str, Any]:
    where = {
        **recorded(memory),
        **_one(memory, "Recorded session", "recorded", "transcript_vectors", "session_id"),
        **_one(memory, "User", "user", "transcript_vectors", "user_id"),
    }
    types = st.multiselect(
        "Parts of transcripts", list(TYPES), key="types", bind="query-params", placeholder="all",
        format_func=TYPES.__getitem__,
    )  # fmt: skip
    return {**where, "content_type": types} if types else where


def _one(memory: Memory, label: str, key: str, kind: str, column: str, unset: str = "all") -> dict[str, Any]:
    names = [name for name in memory.entries(kind).counts(column) if name]
    chosen = st.selectbox(
        label, names[:_MANY], index=None, key=key, bind="query-params", placeholder=unset,
        accept_new_options=len(names) > _MANY,
    )  # fmt: skip
    return {column: chosen} if chosen else {}


def _date(label: str, key: str, at: time) -> dict[str, float]:
    """A day as a filter, from this time of it; nothing if none is chosen."""
    day = st.date_input(label, value=None, key=key, bind="query-params")
    return {key: datetime.combine(day, at).timestamp()} if isinstance(day, date) else {}


def _how() -> tuple[float, dict[str, Any], Scores, Mode, bool]:
    floor = st.slider(
        "Threshold", 0.0, 1.0, 0.0, 0.05, key="floor", bind="query-params",
        help="The lowest cosine that counts. Memories never go below 30 %.",
    )  # fmt: skip
    n = st.slider("Hits of each kind", 1, 20, 5, key="each", bind="query-params")
    budget = st.number_input(
        "Budget in characters", 0, 100_000, 0, 500, key="budget", bind="query-params",
        help="0: none. Entries that do not fit any more are left out.",
    )  # fmt: skip
    diverse = st.slider(
        "Diversity", 0.0, 1.0, 0.0, 0.1, key="diverse", bind="query-params",
        help="Maximal marginal relevance: 0 is relevance alone (λ = 1), 1 difference alone (λ = 0).",
    )  # fmt: skip
    mode: Mode = st.segmented_control(
        "Transcripts by", list(_MODES), default="semantic", required=True, key="mode", bind="query-params",
        format_func=_MODES.__getitem__,
    )  # fmt: skip
    scores: Scores = st.segmented_control(
        "Order and bars by", list(get_args(Scores)), default="raw", required=True, key="scores",
        bind="query-params",
        help="Raw: the cosine, and the words' part. Calibrated: deviations above the mean of all entries of "
        "the kind, for kinds that different models embed.",
    )  # fmt: skip
    is_by_kind = st.toggle("Kinds and protocols side by side", key="by_kind", bind="query-params")
    limits = {"n": n, "budget": budget or None, "mmr": 1 - diverse if diverse else None}
    return floor, limits, scores, mode, is_by_kind


def _numbers() -> dict[str, int]:
    with st.container(horizontal=True, gap="small"):
        return {
            name: int(
                st.number_input(
                    label, 0, 20, _STORY[name], key=f"n_{name}", bind="query-params",
                    help="In the prompt; a story is given 2 of lore and 3 of its session.",
                )
            )
            for name, label in (("lore", "Lore entries"), ("memory", "Session turns"))
        }  # fmt: skip


def _template(memory: Memory) -> str:
    st.session_state.setdefault(_TEMPLATE, memory.template)
    template = st.text_area(
        "Template of the prompt", key=_TEMPLATE, height=240, persist_state="session",
        help="Placeholders: " + ", ".join(f"`{{{name}}}`" for name in PLACEHOLDERS),
    )  # fmt: skip
    with st.container(horizontal=True, gap="small"):
        st.button("Restore default", on_click=lambda: st.session_state.update({_TEMPLATE: DEFAULT}))
        if memory.can_write:
            forms.button(
                "keep-template", resources.library(), partial(memory.save_template, template),
                button=Button("Save for everybody"), message="Template saved.", after_run=True,
            )  # fmt: skip
    return template


def _asked(kind: str, where: dict[str, Any], protocols: Sequence[str], floor: float) -> list[Asked]:
    label = KINDS[kind].label
    if kind == "documents" and protocols:
        return [
            Asked(kind, f"{label} · {name}", {**where, "protocol": name}, floor or None) for name in protocols
        ]
    least = max(floor, RELEVANT / 100) if kind == "memories" else floor
    return [Asked(kind, label, where, least or None)]
