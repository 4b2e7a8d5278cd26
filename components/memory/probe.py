"""Test retrieval: a question to several kinds of memory, with near misses, and the context of a model."""

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from components.memory import cards, context_view
from components.memory.cards import Card
from components.memory.highlight import STYLE
from components.memory.kinds import KINDS, counted
from components.memory.probe_controls import Column, ProbeControls, Scores, controls, put_question
from components.shell import format
from store import MemedexError, MemoryVerbs
from store.memory.values import KIND_OF, ProbeCandidate, ProbeMessage

_NEAR = 5  # misses shown of each column
_BY_WORDS = "by words alone: the model is away"
_SPREAD = 6.0  # deviations that fill the bar
_SCALES = (
    "**%**: how alike question and text are in meaning (cosine × 100); 100 % is the same text. "
    "**σ**: how far a text is above the mean of all texts of its kind for this question, in standard "
    "deviations. **words**: how well the text has the question's words, from 0 to 1."
)


def show(memory: MemoryVerbs) -> None:
    """The controls, and a column for each kind or protocol."""
    options = controls(memory)
    if not options.columns:
        st.info("Choose at least one kind to ask.", icon=":material/touch_app:")
        return
    if not options.question:
        _invite(memory)
        return
    st.html(STYLE)
    for note in dict.fromkeys(
        memory.entries(each.kind).not_read(options.question) for each in options.columns
    ):
        if note:
            st.info(format.plain(note, limit=300), icon=":material/translate:")
    found = _found(memory, options)
    if found is None:
        return
    ordered = sorted(zip(options.columns, found, strict=True), key=lambda each: -_best(each[1][1]))
    hits, prompt = st.columns([3, 2], gap="large")
    with hits:
        st.caption(
            f"{_SCALES} Meaning and words together make the order, as agents get it. "
            "The kind with the best hit comes first."
        )
        with st.grid(len(ordered), min_column_width=280, gap=("small", "medium")) as grid:
            for column, (sentence, shown) in ordered:
                with grid.cell():
                    place = str(options.columns.index(column))
                    _column(memory, options, column, sentence, shown, place=place)
    with prompt, st.container(key="told"):
        where, floors = _asked(ordered)
        context_view.prompt_preview(memory, options.question, where=where, floors=floors)


def _best(shown: list[Card]) -> float:
    """The best hit of a column; a column without one comes last."""
    return max((card.share for card in shown if not card.kept_out), default=-1.0)


def _asked(
    found: Sequence[tuple[Column, tuple[str, list[Card]]]],
) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
    """The filters and the least cosine of each kind that is asked, by placeholder.

    Lore and session memory are those of the best hit, as a story would have them.
    """
    where: dict[str, dict[str, Any]] = {}
    floors: dict[str, float] = {}
    for name, kind in KIND_OF.items():
        own = [(column, shown) for column, (_, shown) in found if column.kind == kind]
        if not own:
            continue
        column, shown = own[0]
        where[name] = dict(column.where)
        if column.floor is not None:
            floors[name] = column.floor
        if scope := {"lore": "world_id", "memory": "session_id"}.get(name):
            best = next((card.row for card in shown if not card.kept_out), {})
            where[name][scope] = column.where.get(scope) or best.get(scope, "")
        elif len(own) > 1:  # protocols side by side
            where[name]["protocol"] = [each.where["protocol"] for each, _ in own]
    return where, floors


def _found(memory: MemoryVerbs, options: ProbeControls) -> list[tuple[str, list[Card]]] | None:
    try:
        with st.spinner("Asking; the first time, the model is loaded …", show_time=True):
            return [_ask(memory, options, column) for column in options.columns]
    except MemedexError as error:
        st.error("This could not be asked:", icon=":material/error:")
        st.text(str(error))
        return None


def _ask(memory: MemoryVerbs, options: ProbeControls, column: Column) -> tuple[str, list[Card]]:
    """How it was searched, and the cards: hits, then misses."""
    if column.kind == "transcript_vectors":
        return _ask_messages(memory, options, column)
    answer = memory.probe(
        options.question, kind=column.kind, n=options.n, where=column.where, floor=column.floor,
        budget=options.budget, mmr=options.mmr, near=_NEAR,
    )  # fmt: skip
    sentence = f"{counted(column.kind, answer.compared)} compared · {answer.search_seconds * 1000:,.0f} ms"
    if not answer.by_meaning:
        sentence = f"{_BY_WORDS} · {sentence}"
    return sentence, [_card(column.kind, one, options.scores) for one in (*answer.hits, *answer.misses)]


