"""Near-duplicates of one kind: found at once among few entries, by a job among many."""

from collections.abc import Sequence
from functools import partial
from zlib import crc32

import streamlit as st

from components.memory.kinds import KINDS, counted, text_of
from components.memory.markup import line, listed
from components.shell import format
from components.shell.page import forms, job_bar, tables
from components.shell.page.forms import Button, Field, Sent
from components.shell.session import resources
from store import MemedexError, Memory
from store.memory.values import NEARLY, DuplicatePair, MergePreview, changed_meanwhile

_JOB = "memedex.near_duplicates"
_SHOWN = 10  # pairs on a page
_AT_ONCE = 3_000  # entries that are compared without asking
_LINES = 5  # removed texts shown of a merge


def show(memory: Memory, kind: str) -> None:
    """The pairs of this kind, at once or by a job."""
    count = memory.entries(kind).count()
    if count <= _AT_ONCE:
        _pairs(memory, kind, memory.near_duplicates(kind))
        return
    is_locked = not memory.can_write or job_bar.is_busy(resources.jobs())
    name = f"{_JOB}-{kind}"
    job_bar.button(
        f"compare-{kind}", resources.library(), f"Compare {KINDS[kind].label.lower()}",
        lambda progress: memory.near_duplicates(kind, progress=progress), kept_as=name,
        button=Button(f"Compare {counted(kind, count)}", icon="content_copy", disabled=is_locked),
    )  # fmt: skip
    job = job_bar.begun(resources.jobs(), name)
    if job is not None and job.state == "done":
        _pairs(memory, kind, job.result)


def _pairs(memory: Memory, kind: str, pairs: Sequence[DuplicatePair]) -> None:
    if not pairs:
        st.caption(f"No two {KINDS[kind].many} have a cosine of {NEARLY} or more.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{format.counted(len(pairs), 'pair')} with a cosine of {NEARLY} or more, the most alike first.",
            width="stretch",
        )
        page = tables.page_number(len(pairs), _SHOWN, key=f"pairs_{kind}", max_visible_pages=5)
    for pair in pairs[(page - 1) * _SHOWN : page * _SHOWN]:
        rows = memory.entries(kind).rows([pair.one, pair.other])
        with st.container(border=True, gap="xsmall"):
            st.markdown(f"**{pair.cosine:.3f}**")
            listed(line(kind, row, text_of(kind, row), lead="") for row in rows)
            if memory.can_write and len(rows) == 2:
                merge(memory, kind, pair.one, [pair.other])


def merge(memory: Memory, kind: str, keep: str, others: Sequence[str]) -> None:
    """What merging would change, and the text that all would become, to change before they are merged."""
    try:
        shown = memory.preview_merge(keep, others, kind=kind)
    except MemedexError:  # of two worlds or sessions, or one is gone
        return
    with st.expander("Merge", icon=":material/merge:"):
        st.caption("The first is kept, with this text; the others are removed. Undo takes it back.")
        st.code(_difference(kind, shown), language="diff", wrap_lines=True)
        label = "Merge both" if len(others) == 1 else f"Merge all {len(others) + 1:,}"
        forms.show(
            f"merge-{kind}-{keep}-{others[0]}", resources.library(),
            partial(_merged, memory, kind, shown),
            fields=[
                Field("text", "Text", "text", value=shown.text, is_labelled=False),
                Field("base", "Base", "base", value=_base(kind, shown)),
            ],
            button=Button(label, icon="merge"),
        )  # fmt: skip


def _difference(kind: str, shown: MergePreview) -> str:
    """The texts that go, the one that comes; one that stays has no sign."""
    texts = [" ".join(text_of(kind, row).split()) for row in (shown.keep, *shown.removed)]
    kept, *removed = texts
    new = " ".join(shown.text.split())
    lines = [f"  {kept}"] if new == kept else [f"- {kept}"]
    lines += [f"- {text}" for text in removed[:_LINES]]
    if len(removed) > _LINES:
        lines.append(f"- … and {len(removed) - _LINES:,} more")
    return "\n".join(lines if new == kept else [*lines, f"+ {new}"])


def _merged(memory: Memory, kind: str, shown: MergePreview, given: Sent) -> str:
    if given["base"] != _base(kind, shown):
        raise changed_meanwhile(f"one of the {'two ' if len(shown.removed) == 1 else ''}entries")
    others = [row["id"] for row in shown.removed]
    memory.merge(
        shown.keep["id"], others, kind=kind, text=given["text"], shown=shown, decision=given.decision
    )
    return "Merged; undo takes it back."


def _base(kind: str, shown: MergePreview) -> str:
    """A key that changes with each of the texts."""
    texts = [text_of(kind, row) for row in (shown.keep, *shown.removed)]
    return str(crc32("\n".join(texts).encode()))
