"""Approved coins on their way into the library: long work, watched on every page, its summary kept."""

from collections.abc import Callable

import streamlit as st

from components import jobs, wording
from components.grid import Entry, Handler, Mark
from store.errors import MemedexError, UnknownRecord
from store.jobs import Job
from store.library import Library, Outcome, Refusal
from store.listing import Filter
from store.records import Record

_SHOWN = 200  # refusals that the summary lists


def handler(library: Library) -> Handler:
    """Starts the work for what was chosen; what lacks a caption is refused at once, with the way out."""

    def start(entry: Entry) -> Outcome:
        ready, outcome = [], Outcome()
        for address in entry.addresses:
            reason = _obstacle(library, address)
            if reason:
                outcome.refused.append(Refusal(address, reason))
            else:
                ready.append(address)
        if ready:
            _start(library, ready)
        return outcome

    return start


def controls(library: Library) -> None:
    """How the last promotion went, and the button for all that is ready."""
    waiting = _addresses_under_way(library)
    ready = [
        each for each in library.addresses(Filter(tier="approved", captioned=True)) if each not in waiting
    ]
    _summary(library)
    if not library.can_write:
        return
    st.button(
        f"Promote all {len(ready):,} that are ready" if ready else "Nothing ready to promote",
        icon=":material/publish:",
        type="primary",
        disabled=not ready,
        on_click=_start,
        args=(library, ready),
    )


def marks(library: Library) -> Callable[[Record], Mark]:
    """What stands between each coin and the library."""
    waiting = _addresses_under_way(library)

    def mark(record: Record) -> Mark:
        if record.address in waiting:
            return {"label": "being promoted", "tone": "busy"}
        if record.is_captioned:
            return {"label": "ready", "tone": "good"}
        return {"label": "needs caption", "tone": "warn"}

    return mark


def _obstacle(library: Library, address: str) -> str:
    try:
        record = library.get(address)
    except UnknownRecord as error:
        return str(error)
    if record.tier != "approved":
        return f"it is in {record.tier} now"
    return "" if record.is_captioned else "needs entity and context first: e opens the caption editor"


def _start(library: Library, addresses: list[str]) -> None:
    jobs.start(
        library.jobs,
        "move",
        addresses,
        name=f"Promote {wording.counted(len(addresses), 'coin')}",
        options={"verb": "promote"},
    )


def _addresses_under_way(library: Library) -> set[str]:
    return library.jobs.keys_under_way("move", verb="promote")


def _summary(library: Library) -> None:
    over = [
        job
        for job in library.jobs.all()
        if (job.kind, job.options.get("verb")) == ("move", "promote") and job.is_over
    ]
    if not over:
        return
    last = over[0]
    with st.popover(_headline(last), icon=":material/summarize:"):
        st.text(f"{last.name}: {last.state} after {last.worked:.1f} s")
        if last.error:
            st.text(last.error)
        for item in library.jobs.items(last.id, state="refused", limit=_SHOWN):
            st.text(f"{_name(library, item.key)}: {item.reason}")


def _headline(job: Job) -> str:
    if job.error:
        return "Last promotion failed"
    refused = f", {job.refused:,} refused" if job.refused else ""
    return f"{job.done:,} promoted{refused}"


def _name(library: Library, address: str) -> str:
    try:
        return library.get(address).name
    except MemedexError:
        return address