def _card(kind: str, one: ProbeCandidate, scores: Scores) -> Card:
    words = f"words {one.words:.2f}" if one.words else ""
    if one.score is None or one.calibrated is None:
        return Card(kind, one.row, words or "–", "", one.words, one.kept_out)
    raw, calibrated = _percent(one.score), f"{one.calibrated:+z.1f} σ"
    late = "" if one.late_interaction is None else f"word by word {one.late_interaction:.2f}"
    share = one.score if scores == "raw" else one.calibrated / _SPREAD
    score, other = (raw, calibrated) if scores == "raw" else (calibrated, raw)
    why = " · ".join(filter(None, (words, late, other)))
    return Card(kind, one.row, score, why, share, one.kept_out)


def _percent(cosine: float) -> str:
    return f"{cosine * 100:.1f} %"


def _ask_messages(memory: MemoryVerbs, options: ProbeControls, column: Column) -> tuple[str, list[Card]]:
    """Transcripts by meaning, by words or by both, a card for each message."""
    begun = time.perf_counter()
    found = memory.probe_messages(
        options.question, mode=options.mode, n=options.n, where=column.where,
        floor=column.floor, budget=options.budget, mmr=options.mmr, near=_NEAR,
    )  # fmt: skip
    how = {"full_text": "by words", "hybrid": "by words and meaning", "semantic": "by meaning"}[options.mode]
    if found.by_words_alone:
        how = _BY_WORDS
    more = f", λ = {options.mmr:g}" if options.mmr is not None else ""
    seconds = time.perf_counter() - begun
    return f"{how}{more} · {seconds * 1000:,.0f} ms", [
        _as_message(probed, options.scores) for probed in found
    ]


def _as_message(probed: ProbeMessage, scores: Scores) -> Card:
    hit, calibrated = probed.hit, probed.calibrated
    parts = []
    if hit.words_rank is not None and not probed.kept_out:
        parts.append(f"word rank {hit.words_rank}")
    if calibrated is not None and scores == "raw" and not probed.kept_out:
        parts.append(f"{calibrated:+z.1f} σ")
    if hit.other_chunks and not probed.kept_out:
        parts.append(f"{len(hit.other_chunks) + 1} chunks")
    score, share = (_percent(hit.cosine), hit.cosine) if hit.cosine is not None else ("–", 0.0)
    if scores == "calibrated" and calibrated is not None:
        score, share = f"{calibrated:+z.1f} σ", calibrated / _SPREAD
    row = hit.chunk or {**hit.message, "parent_id": hit.message["id"], "content_type": hit.message["role"],
                        "total_chunks": 1, "source_text": probed.text}  # fmt: skip
    return Card(
        "transcript_vectors", row, score, " · ".join(parts), share, probed.kept_out, is_entry=bool(hit.chunk)
    )


def _column(
    memory: MemoryVerbs,
    options: ProbeControls,
    column: Column,
    sentence: str,
    shown: list[Card],
    *,
    place: str,
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(f"{KINDS[column.kind].icon} **{format.plain(column.title)}**", width="content")
        st.space("stretch")
        st.caption(sentence, width="content")
    hits = [card for card in shown if not card.kept_out]
    misses = [card for card in shown if card.kept_out]
    if not shown:
        st.caption("There is nothing of this kind yet.")
    elif not hits:
        st.caption("No hit above the threshold; closest:")
    for card in hits:
        cards.show(memory, card, question=options.question, n=options.n, place=place)
    if misses:
        st.caption(f"Not retrieved · {len(misses)} nearest")
        for card in misses:
            cards.show(memory, card, question=options.question, n=options.n, place=place)


def _invite(memory: MemoryVerbs) -> None:
    counts = memory.status().counts
    entries = ", ".join(counted(name, counts[name]) for name in KINDS if counts[name])
    st.caption(f"Asks {entries}, and shows what a model would be given, and what it would not. For example:")
    with st.container(horizontal=True, gap="small"):
        for name, kind in KINDS.items():
            if counts[name]:
                st.button(kind.placeholder, on_click=put_question, args=(kind.placeholder,))
