"""Promote approved coins: which are ready, which are not and why, and the result."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from components.grid.cards import Mark
from components.grid.decisions import missing_facets, start_promotion
from components.shell import format
from components.shell.page import forms, job_bar, places
from components.shell.page.forms import Button
from components.shell.session import presenter, safe_mode
from store import Filter, Job, Library, MemedexError, Record

_SHOWN = 200  # refusals that the summary lists
_LATELY = 5  # summaries that can be opened
_READY = Filter(tier="approved", captioned=True, troubled=False)
# The address holds what the control shows: hence words that make a link readable, and no counts.
_SEGMENTS = {
    "All": Filter(tier="approved"),
    "Ready": _READY,
    "Needs caption": Filter(tier="approved", captioned=False, troubled=False),
    "Needs attention": Filter(tier="approved", troubled=True),
}
_COMPARING = "Copies of these coins are still being looked for; cards say so as they are found."
_UNDER_WAY = {
    "approve": "being approved",
    "return": "going back to review",
    "reject": "being rejected",
    "delete": "being deleted",
    "promote": "being promoted",
    "degrade": "being removed",
    "restore": "being restored",
}


def ready(library: Library) -> tuple[int, int]:
    """How many could be promoted, and how many more are being promoted."""
    under_way = len(library.jobs.keys_under_way("move", verb="promote"))
    copies = library.duplicates.copies()
    waiting = len(_all_ready(library)) if copies else library.count(_READY)
    return max(0, waiting - under_way), under_way


def choose() -> Filter:
    """The part of the queue to show."""
    chosen = st.selectbox(
        "Show", list(_SEGMENTS), key="approved_show", bind="query-params", width=150,
        label_visibility="collapsed",
    )  # fmt: skip
    return _SEGMENTS[chosen]


def controls(library: Library) -> None:
    """The result of the last promotions, and the button for all that are ready."""
    _summaries(library)
    if not library.can_write:
        return
    if troubled := library.count(_SEGMENTS["Needs attention"]):
        needs = "needs" if troubled == 1 else "need"
        st.badge(f"{troubled:,} {needs} attention", icon=":material/error:", color="red")
    waiting, promoted = ready(library)
    label = f"Promoting {promoted:,} …" if promoted else f"Promote {waiting:,} ready"
    forms.show(
        "promote-all", library, job_bar.starting(partial(_start_all, library)),
        button=Button(label, icon="publish", kind="primary", disabled=not waiting or bool(promoted)),
    )  # fmt: skip


def why_not(library: Library) -> None:
    """The fault that blocks the whole queue: a decided change that the disk does not let finish."""
    status = library.status()
    if status.stuck:
        about = format.counted(len(status.applying), "coin")
        st.error(f"A decided change of {about} cannot be finished:", icon=":material/error:")
        st.text(status.stuck)
        st.page_link(**places.STATUS, label="Repair", icon=":material/build:")


def _all_ready(library: Library) -> list[str]:
    """All that can be promoted without a question: a copy is only promoted alone."""
    copies = library.duplicates.copies()
    return [address for address in library.addresses(_READY) if address not in copies]


def marks(library: Library, records: Sequence[Record]) -> Callable[[Record], Mark]:
    """The fields that each of these coins still needs for the library."""
    addresses = [record.address for record in records]
    under_way = library.jobs.verbs_under_way(addresses)
    troubles = library.blockers(addresses)
    applying = set(library.status().applying)
    copies = library.duplicates.copies()

    def mark(record: Record) -> Mark:
        if record.address in applying:
            return {"label": "stored soon: the disk is busy", "tone": "busy"}
        if verb := under_way.get(record.address):
            return {"label": _UNDER_WAY[verb], "tone": "busy"}
        if trouble := troubles.get(record.address):
            return {"label": trouble, "tone": "bad"}
        if record.address in copies:
            return {"label": f"a copy of {_name(library, copies[record.address])}", "tone": "warn"}
        if record.is_captioned:
            return {"label": "ready", "tone": "good"}
        return {"label": f"needs {missing_facets(record) if record.caption else 'caption'}", "tone": "warn"}

    return mark


def on_their_way(library: Library, records: Sequence[Record]) -> Callable[[Record], Mark | None]:
    """Which of these coins a running job will still change."""
    under_way = library.jobs.verbs_under_way([record.address for record in records])

    def mark(record: Record) -> Mark | None:
        verb = under_way.get(record.address)
        return {"label": _UNDER_WAY[verb], "tone": "busy"} if verb else None

    return mark


def to_compare(library: Library) -> None:
    """How many coins were not compared with the others yet."""
    if library.can_write and (left := library.duplicates.unexamined()):
        st.badge(f"{left:,} to compare", icon=":material/difference:", color="gray", help=_COMPARING)


def _start_all(library: Library, *, decision: str) -> Job:
    return start_promotion(library, _all_ready(library), decision=decision)


def _summaries(library: Library) -> None:
    over = [
        job
        for job in library.jobs.all()
        if (job.kind, job.options.get("verb")) == ("move", "promote") and job.is_over
    ][:_LATELY]
    if not over:
        return
    with st.popover(_headline(over[0]), icon=":material/summarize:"):
        for job in over:
            _summary(library, job)


def _summary(library: Library, job: Job) -> None:
    st.markdown(
        f"**{_headline(job)}** · {format.plain(presenter.name(job.actor))} · {format.ago(job.ended_at)}"
    )
    st.caption(f"{format.plain(job.name)}: {job.state} after {job.worked:,.1f} s")
    if job.error:
        st.text(job.error)
    for item in library.jobs.items(job.id, state="refused", limit=_SHOWN):
        st.text(f"{_name(library, item.key)}: {item.reason}")


def _headline(job: Job) -> str:
    if job.error:
        return "Promotion failed"
    refused = f", {job.refused:,} refused" if job.refused else ""
    return f"{job.done:,} promoted{refused}"


def _name(library: Library, address: str) -> str:
    try:
        return safe_mode.shown(library, library.get(address)).name
    except MemedexError:
        return address
