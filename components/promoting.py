"""Approved coins on their way into the library: long work, watched on every page, its summary kept."""

import threading

import streamlit as st

from components import jobs, resources, wording
from components.grid.ledger import Entry, Handler
from store.jobs import Job
from store.library import Library, Outcome, Refusal
from store.listing import Filter
from store.progress import Progress

_NAME = "Promote"
_under_way: dict[int, frozenset[str]] = {}  # job → addresses, for the marks on the cards
_lock = threading.Lock()


def promote(library: Library) -> Handler:
    """A handler that starts the work; what lacks a caption is refused at once, with the way out."""

    def handler(entry: Entry) -> Outcome:
        ready, outcome = [], Outcome()
        for address in entry.addresses:
            if library.get(address).is_captioned:
                ready.append(address)
            else:
                outcome.refused.append(Refusal(address, "write entity and context first (key e)"))
        if ready:
            _start(library, ready)
        return outcome

    return handler


def promote_all(library: Library) -> frozenset[str]:
    """The button for all that is ready, and how the last promotion went; gives what is on its way now."""
    waiting = _addresses_under_way()
    ready = [
        address
        for address in library.addresses(Filter(tier="approved", captioned=True))
        if address not in waiting
    ]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            f"Promote all {len(ready):,} that are ready"
            if len(ready) != 1
            else "Promote the one that is ready",
            icon=":material/publish:",
            type="primary",
            disabled=not ready or not library.can_write,
            on_click=_start,
            args=(library, ready),
        )
        _summary(library)
    return waiting


def _start(library: Library, addresses: list[str]) -> None:
    def work(progress: Progress) -> Outcome:
        return library.promote(addresses, progress=progress)

    job = jobs.start(resources.jobs(), f"{_NAME} {wording.counted(len(addresses), 'coin')}", work)
    with _lock:
        _under_way[job.id] = frozenset(addresses)


def _addresses_under_way() -> frozenset[str]:
    running = {job.id for job in resources.jobs().all() if not job.is_over}
    with _lock:
        for number in set(_under_way) - running:
            del _under_way[number]
        return frozenset().union(*_under_way.values())


def _summary(library: Library) -> None:
    last = next(
        (job for job in reversed(resources.jobs().all()) if job.name.startswith(_NAME) and job.is_over), None
    )
    if last is None:
        return
    with st.popover(_headline(last), icon=":material/summarize:"):
        st.text(f"{last.name}: {last.state} after {last.seconds:.1f} s")
        if last.error:
            st.text(last.error)
        for refusal in last.result.refused[:200] if last.result else ():
            st.text(f"{_name(library, refusal.item)}: {refusal.reason}")


def _headline(job: Job) -> str:
    if job.result is None:
        return "Last promotion failed"
    done, refused = len(job.result.done), len(job.result.refused)
    return f"Last: {done:,} promoted" + (f", {refused:,} refused" if refused else "")


def _name(library: Library, address: str) -> str:
    try:
        return library.get(address).name
    except LookupError:
        return address
