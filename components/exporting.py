"""Coins out: a selection or everything, in a form that other programs read."""

from collections.abc import Sequence

import streamlit as st

from components import jobs, state, wording
from components.grid import Entry, lead_to
from store.errors import MemedexError
from store.exporting import AT_ONCE, FORMATS, JOINED, KEPT, KIND, TEXTS, destination, remove, start, zipped
from store.filter import Filter
from store.jobs import Job
from store.library import Library
from store.query_line import parsed
from store.records import TIERS

PAGE = "pages/exchange.py"
_LARGEST = 300_000_000  # bytes handed to the browser at once; what is larger is fetched from its folder
_CHOSEN = "memedex.export.chosen"  # addresses that a grid brought along
_ABOUT = {
    "reference": "Sidecars and pictures in the reference's own folders; imported again, nothing is lost.",
    "jsonl": "One line of JSON for each coin, all it holds, and the pictures.",
    "csv": "A table for spreadsheets, and the pictures.",
    "imagefolder": "What Hugging Face's datasets read: pictures and metadata.jsonl.",
    "txt": "Each picture with a text file beside it, as trainers of LoRAs expect.",
}
_PLACES = ("All but the trash", *(tier.capitalize() for tier in TIERS))


def show(library: Library) -> None:
    """What goes out and in which form; the last exports, to be downloaded."""
    st.subheader("Out", anchor=False)
    with st.container(border=True):
        _ask_which()
        addresses = _which(library)
        number = len(addresses)
        _ask_form()
        if library.can_write:
            st.button(
                f"Export {wording.counted(number, 'coin')}" if number else "Nothing to export",
                type="primary", icon=":material/download:", disabled=not number, key="export-go",
                on_click=_begin, args=(library,),
            )  # fmt: skip
        else:
            _hand_over(library, addresses)
    over = [job for job in library.jobs.all() if job.kind == KIND.name and job.is_over][:KEPT]
    for job in over:
        _result(library, job)
    if any(destination(library.layout, job).exists() for job in over):
        place = wording.plain(str(library.layout.exports), limit=400)
        st.caption(f"The last {KEPT} are kept in {place}; an older one goes when a new one is done.")


def bring(entry: Entry) -> None:
    """A grid's handler: go on with the coins that were chosen there."""
    choose(entry.addresses)
    lead_to(PAGE)


def choose(addresses: Sequence[str]) -> None:
    """These are what the page offers to export."""
    st.session_state[_CHOSEN] = list(addresses)


def _ask_which() -> None:
    if chosen := st.session_state.get(_CHOSEN):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(f"{wording.counted(len(chosen), 'coin')} chosen", color="primary")
            st.button(
                "Choose by filter instead", type="tertiary", on_click=st.session_state.pop, args=(_CHOSEN,)
            )
        return
    left, right = st.columns([3, 4], gap="small", vertical_alignment="bottom")
    with left:
        st.selectbox("From", _PLACES, key="export-from")
    with right:
        line = st.text_input(
            "Filter", key="export-line", placeholder="tag:dog -tag:nsfw category:animals after:2025-01 words",
            help="As in the search line of the queues; empty for everything.",
        )  # fmt: skip
    for fault in parsed(line or "").faults:
        st.caption(f":yellow[{wording.plain(fault, limit=200)}]")


def _which(library: Library) -> list[str]:
    """As the controls say now: a press may come together with the last word of the filter."""
    if chosen := st.session_state.get(_CHOSEN):
        return list(chosen)
    place, line = st.session_state["export-from"], st.session_state["export-line"] or ""
    tiers = [tier for tier in TIERS if tier != "trash"] if place == _PLACES[0] else [_tier(place)]
    return [
        address
        for tier in tiers
        for address in library.addresses(parsed(line, base=Filter(tier=tier), who=library.who).filter)
    ]


def _tier(place: str | None) -> str:
    return (place or "library").lower()


def _ask_form() -> None:
    left, right = st.columns([3, 4], gap="small", vertical_alignment="bottom")
    with left:
        form = st.selectbox("As", FORMATS, key="export-format") or FORMATS[0]
    with right:
        if form == "txt":
            st.selectbox("Text", TEXTS, key="export-texts")
    st.caption(_ABOUT[form])


def _begin(library: Library) -> None:
    """Also when the filter was typed a moment before: what the controls hold by now counts."""
    try:
        jobs.watched(start(library, _which(library), who=library.who, **_form()))
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=300), icon=":material/error:")


def _hand_over(library: Library, addresses: list[str]) -> None:
    """For whoever may only look: a zip of which nothing stays here."""
    number, form = len(addresses), _form()  # asked now: who makes the zip has no session
    st.download_button(
        f"Download {wording.counted(number, 'coin')}" if number else "Nothing to export",
        lambda: zipped(library, addresses, **form), f"{form['format']}.zip", "application/zip",
        type="primary", icon=":material/download:", disabled=not 0 < number <= AT_ONCE, key="export-now",
        on_click="ignore",
    )  # fmt: skip
    if number > AT_ONCE:
        st.caption(
            f"At most {AT_ONCE:,} coins at once while reading only: choose fewer by the filter. "
            "On the command line, `python -m store export PATH` takes any number."
        )


def _form() -> dict[str, str]:
    said = st.session_state
    return {"format": said["export-format"], "texts": said.get("export-texts") or JOINED}


def _result(library: Library, job: Job) -> None:
    place = destination(library.layout, job)
    if job.state == "done" and not place.exists():
        return  # somebody tidied up
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not place.exists():
            st.badge("stopped" if job.state == "cancelled" else "failed", color="gray")
        elif (size := place.stat().st_size) <= _LARGEST:
            st.download_button(
                f"Download {wording.size(size)}", place.read_bytes, place.name, "application/zip",
                icon=":material/save_alt:", on_click="ignore", key=f"export-{job.id}",
            )  # fmt: skip
        if place.exists() and library.can_write:
            st.button(
                "Remove", type="tertiary", icon=":material/delete:", key=f"export-remove-{job.id}",
                help="The file alone; the coins stay as they are.", on_click=remove, args=(library, job),
            )  # fmt: skip
        refused = f", {job.refused:,} refused" if job.refused else ""
        told = f"{wording.plain(job.name)}{refused} · {wording.ago(job.ended_at)}"
        st.caption(f"{told} · {place.name}" if place.exists() else told)
    if job.error:
        st.text(job.error)
    for item in library.jobs.items(job.id, state="refused", limit=50):
        st.text(f"{item.key}: {item.reason}")
