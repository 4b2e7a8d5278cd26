"""What a question finds, in one ranking or by kind: how well each text fits, and what kept others out."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from html import escape

import streamlit as st

from components.memory import entry_link
from components.memory.highlight import excerpt, highlight
from components.memory.kinds import KINDS, place_of, text_of
from components.memory.options import Asked, Options
from components.shell import format
from store import MemoryVerbs
from store.memory.values import LOCAL, ProbeCandidate, ProbeMessage, Row

_NEAR = 5  # misses of each kind
_AROUND = 400  # characters shown before and after
_BY_WORDS = "by words alone: the model is away"
_STRONG = 0.35  # of meaning and words together; so much answers a question to papers (docs/memory.md)
_STRONG_DEVIATIONS = 2.0  # for models whose cosines were not measured
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
    """One text: `kept_out` is "" if a model would be given it."""

    kind: str
    row: Row
    share: float  # of the bar; hits of several kinds are ordered by it
    is_strong: bool
    figures: str
    kept_out: str = ""
    is_entry: bool = True  # False: a message that nothing of is embedded, so there is no entry to open


@dataclass(frozen=True, slots=True)
class Found:
    """The hits and near misses of one kind or protocol, in the order in which agents get them."""

    asked: Asked
    hits: Sequence[Hit]
    misses: Sequence[Hit]
    compared: int  # 0: not counted
    how: str

    @property
    def best(self) -> Hit | None:
        """The best hit."""
        return max(self.hits, key=lambda hit: hit.share, default=None)


def find(memory: MemoryVerbs, question: str, options: Options) -> list[Found]:
    """Ask each kind. Raises MemedexError."""
    return [
        (_messages if one.kind == "transcript_vectors" else _entries)(memory, question, one, options)
        for one in options.asked
    ]


def show(
    memory: MemoryVerbs,
    question: str,
    options: Options,
    found: Sequence[Found],
    *,
    seconds: float,
    told: Collection[tuple[str, str]],
) -> None:
    """The hits, those marked that the prompt has (`told`: kind and id); then the nearest of the others."""
    facts = [f"{sum(one.compared for one in found):,} compared", f"{seconds * 1000:,.0f} ms"]
    st.caption(" · ".join([*facts, *dict.fromkeys(one.how for one in found if one.how)]), help=_SCALES)
    if options.is_by_kind:
        ordered = sorted(found, key=lambda one: -one.best.share if one.best else 1.0)
        with st.grid(len(ordered), min_column_width=280, gap=("small", "medium")) as grid:
            for one in ordered:
                with grid.cell():
                    st.markdown(f"{KINDS[one.asked.kind].icon} **{format.plain(one.asked.title)}**")
                    _list(memory, question, options.n, one.hits, one.misses, told)
        return
    hits, misses = (
        [*merge(*lists, key=lambda hit: -hit.share)]
        for lists in ([one.hits for one in found], [one.misses for one in found])
    )
    _list(memory, question, options.n, hits, misses, told)


def _entries(memory: MemoryVerbs, question: str, asked: Asked, options: Options) -> Found:
    answer = memory.probe(
        question, kind=asked.kind, n=options.n, where=asked.where, floor=asked.floor, budget=options.budget,
        mmr=options.mmr, near=_NEAR,
    )  # fmt: skip
    is_local = memory.entries(asked.kind).model == LOCAL
    hits, misses = (
        [_hit(asked.kind, one.row, one, _figures(one), options, is_local=is_local) for one in some]
        for some in (answer.hits, answer.misses)
    )
    return Found(asked, hits, misses, answer.compared, "" if answer.by_meaning else _BY_WORDS)


def _messages(memory: MemoryVerbs, question: str, asked: Asked, options: Options) -> Found:
    """Transcripts by meaning, by words or by both, a hit for each message."""
    found = memory.probe_messages(
        question, mode=options.mode, n=options.n, where=asked.where, floor=asked.floor, budget=options.budget,
        mmr=options.mmr, near=_NEAR,
    )  # fmt: skip
    is_local = memory.entries(asked.kind).model == LOCAL
    hits = []
    for one in found:
        message, chunks = one.hit.message, len(one.hit.other_chunks) + 1
        row = one.hit.chunk or {**message, "parent_id": message["id"], "content_type": message["role"],
                                "total_chunks": 1, "source_text": one.text}  # fmt: skip
        figures = [f"word rank {one.hit.words_rank}"] if one.hit.words_rank is not None else []
        figures += [f"{chunks} chunks"] if chunks > 1 else []
        hits.append(_hit(asked.kind, row, one, figures, options, is_local=is_local))
    return Found(
        asked, [hit for hit in hits if not hit.kept_out], [hit for hit in hits if hit.kept_out],
        memory.entries(asked.kind).count(), _BY_WORDS if found.by_words_alone else "",
    )  # fmt: skip


def _figures(one: ProbeCandidate) -> list[str]:
    figures = [f"words {one.words:.2f}"] if one.words else []
    return figures + ([] if one.late_interaction is None else [f"word by word {one.late_interaction:.2f}"])


def _hit(
    kind: str,
    row: Row,
    one: ProbeCandidate | ProbeMessage,
    figures: Iterable[str],
    options: Options,
    *,
    is_local: bool,
) -> Hit:
    cosine = one.hit.cosine if isinstance(one, ProbeMessage) else one.score
    deviations = one.calibrated
    share = one.fit if options.scores == "raw" or deviations is None else deviations / _MOST_DEVIATIONS
    is_strong = one.fit >= _STRONG if is_local or deviations is None else deviations >= _STRONG_DEVIATIONS
    meaning = [] if cosine is None else [f"cosine {cosine:.3f}"]
    spread = [] if deviations is None else [f"{deviations:+z.1f} σ"]
    return Hit(
        kind, row, share, is_strong, " · ".join([*meaning, *spread, *figures]), one.kept_out,
        is_entry=not isinstance(one, ProbeMessage) or bool(one.hit.chunk),
    )  # fmt: skip


def _list(
    memory: MemoryVerbs,
    question: str,
    n: int,
    hits: Sequence[Hit],
    misses: Sequence[Hit],
    told: Collection[tuple[str, str]],
) -> None:
    if not hits:
        st.caption("No hit above the threshold." if misses else "There is nothing of this kind yet.")
    drawn = [_html(memory, hit, question, n, is_told=(hit.kind, hit.row["id"]) in told) for hit in hits]
    st.html(f'<div class="mdx-hits" role="list">{"".join(drawn)}</div>')
    if misses:
        with st.expander(f"Not found · {len(misses)} nearest", icon=":material/visibility_off:"):
            drawn = [_html(memory, miss, question, n, is_told=False) for miss in misses]
            st.html(f'<div class="mdx-hits" role="list">{"".join(drawn)}</div>')


def _html(memory: MemoryVerbs, hit: Hit, question: str, n: int, *, is_told: bool) -> str:
    strength = "strong" if hit.is_strong else "weak"
    label = _REASONS[hit.kept_out].format(n=n) if hit.kept_out else strength
    kind = "mdx-miss" if hit.kept_out else f"mdx-{strength}{' mdx-told' if is_told else ''}"
    place = escape(f"{KINDS[hit.kind].label} · {place_of(hit.kind, hit.row)}")
    if hit.is_entry:
        address = escape(entry_link.address(hit.kind, hit.row["id"]))
        place = f'<a class="memedex-link" target="_self" href="{address}" title="Open: {place}">{place}</a>'
    is_whole = not hit.kept_out and (hit.is_strong or not hit.is_entry)  # an entry opens by its link
    return (
        f'<div role="listitem" class="{kind}"><div class="mdx-head">'
        f'<span class="mdx-fit" title="{escape(hit.figures)}">'
        f'<span class="mdx-bar"><i style="width:{100 * max(0.0, min(1.0, hit.share)):.0f}%"></i></span>'
        f'<b>{label}</b></span><span class="mdx-place">{place}</span>'
        f'<span class="why">{"in the prompt" if is_told else ""}</span></div><p class="mdx-text mdx-cut">'
        f"{highlight(excerpt(text_of(hit.kind, hit.row), question), question)}</p>"
        f"{_surroundings(memory, hit, question) if is_whole else ''}</div>"
    )


def _surroundings(memory: MemoryVerbs, hit: Hit, question: str) -> str:
    before, after = _around(memory, hit)
    return (
        '<details><summary class="mdx-around">Show full context</summary>'
        f'<p class="mdx-around">{escape(before)}</p>'
        f'<p class="mdx-text">{highlight(text_of(hit.kind, hit.row), question)}</p>'
        f'<p class="mdx-around">{escape(after)}</p></details>'
    )


def _around(memory: MemoryVerbs, hit: Hit) -> tuple[str, str]:
    """The shortened texts before and after a hit in its source."""
    texts: tuple[list[str], list[str]] = ([], [])
    if hit.is_entry:
        before, after = memory.around(hit.row["id"], kind=hit.kind)
        texts = [text_of(hit.kind, one) for one in before], [text_of(hit.kind, one) for one in after]
    if hit.kind == "transcript_vectors" and not any(texts):
        texts = memory.transcripts.around(hit.row["parent_id"])
    head, tail = ("\n\n".join(part) for part in texts)
    return (
        f"… {head[-_AROUND:]}" if len(head) > _AROUND else head,
        f"{tail[:_AROUND]} …" if len(tail) > _AROUND else tail,
    )
