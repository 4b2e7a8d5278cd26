"""Export coins, a selection or everything, in formats that other programs read."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from components.grid.filters import Drawer, mended
from components.grid.grid import lead_to
from components.shell import format
from components.shell.page import forms, job_bar, places
from components.shell.page.forms import Button
from components.shell.server import server_paths
from components.shell.session import presenter
from store import Filter, Job, Library
from store.catalog import filter_syntax
from store.exporting import FORMATS, JOINED, TEXTS
from store.records import TIERS, Tier
from store.showcase import MOST, Asked, page
from store.tasks import export

_LARGEST = 300_000_000  # bytes handed to the browser at once; what is larger is fetched from its folder
_CHOSEN = "memedex.export.chosen"  # addresses that a grid brought along
_ABOUT = {
    "reference": "JSON and picture of each coin, in folders by their place; imported again, nothing is lost.",
    "jsonl": "One line of JSON for each coin, all it holds, and the pictures.",
    "csv": "A table for spreadsheets, and the pictures.",
    "imagefolder": "What Hugging Face's datasets read: pictures and metadata.jsonl.",
    "parquet": "Parquet with the pictures inside, as Hugging Face's datasets store them.",
    "coco": "Pictures, and their captions as COCO's annotations.",
    "txt": "Each picture with its text file, as trainers of LoRAs expect.",
    "tokenlist": "A Token List by the standard's schema, and the pictures; without captions.",
}
_PLACES: dict[str, list[Tier]] = {
    "All but rejected": [tier for tier in TIERS if tier != "trash"],
    **{format.TIERS[tier]: [tier] for tier in TIERS},
}
# What the others are called, people know.
_FORMS = {
    "reference": "Original folder layout with Chroma (re-importable)",
    "parquet": "Parquet",
    "coco": "COCO captions",
    "tokenlist": "Token List",
}


def show(library: Library) -> None:
    """Choose what to export and the format; the latest exports for download."""
    st.header("Export", anchor=False)
    with st.container(border=True):
        _ask_which(library)
        addresses = _which(library)
        number = len(addresses)
        _ask_form()
        if library.can_write:
            label = f"Export {format.counted(number, 'coin')}" if number else "Nothing to export"
            begin = partial(export.start, library, addresses, actor=library.actor_name, **_form())
            forms.show(
                "export", library, job_bar.starting(begin), after_run=True,
                button=Button(label, icon="download", kind="primary", disabled=not number),
            )  # fmt: skip
        else:
            _hand_over(library, addresses)
        few = library.records(addresses) if number <= MOST else []
        promoted = [record.address for record in few if record.tier == "library"]
        saved_page(library, promoted, key="export-page")
    over = [job for job in library.jobs.all() if job.kind == export.KIND.name and job.is_over][: export.KEPT]
    for job in over:
        _result(library, job)
    if any(export.destination(library.layout, job).exists() for job in over):
        place = format.plain(server_paths.shown(library.layout.exports), limit=400)
        st.caption(f"The last {export.KEPT} are kept in {place}; an older one goes when a new one is done.")


def preselect(chosen: Sequence[str]) -> None:
    """Grid handler: continue with the selection."""
    choose(chosen)
    lead_to(places.IMPORT)


def choose(addresses: Sequence[str]) -> None:
    """Offer these coins on the export page."""
    st.session_state[_CHOSEN] = list(addresses)


def _ask_which(library: Library) -> None:
    if chosen := st.session_state.get(_CHOSEN):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(f"{format.counted(len(chosen), 'coin')} selected", color="primary")
            st.button(
                "Choose by filter instead", type="tertiary", on_click=st.session_state.pop, args=(_CHOSEN,)
            )
        return
    left, right = st.columns([3, 4], gap="small", vertical_alignment="bottom")
    with left:
        place = st.selectbox("Source", list(_PLACES), key="export-from")
    with right, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        line = st.text_input(
            "Filter", key="export-line", persist_state="session",
            placeholder="tag:dog -tag:nsfw category:animals after:2025-01 words",
            help="As in the search line of the queues; empty for everything.",
        )  # fmt: skip
        query = filter_syntax.parsed(
            presenter.revealed(line or ""), base=Filter(tier=_PLACES[place][0]), actor=library.actor_name
        )
        Drawer("export", "export-line").show(library, query.filter.among(_PLACES[place]))
    mended([*query.faults, *query.hints])


def _which(library: Library) -> list[str]:
    """The addresses to export."""
    if chosen := st.session_state.get(_CHOSEN):
        return list(chosen)
    place, line = st.session_state["export-from"], st.session_state["export-line"] or ""
    tiers = _PLACES[place]
    query = filter_syntax.parsed(
        presenter.revealed(line), base=Filter(tier=tiers[0]), actor=library.actor_name
    )
    if query.faults:  # without what was not understood, it would be far more than was meant
        return []
    return [address for tier in tiers for address in library.addresses(replace(query.filter, tier=tier))]


def _ask_form() -> None:
    left, right = st.columns([3, 4], gap="small", vertical_alignment="bottom")
    with left:
        form = (
            st.selectbox(
                "Format", FORMATS, key="export-format", format_func=lambda name: _FORMS.get(name, name)
            )
            or FORMATS[0]
        )
    with right:
        if form == "txt":
            st.selectbox("Text", TEXTS, key="export-texts")
    st.caption(_ABOUT[form])


def _hand_over(library: Library, addresses: list[str]) -> None:
    """For viewers: a zip that is not stored here."""
    number, form = len(addresses), _form()  # asked now: who makes the zip has no session
    st.download_button(
        f"Download {format.counted(number, 'coin')}" if number else "Nothing to export",
        lambda: export.zipped(library, addresses, **form), f"{form['format']}.zip", "application/zip",
        type="primary", icon=":material/download:", disabled=not 0 < number <= export.AT_ONCE,
        key="export-now", on_click="ignore",
    )  # fmt: skip
    if number > export.AT_ONCE:
        st.caption(
            f"At most {export.AT_ONCE:,} coins at once while reading only: choose fewer by the filter. "
            "On the command line, `python -m store export PATH` takes any number."
        )


def _form() -> dict[str, str]:
    fields = st.session_state
    return {"format": fields["export-format"], "texts": fields.get("export-texts") or JOINED}


def _result(library: Library, job: Job) -> None:
    place = export.destination(library.layout, job)
    if job.state == "done" and not place.exists():
        return  # it was tidied up
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not place.exists():
            st.badge("stopped" if job.state == "cancelled" else "failed", color="gray")
        elif (size := place.stat().st_size) <= _LARGEST:
            st.download_button(
                f"Download {format.size(size)}", place.read_bytes, place.name, "application/zip",
                icon=":material/save_alt:", on_click="ignore", key=f"export-{job.id}",
            )  # fmt: skip
        if place.exists() and library.can_write:
            forms.button(
                f"export-remove-{job.id}", library, partial(export.remove, library, job),
                button=Button(
                    "Remove", icon="delete", kind="tertiary",
                    help="The file alone; the coins stay as they are.",
                ),
            )  # fmt: skip
        refused = f", {job.refused:,} refused" if job.refused else ""
        summary = f"{format.plain(job.name)}{refused} · {format.ago(job.ended_at)}"
        st.caption(f"{summary} · {place.name}" if place.exists() else summary)
    if job.error:
        st.text(job.error)
    for item in library.jobs.items(job.id, state="refused", limit=50):
        st.text(f"{item.key}: {item.reason}")


def saved_page(library: Library, addresses: Sequence[str], *, key: str, asked: Asked | None = None) -> None:
    """Save the first of these coins of the library, ranked by what was asked or by likeness."""
    coins = list(addresses[:MOST])
    st.download_button(
        "Save as a file", lambda: page(library, coins, asked=asked), "memedex.html", "text/html",
        key=key, icon=":material/file_save:", type="tertiary", on_click="ignore", disabled=not coins,
        help=f"One HTML page with pictures, captions and sliders of up to {MOST} coins of the library. It "
        "works without Memedex and without internet, also from an e-mail.",
    )  # fmt: skip
