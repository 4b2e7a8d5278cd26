"""Approved coins on their way into the library: long work, watched on every page, its summary kept."""

import threading
from collections.abc import Callable

import streamlit as st

from components import jobs, resources, wording
from components.grid import Entry, Handler, Mark
from store.errors import MemedexError, UnknownRecord
from store.jobs import Job
from store.library import Library, Outcome, Refusal
from store.listing import Filter
from store.progress import Progress
from store.records import Record

_NAME = "Promote"
_SHOWN = 200  # refusals that the summary lists
_under_way: dict[int, frozenset[str]] = {}  # job → addresses, for the marks on the cards
_lock = threading.Lock()


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
    waiting = _addresses_under_way()
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


def marks() -> Callable[[Record], Mark]:
    """What stands between each coin and the library."""
    waiting = _addresses_under_way()

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
    def work(progress: Progress) -> Outcome:
        return library.promote(addresses, progress=progress)

    job = jobs.start(resources.jobs(), f"{_NAME} {wording.counted(len(addresses), 'coin')}", work)
    with _lock:
        _under_way[job.id] = frozenset(addresses)


def _addresses_under_way() -> frozenset[str]:
    running = {job.id for job in resources.jobs().all() if not job.is_over}
    with _lock:
        for number in _under_way.keys() - running:
            del _under_way[number]
        return frozenset[str]().union(*_under_way.values())


def _summary(library: Library) -> None:
    over = [job for job in resources.jobs().all() if job.name.startswith(_NAME) and job.is_over]
    if not over:
        return
    last = over[-1]
    with st.popover(_headline(last), icon=":material/summarize:"):
        st.text(f"{last.name}: {last.state} after {last.seconds:.1f} s")
        if last.error:
            st.text(last.error)
        for refusal in last.result.refused[:_SHOWN] if last.result else ():
            st.text(f"{_name(library, refusal.item)}: {refusal.reason}")


def _headline(job: Job) -> str:
    if job.result is None:
        return "Last promotion failed"
    refused = f", {len(job.result.refused):,} refused" if job.result.refused else ""
    return f"{len(job.result.done):,} promoted{refused}"


def _name(library: Library, address: str) -> str:
    try:
        return library.get(address).name
    except MemedexError:
        return address
