"""Jobs, running, paused or finished: progress, refusals and controls."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import streamlit as st

from components.shell import format
from components.shell.page import forms, live, local_time, tables, thumbnails
from components.shell.page.forms import Button, Field
from components.shell.server import current_state
from components.shell.session import presenter, safe_mode
from store import Item, Job, Library, Refusal
from store.errors import UnknownRecord

_REFUSED = 500
_Color = Literal["blue", "gray", "green", "red", "yellow"]
_ALL_REFUSED: tuple[str, _Color, str] = ("refused", "red", ":material/block:")
_STATES: dict[str, tuple[str, _Color, str]] = {
    "waiting": ("waiting", "gray", ":material/hourglass_empty:"),
    "running": ("running", "blue", ":material/play_arrow:"),
    "paused": ("paused", "yellow", ":material/pause:"),
    "interrupted": ("interrupted", "yellow", ":material/power_off:"),
    "done": ("done", "green", ":material/check:"),
    "cancelled": ("stopped", "gray", ":material/stop:"),
    "failed": ("failed", "red", ":material/error:"),
}


def show_open(library: Library) -> None:
    """Jobs that run, wait or can be continued, updated live."""
    opened = {job.id: job for job in library.jobs.open()}
    live.open_jobs(library, current_state.open_text([*opened.values()]))
    for job in opened.values():
        with st.container(border=True):
            line(library, job)


def line(library: Library, job: Job) -> None:
    """A job with its state, its buttons, and what was refused and why."""
    all_refused = job.state == "done" and job.refused and not job.done
    word, color, icon = _ALL_REFUSED if all_refused else _STATES["waiting" if job.is_stopping else job.state]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if job.total and not job.is_ephemeral:
            keys = [item.key for item in library.jobs.items(job.id, limit=thumbnails.SHOWN)]
            if library.records(keys):  # not what it has in place of coins, as a map has facets
                thumbnails.row(library, keys)
        st.badge("stopping" if job.is_stopping else word, color=color, icon=icon)
        st.markdown(f"**{format.plain(job.name)}**", width="stretch")
        by = job.note.get("ended_by", "")
        actor = presenter.name(job.actor)
        if by and by != job.actor:
            actor += f", ended by {presenter.name(by)}"
        at = job.ended_at or job.made_at
        st.caption(
            f"{format.plain(actor)} · {local_time.text(at)} · {format.ago(at)}", width="content",
            help=f"Times are in {local_time.zone_name()}.",
        )  # fmt: skip
        _buttons(library, job)
    if job.is_under_way:
        live.job(library, current_state.bar(job))
    else:
        if job.total and not (job.state == "done" and not job.refused):
            st.progress(job.fraction or 0.0)
        if figures := current_state.job_figures(job):
            st.caption(format.plain(figures, limit=400))
    if job.error:
        st.text(job.error)
    if job.kind == "draft" and job.can_resume and "budget" in job.options and library.can_write:
        _more_budget(library, job)
    items = library.jobs.items(job.id, state="refused", limit=_REFUSED) if job.refused else []
    rows = [_row(library, item) for item in items] or [*map(_refusal, current_state.job_refusals(job))]
    if rows:
        _refused(job, rows)


def _buttons(library: Library, job: Job) -> None:
    if not library.can_write:
        return
    if job.is_under_way:
        return  # its bar has them
    if job.can_resume:
        forms.button(
            f"list-resume-{job.id}", library, partial(library.jobs.resume, job.id),
            button=Button("Continue", icon="play_arrow", kind="primary"),
        )  # fmt: skip
        _stop(library, job)
    elif job.refused and not job.is_ephemeral:
        forms.button(
            f"list-again-{job.id}", library, partial(library.jobs.try_again, job.id),
            button=Button(f"Retry {job.refused:,} refused", icon="replay"),
        )  # fmt: skip


def _stop(library: Library, job: Job) -> None:
    if job.state != "failed":
        forms.button(
            f"list-stop-{job.id}", library, partial(library.jobs.cancel, job.id),
            button=Button("Stop", icon="stop", help="What is done is kept; the rest is left."),
        )  # fmt: skip


def _more_budget(library: Library, job: Job) -> None:
    def go_on(given: Mapping[str, Any]) -> str:
        library.jobs.resume(job.id, options={"budget": float(given["budget"])})
        return ""

    budget = float(job.options["budget"]) * 2
    forms.show(
        f"budget-{job.id}", library, go_on, row=True, button=Button("Continue with this budget"),
        fields=[Field("budget", "Budget, US dollars", "number", value=budget, least=0.01)],
    )  # fmt: skip


def _refused(job: Job, rows: Sequence[Mapping[str, object]]) -> None:
    """Each refused item with its reason, as a table and as CSV."""
    with st.expander(f"Refused and why ({job.refused:,})"):
        wide, narrow = (st.column_config.TextColumn(width=width) for width in ("large", "small"))
        tables.show(
            rows, alt="Refused items and reasons",
            columns={
                "coin": narrow, "item": narrow, "reason": wide, "when": tables.when(), "address": narrow,
            },
        )  # fmt: skip
        st.download_button(
            "Download as CSV", lambda: tables.as_csv(rows), f"refused-{job.id}.csv", "text/csv",
            key=f"csv-{job.id}", on_click="ignore",
        )  # fmt: skip


def _refusal(refusal: Refusal) -> dict[str, object]:
    return {"item": refusal.item, "reason": refusal.reason}


def _row(library: Library, item: Item) -> dict[str, object]:
    address = (
        item.payload["address"] if isinstance(item.payload, dict) and "address" in item.payload else item.key
    )
    try:
        name = safe_mode.shown(library, library.get(address)).name
    except UnknownRecord:
        name = ""
    return {"coin": name, "reason": item.reason, "when": tables.moment(item.ended_at), "address": address}
