"""One result as a card: score, place, text with the question's words marked, and its context."""

from dataclasses import dataclass
from html import escape

import streamlit as st

from components.memory import entry_link
from components.memory.highlight import excerpt, highlight
from components.memory.kinds import place_of, text_of
from store import MemoryVerbs
from store.memory.values import Row

_REASONS = {
    "filter": "another filter",
    "threshold": "below the threshold",
    "n": "below top {n}",
    "budget": "over budget",
    "never": "never recalled",
}
_AROUND = 400  # characters shown before and after


@dataclass(frozen=True, slots=True)
class Card:
    """The data of a card; `kept_out` is "" for a hit."""

    kind: str
    row: Row
    score: str
    reason: str
    share: float  # 0 to 1, of the bar
    kept_out: str = ""
    is_entry: bool = True  # False: a message that nothing of is embedded, so there is no entry to open


def show(memory: MemoryVerbs, card: Card, *, question: str, n: int, place: str) -> None:
    """The card of one of `n` hits with a link to its entry; `place` makes its key unique on the page."""
    with st.container(
        border=not card.kept_out,
        horizontal=True,
        wrap=False,
        gap="xsmall",
        key=f"card-{place}-{card.row['id']}",
    ):
        surroundings = "" if card.kept_out else _surroundings(memory, card, question)
        st.html(_html(card, question, surroundings, n), width="stretch")
        if not card.is_entry:
            return
        entry_link.show(card.kind, card.row["id"], about="Edit it; what is near it, its vector, its history")


def _html(card: Card, question: str, surroundings: str, n: int) -> str:
    miss = " mdx-miss" if card.kept_out else ""
    why = " · ".join(filter(None, [card.reason, _REASONS.get(card.kept_out, "").format(n=n)]))
    place = escape(place_of(card.kind, card.row))
    return (
        f'<div class="{miss.strip()}"><div class="mdx-head"><b>{escape(card.score)}</b>'
        f'<span title="{place}">{place}</span><span class="why">{escape(why)}</span></div>'
        f'<div class="mdx-bar"><i style="width:{100 * max(0.0, min(1.0, card.share)):.1f}%"></i></div>'
        '<p class="mdx-text mdx-cut">'
        f"{highlight(excerpt(text_of(card.kind, card.row), question), question)}</p>"
        f"{surroundings}</div>"
    )


def _surroundings(memory: MemoryVerbs, card: Card, question: str) -> str:
    if card.is_entry:
        before, after = context_of(memory, card.kind, card.row)
    else:
        before, after = ("\n".join(texts) for texts in memory.transcripts.around(card.row["parent_id"]))
    return (
        '<details><summary class="mdx-around">Show full context</summary>'
        f'<p class="mdx-around">{escape(before)}</p>'
        f'<p class="mdx-text">{highlight(text_of(card.kind, card.row), question)}</p>'
        f'<p class="mdx-around">{escape(after)}</p></details>'
    )


def context_of(memory: MemoryVerbs, kind: str, row: Row) -> tuple[str, str]:
    """The shortened texts before and after an entry in its source."""
    before, after = memory.around(row["id"], kind=kind)
    texts = [text_of(kind, one) for one in before], [text_of(kind, one) for one in after]
    if kind == "transcript_vectors" and not any(texts):
        texts = memory.transcripts.around(row["parent_id"])
    head, tail = ("\n\n".join(part) for part in texts)
    return (
        f"… {head[-_AROUND:]}" if len(head) > _AROUND else head,
        f"{tail[:_AROUND]} …" if len(tail) > _AROUND else tail,
    )
