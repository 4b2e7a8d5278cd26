"""Coins out: a selection or everything, in a form that other programs read."""

import time
from pathlib import Path

import streamlit as st

from components import jobs, wording
from store.exporting import FORMATS, JOINED, TEXTS, Exported, export
from store.jobs import Job
from store.library import Library
from store.listing import Filter
from store.progress import Progress
from store.query_line import parsed
from store.records import TIERS

_JOB = "memedex.export"
_LARGEST = 300_000_000  # bytes handed to the browser at once; what is larger is fetched from its folder
_ABOUT = {
    "reference": "Sidecars and pictures in the reference's own folders; imported again, nothing is lost.",
    "jsonl": "One line of JSON for each coin, all it holds, and the pictures.",
    "csv": "A table for spreadsheets, and the pictures.",
    "imagefolder": "What Hugging Face's datasets read: pictures and metadata.jsonl.",
    "txt": "Each picture with a text file beside it, as trainers of LoRAs expect.",
}
_PLACES = ("All but the trash", *(tier.capitalize() for tier in TIERS))


def show(library: Library) -> None:
    """What goes out and in which form; how the last export went."""
    st.subheader("Out", anchor=False)
    with st.container(border=True):
        addresses = _which(library)
        form, texts = _form()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                f"Export {wording.counted(len(addresses), 'coin')}" if addresses else "Nothing to export",
                type="primary", icon=":material/download:", disabled=not (addresses and library.can_write),
                on_click=_begin, args=(library, addresses, form, texts),
            )  # fmt: skip
            if not library.can_write:
                st.caption(
                    "On the command line, `python -m store export PATH` also works while reading only."
                )
        job = library.jobs.get(st.session_state.get(_JOB, 0))
        if job is not None and not job.is_under_way:
            _result(job)


def _which(library: Library) -> list[str]:
    left, right = st.columns([3, 4], gap="small", vertical_alignment="bottom")
    with left:
        place = st.selectbox("From", _PLACES, key="export-from")
    with right:
        line = st.text_input(
            "Filter", key="export-line", placeholder="tag:dog -tag:nsfw category:animals after:2025-01 words",
            help="As in the search line of the queues; empty for everything.",
        )  # fmt: skip
    tiers = [tier for tier in TIERS if tier != "trash"] if place == _PLACES[0] else [_tier(place)]
    found: list[str] = []
    for tier in tiers:
        asked = parsed(line or "", base=Filter(tier=tier), who=library.who)
        found += library.addresses(asked.filter)
    for fault in parsed(line or "").faults:
        st.caption(f":yellow[{wording.plain(fault, limit=200)}]")
    return found


def _tier(place: str | None) -> str:
    return (place or "library").lower()


def _form() -> tuple[str, str]:
    left, right = st.columns([3, 4], gap="small", vertical_alignment="bottom")
    with left:
        form = st.selectbox("As", FORMATS, key="export-format") or FORMATS[0]
    texts = JOINED
    with right:
        if form == "txt":
            texts = (
                st.segmented_control("Text", TEXTS, default=JOINED, required=True, key="export-texts")
                or JOINED
            )
        else:
            st.caption(_ABOUT[form])
    return form, texts


def _begin(library: Library, addresses: list[str], form: str, texts: str) -> None:
    destination = library.layout.exports / f"{form}-{time.strftime('%Y%m%d-%H%M%S')}.zip"

    def work(progress: Progress) -> Exported:
        records = [library.get(address) for address in addresses]
        return export(
            records, library.picture, destination=destination, format=form, texts=texts, progress=progress
        )

    job = jobs.run(library.jobs, f"Export {wording.counted(len(addresses), 'coin')} as {form}", work)
    st.session_state[_JOB] = job.id


def _result(job: Job) -> None:
    if job.error:
        st.error("The export stopped:", icon=":material/error:")
        st.text(job.error)
    done = job.result
    if not isinstance(done, Exported) or not done.destination.exists():
        return
    refused = f", {len(done.refused):,} refused" if done.refused else ""
    size = done.destination.stat().st_size
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if size <= _LARGEST:
            st.download_button(
                f"Download {wording.size(size)}", lambda: _content(done.destination), done.destination.name,
                "application/zip", icon=":material/save_alt:", on_click="ignore",
            )  # fmt: skip
        st.caption(f"{wording.counted(len(done.done), 'coin')}{refused}. It lies in")
        st.code(str(done.destination), language=None)
    for refusal in done.refused[:50]:
        st.text(f"{refusal.item}: {refusal.reason}")


def _content(path: Path) -> bytes:
    return path.read_bytes()
