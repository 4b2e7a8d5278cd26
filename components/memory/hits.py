"""What a question finds, in one ranking or by kind: how well each text fits, and what kept others out."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import merge
from html import escape

import streamlit as st

from components.memory.kinds import KINDS, around, text_of
from components.memory.markup import excerpt, highlight, line, listed
from components.memory.options import Asked, Options, Scores
from components.shell import format
from store import Memory
from store.memory.values import TRANSCRIPTS, ProbeCandidate, ProbeMessage

_NEAR = 5  # misses of each kind
_AROUND = 400  # characters shown before and after
_MOST_DEVIATIONS = 6.0  # that fill the bar
_REASONS = {
    "filter": "another filter",
    "threshold": "below the threshold",
    "n": "below top {n}",
    "budget": "over budget",
    "never": "never recalled",
}
_SCALES = (
    "Meaning and words together make the order, as agents get it. At a hit: **cosine**, how alike question "
    "and text are in meaning (1 is the same text); **σ**, how far it is above the mean of all texts of its "
    "kind, in standard deviations; **words**, how well it has the question's words, from 0 to 1."
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One text that was found, or nearly so."""

    kind: str
    found: ProbeCandidate | ProbeMessage

    @property
    def is_entry(self) -> bool:
        """No: a message that nothing of is embedded, so there is no entry to open."""
        return not isinstance(self.found, ProbeMessage) or self.found.hit.chunk is not None

    def share(self, scores: Scores) -> float:
        """How much fills its bar; hits of several kinds are ordered by it."""
        is_raw = scores == "raw" or self.found.calibrated is None
        return self.found.fit if is_raw else (self.found.calibrated or 0.0) / _MOST_DEVIATIONS


@dataclass(frozen=True, slots=True)
class Found:
    """The hits and near misses of one kind or protocol, in the order in which agents get them."""

    asked: Asked
    hits: Sequence[Hit]
    misses: Sequence[Hit]
    compared: int
    is_by_meaning: bool


def find(memory: Memory, question: str, options: Options) -> list[Found]:
    """Ask each kind. Raises MemedexError."""
    return [_find(memory, question, asked, options) for asked in options.asked]


def _find(memory: Memory, question: str, asked: Asked, options: Options) -> Found:
    limits = {**options.limits, "where": asked.where, "floor": asked.floor, "near": _NEAR}
    found: Iterable[ProbeCandidate | ProbeMessage]
    if asked.kind == TRANSCRIPTS:
        messages = memory.probe_messages(question, mode=options.mode, **limits)
        found, compared = messages, memory.entries(asked.kind).count()
        is_by_meaning = not messages.by_words_alone
    else:
        answer = memory.probe(question, kind=asked.kind, **limits)
        found, compared, is_by_meaning = (*answer.hits, *answer.misses), answer.compared, answer.by_meaning
    hits = [Hit(asked.kind, one) for one in found]
    given, others = ([hit for hit in hits if bool(hit.found.kept_out) == is_out] for is_out in (False, True))
    return Found(asked, given, others, compared, is_by_meaning)


def show(
    memory: Memory,
    question: str,
    options: Options,
    found: Sequence[Found],
    *,
    seconds: float,
    told: Collection[tuple[str, str]],
) -> None:
    """The hits, those marked that the prompt has (`told`: kind and id); then the nearest of the others."""
    facts = [f"{sum(one.compared for one in found):,} compared", f"{seconds * 1000:,.0f} ms"]
    facts += [] if all(one.is_by_meaning for one in found) else ["by words alone: the model is away"]
    st.caption(" · ".join(facts), help=_SCALES)
    drawn = partial(_line, memory, question, options, told)

    def nearest_last(hit: Hit) -> float:
        return -hit.share(options.scores)

    if not options.is_by_kind:
        hits, misses = (
            [*merge(*lists, key=nearest_last)]
            for lists in ([one.hits for one in found], [one.misses for one in found])
        )
        _list(map(drawn, hits), [*map(drawn, misses)])
        return
    ordered = sorted(found, key=lambda one: min(map(nearest_last, one.hits), default=1.0))
    with st.grid(len(ordered), min_column_width=280, gap=("small", "medium")) as grid:
        for one in ordered:
            with grid.cell():
                st.markdown(f"{KINDS[one.asked.kind].icon} **{format.plain(one.asked.title)}**")
                _list(map(drawn, one.hits), [*map(drawn, one.misses)])


def _list(hits: Iterable[str], misses: Sequence[str]) -> None:
    if not listed(hits):
        st.caption("No hit above the threshold." if misses else "There is nothing of this kind yet.")
    if misses:
        with st.expander(f"Not found · {len(misses)} nearest", icon=":material/visibility_off:"):
            listed(misses)


def _line(
    memory: Memory, question: str, options: Options, told: Collection[tuple[str, str]], hit: Hit
) -> str:
    found, kind = hit.found, hit.kind
    strength, is_told = "strong" if found.is_strong else "weak", (kind, found.row["id"]) in told
    label = _REASONS[found.kept_out].format(**options.limits) if found.kept_out else strength
    is_whole = not found.kept_out and (found.is_strong or not hit.is_entry)  # the others open by their links
    width = 100 * max(0.0, min(1.0, hit.share(options.scores)))
    return line(
        kind, found.row, excerpt(text_of(kind, found.row), question), question=question,
        lead=f'<span class="mdx-fit" title="{escape(_figures(found))}"><span class="mdx-bar">'
        f'<i style="width:{width:.0f}%"></i></span><b>{label}</b></span>',
        note="in the prompt" if is_told else "", is_entry=hit.is_entry,
        look="mdx-miss" if found.kept_out else f"mdx-{strength}{' mdx-told' if is_told else ''}",
        more=_surroundings(memory, hit, question) if is_whole else "",
    )  # fmt: skip


def _figures(found: ProbeCandidate | ProbeMessage) -> str:
    figures = [] if found.score is None else [f"cosine {found.score:.3f}"]
    figures += [] if found.calibrated is None else [f"{found.calibrated:+z.1f} σ"]
    if isinstance(found, ProbeMessage):
        figures += [] if found.hit.words_rank is None else [f"word rank {found.hit.words_rank}"]
        figures += [f"{len(found.hit.other_chunks) + 1} chunks"] if found.hit.other_chunks else []
    else:
        figures += [f"words {found.words:.2f}"] if found.words else []
        late = found.late_interaction
        figures += [] if late is None else [f"word by word {late:.2f}"]
    return " · ".join(figures)


def _surroundings(memory: Memory, hit: Hit, question: str) -> str:
    row = hit.found.row
    head, tail = ("\n\n".join(part) for part in around(memory, hit.kind, row, is_entry=hit.is_entry))
    if hit.is_entry and not (head or tail):
        return ""
    before = f"… {head[-_AROUND:]}" if len(head) > _AROUND else head
    after = f"{tail[:_AROUND]} …" if len(tail) > _AROUND else tail
    return (
        '<details><summary class="mdx-around">Show full context</summary>'
        f'<p class="mdx-around">{escape(before)}</p>'
        f'<p class="mdx-text">{highlight(text_of(hit.kind, row), question)}</p>'
        f'<p class="mdx-around">{escape(after)}</p></details>'
    )
