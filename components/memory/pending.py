"""Review: what agents wrote, to accept or reject by keys, with what speaks against it."""

import time
from functools import partial
from typing import Any

import streamlit as st

from components.memory.kinds import KINDS, place_of
from components.shell import format, javascript
from components.shell.page import forms, undo
from components.shell.page.forms import Button, Field, Sent
from components.shell.session import presenter
from store import Library, Memory
from store.errors import InvalidRecord
from store.memory.values import ReviewItem

_SHOWN = 50  # at once; the others follow as these are decided
_VERBS = ("accept", "reject", "undo")
_LABELS = {
    "near-duplicate": "near-duplicate",
    "contradiction": "contradiction",
    "replaces": "replaces an entry",
    "removes": "removes an entry",
    "instruction": "reads like an instruction",
    "address": "address",
    "secret": "secret",
}

_component = javascript.mounted(
    "pending_memories",
    '<div class="memedex-pending"></div>',
    script="memory/js/pending.js",
    style="memory/pending.css",
)


def show(library: Library, memory: Memory) -> None:
    """The queue, oldest first."""
    at = time.time()  # before reading: what is confirmed meanwhile is not in it for certain
    found = memory.waiting(most=_SHOWN)
    if not found:
        st.info(
            "No memory waits for a decision. What agents write over HTTP is reviewed here; with "
            "`MEMEDEX_MEMORY_REVIEW=agents` everything that agents write.",
            icon=":material/task_alt:",
        )
    sending = forms.register(
        "memory-review", library, partial(_decide, memory),
        button=Button("Decide", disabled=not memory.can_write),
        fields=[Field("verb", "Decision"), Field("id", "Memory")],
    )  # fmt: skip
    _component(
        key="memedex-pending",
        data={
            **sending,
            "at": at,
            "can_write": memory.can_write,
            "total": memory.pending_count(),
            "entries": [_card(one) for one in found],
        },
        on_done_change=lambda: None,
    )


def _card(one: ReviewItem) -> dict[str, Any]:
    entry, shown = one.entry, KINDS[one.entry.kind]
    is_placed = entry.row is not None and entry.kind != "transcript_vectors"
    return {
        "id": entry.id,
        "kind": shown.label,
        "place": place_of(entry.kind, entry.row or {}) if is_placed else entry.target,
        "text": one.text,
        "before": one.before if entry.row is not None else None,
        "removes": entry.row is None,
        "author": presenter.author(entry.actor, entry.agent),
        "via": entry.via,
        "when": format.ago(entry.created_at),
        "flags": [{"label": _LABELS[flag.why], "reason": flag.reason} for flag in one.flags],
    }


def _decide(memory: Memory, given: Sent) -> str:
    """Carry out one key press. Raises InvalidRecord with the reason if it was refused."""
    verb = given["verb"]
    if verb not in _VERBS:
        raise InvalidRecord(f"{verb} is no decision")
    if verb == "undo":
        return undo.said(memory.undo(decision=given.decision), "Undone.")
    decide = memory.accept if verb == "accept" else memory.reject
    outcome = decide([given["id"]], decision=given.decision)
    if outcome.refused:
        raise InvalidRecord(outcome.refused[0].reason)
    return ""
