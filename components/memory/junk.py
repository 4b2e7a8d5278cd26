"""The junk meter of one kind: its share with its parts, and the worst entries, with merges to accept."""

from pathlib import Path

import streamlit as st

from components.memory import duplicates
from components.memory.kinds import KINDS, counted, text_of
from components.memory.markup import line, listed
from components.shell import format
from components.shell.page import job_bar
from components.shell.page.forms import Button
from components.shell.session import resources
from store import Memory
from store.memory.values import ASKED_NIGHTLY, Junk, JunkEntry
from store.settings import settings

_JOB = "memedex.junk"
_AT_ONCE = 1_000  # entries that are examined without asking: a second at most
_UNFOUND = 10  # entries that are shown
_LABELS = {
    "repeat": "Repeats",
    "near repeat": "Near repeats",
    "contradicted": "Contradicted",
    "prompt": "Only ask or instruct",
    "never recalled": "Never recalled",
}


def show(memory: Memory, kind: str) -> None:
    """The meter, at once or by a job, and what no question finds."""
    _examined(memory, kind)
    if kind in ASKED_NIGHTLY:
        _unfound(memory, kind)


def _examined(memory: Memory, kind: str) -> None:
    count = memory.entries(kind).count()
    if count <= _AT_ONCE:
        _meter(memory, _counted(memory, settings().root, memory.generation, kind))
        return
    name = f"{_JOB}-{kind}"
    job_bar.button(
        f"junk-{kind}", resources.library(), f"Count junk in {KINDS[kind].label.lower()}",
        lambda progress: memory.junk(kind, progress=progress), kept_as=name,
        button=Button(
            f"Examine {counted(kind, count)}", icon="delete_sweep",
            disabled=job_bar.is_busy(resources.jobs()),
        ),
    )  # fmt: skip
    job = job_bar.begun(resources.jobs(), name)
    if job is not None and job.state == "done":
        st.caption(f"As it was {format.ago(job.ended_at)}.")
        _meter(memory, job.result)


@st.cache_data(show_spinner=False, max_entries=5, ttl=60)
def _counted(_memory: Memory, root: Path, generation: tuple[int, ...], kind: str) -> Junk:
    """Counted once for each state of the memory; what was handed out since counts a minute later."""
    return _memory.junk(kind)


def _meter(memory: Memory, found: Junk) -> None:
    kind = found.kind
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{found.share:.0%} of {counted(kind, found.entries)}**".replace("%", " %"))
        for why, number in found.parts.items():
            st.badge(f"{_LABELS[why]} · {number:,}", color="gray")
    if found.not_counted:
        st.caption(format.plain(found.not_counted, limit=200))
    if not found.worst:
        st.success("No entry counts as junk.", icon=":material/check_circle:")
        return
    ids = [id for one in found.worst for id in (one.id, *(reason.other for reason in one.reasons))]
    rows = {row["id"]: row for row in memory.entries(kind).rows([*dict.fromkeys(ids)])}
    for one in found.worst:
        if one.id in rows:  # removed since
            _entry(memory, kind, one, rows)


def _entry(memory: Memory, kind: str, one: JunkEntry, rows: dict[str, dict[str, object]]) -> None:
    with st.container(border=True, gap="xsmall"):
        for reason in one.reasons:
            st.markdown(f"**{_LABELS[reason.why]}** · {format.plain(reason.words, limit=300)}")
        shown = [one.id, *dict.fromkeys(reason.other for reason in one.reasons if reason.other in rows)]
        listed(line(kind, rows[id], text_of(kind, rows[id]), lead="") for id in shown)
        if memory.can_write and one.merge:
            duplicates.merge(memory, kind, one.merge[0], one.merge[1:])


def _unfound(memory: Memory, kind: str) -> None:
    found = memory.last_recall_test(kind)
    if not memory.entries(kind).count():
        return
    st.markdown("**Not found by a question**")
    if found is None:
        st.caption(
            "A dashboard that runs asks for entries every night, each by a question that it should answer. "
            "Now: `python -m store memory recall-test`."
        )
        return
    how = f"a question by {format.plain(found.model)}" if found.model else "its rarest words"
    missed = (
        f"{counted(kind, len(found.unfound))} not among the first five hits" if found.unfound else "all found"
    )
    st.caption(
        f"{found.asked:,} asked for {format.ago(found.at)}, each by {how}: {missed}. "
        f"{format.plain(found.note, limit=200)}"
    )
    shown = [*found.unfound][:_UNFOUND]
    for row in memory.entries(kind).rows(shown):
        with st.container(border=True, gap="xsmall"):
            st.markdown(f"Asked: {format.plain(found.unfound[row['id']], limit=300)}")
            listed([line(kind, row, text_of(kind, row), lead="")])
    if len(found.unfound) > _UNFOUND:
        st.caption(f"And {len(found.unfound) - _UNFOUND:,} more.")
