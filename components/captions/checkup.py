"""Captions to review, each one click from its editor, and the way back."""

from typing import Literal

import streamlit as st

from components.captions import picker
from components.captions.picker import PickedRecord
from components.editor.facets import PURPOSES
from components.editor.rows import EditorRow, show_rows
from components.grid.actions import CAPTION, LIKE
from components.grid.cards import Mark
from components.grid.grid import show_cards
from components.shell import format
from components.shell.page import tables, views
from components.shell.session import resources
from store import Library, MemedexError, Record
from store.captioning import CaptionFinding, checkup
from store.evaluation import similarity
from store.settings import settings

_KIND, _ORDER = "caption-check", "caption-check-order"
_LISTED = "captions_kind"  # in the address; not "kind", which only Memory may set
_PER_PAGE = 100
_Listed = checkup.Kind | Literal["fit"]  # the latter is every coin of the library, by its fit
_LABELS: dict[checkup.Kind, tuple[str, str]] = {
    "picture": (
        "Caption vs picture",
        "Captions that fit their picture worse than most captions of other coins would, the lowest first.",
    ),
    "lacking": ("Missing caption", "Without entity and context a coin cannot be promoted."),
    "unwritten": ("Optional texts empty", "Write them, or choose “Leave empty”."),
    "short": ("Too short", "Fewer than four words (two for visual and emotions) do not distinguish a coin."),
    "long": (
        "Longer than the model reads",
        "Read in several windows that are averaged: each detail counts for less.",
    ),
    "repeated": ("Repeats", "Shares at least 80 % of its words with another caption."),
    "tags": ("Unknown tags", "Tags that the taxonomy does not have, or not any more."),
}
_CARDS = 60


def show(library: Library) -> None:
    """How many there are of each kind, and those of the chosen kind, or the whole library by its fit."""
    with st.spinner("Checking all captions …"):
        found = resources.check_up().findings(resources.taxonomy())
    kinds: list[_Listed] = [*(kind for kind in checkup.KINDS if found[kind]), "fit"]
    if len(kinds) == 1:
        st.success("No captions need attention.", icon=":material/check_circle:")
    st.session_state.setdefault(_KIND, st.query_params.get(_LISTED))
    if st.session_state[_KIND] not in kinds:
        st.session_state[_KIND] = kinds[0]
    kind: _Listed = st.segmented_control(
        "What to look for", kinds, key=_KIND, required=True, label_visibility="collapsed",
        format_func=lambda one: (
            "All by fit" if one == "fit" else f"{_LABELS[one][0]} · {_coins(found[one]):,}"
        ),
    ) or kinds[0]  # fmt: skip
    st.query_params[_LISTED] = kind
    if kind == "fit":
        _by_fit(library)
        return
    if resources.status(library).model_status != "ready":
        st.caption("Pictures are compared, and tokens counted, once the model is ready.")
    elif settings().search == "server":
        st.caption("Captions are not compared with pictures while a server is searched (MEMEDEX_SEARCH).")
    page = tables.page_number(len(found[kind]), _PER_PAGE, key=f"{_KIND}-page-{kind}", width=250)
    st.caption(_LABELS[kind][1])
    some = found[kind][(page - 1) * _PER_PAGE : page * _PER_PAGE]
    rows = [_row(library, finding) for finding in some]

    def go(address: str) -> None:
        st.session_state[_ORDER] = kind, _order(found[kind])
        st.query_params.pop(_LISTED, None)
        st.query_params["check"] = kind
        picker.go(address)
        views.turn_to("Write")

    show_rows(f"check-{kind}", library, rows, go=go, choose=False)


def is_going_on() -> bool:
    """Whether the editor was opened from this list."""
    return st.query_params.get("check") in checkup.KINDS


def pick(library: Library) -> PickedRecord | None:
    """The chosen record within the list it was opened from, as the list was then."""
    record = picker.linked_to(library)
    if record is None:
        return None
    kind: checkup.Kind = next(each for each in checkup.KINDS if each == st.query_params["check"])
    order = st.session_state.get(_ORDER)
    if not order or order[0] != kind:  # a link, or a reload
        order = kind, _order(resources.check_up().findings(resources.taxonomy())[kind])
        st.session_state[_ORDER] = order
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button("Back to the list", icon=":material/arrow_back:", on_click=_back, args=(kind,))
        return picker.browse(library, record, order[1], bare=set(order[1]), title=_LABELS[kind][0])


def _back(kind: checkup.Kind) -> None:
    st.query_params.pop("check", None)
    st.session_state[_KIND] = kind
    views.turn_to("Check")


def _order(findings: list[CaptionFinding]) -> list[str]:
    return list(dict.fromkeys(finding.address for finding in findings))


def _coins(findings: list[CaptionFinding]) -> int:
    return len({finding.address for finding in findings})


def _row(library: Library, finding: CaptionFinding) -> EditorRow:
    record = library.get(finding.address)
    text = record.caption.get(finding.facet, "") if finding.facet else ", ".join(record.tags)
    return EditorRow(
        key=f"{finding.address} {finding.facet} {finding.other}",
        record=record,
        label=PURPOSES[finding.facet].label if finding.facet and text else "",
        reason=finding.reason,
        text=text,
        other=library.get(finding.other) if finding.other else None,
    )


def _by_fit(library: Library) -> None:
    """One page of them, each with its fit."""
    try:
        resources.ready_to_search(library)
        with st.spinner("Comparing every picture with its captions …"):
            found = similarity.disagreements(library.snapshot(), scale=library.embedder.cross_modal_scale)
    except MemedexError as error:
        st.error("Pictures and captions could not be compared:", icon=":material/error:")
        st.text(str(error))
        return
    if not found:
        st.info(
            f"Fewer than {similarity.FEWEST_PAIRS} coins in the library: too few to say what is unusual.",
            icon=":material/troubleshoot:",
        )
        return
    odd = sum(one.fit < similarity.AT_ODDS for one in found)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{format.counted(odd, 'caption') if odd else 'No caption'} of {len(found):,} probably belongs "
            f"to another picture (fit below {similarity.AT_ODDS:+.2f}). The lowest fit comes first.",
            width="stretch",
            help="The cosine of picture and captions, in standard deviations above what this picture reaches "
            "with the captions of other coins, and these captions with the pictures of other coins.",
        )
        page = tables.page_number(len(found), _CARDS, key="page", bind="query-params", width=250)
    fits = {one.address: one for one in found[(page - 1) * _CARDS : page * _CARDS]}
    show_cards(
        "suspicious",
        library,
        library.records(fits),
        actions=[CAPTION, LIKE],
        mark=lambda record: _mark(fits, record),
    )


def _mark(fits: dict[str, similarity.Fit], record: Record) -> Mark:
    fit = fits[record.address].fit
    return {"label": f"fit {fit:+.1f}", "tone": "bad" if fit < similarity.AT_ODDS else "quiet"}
