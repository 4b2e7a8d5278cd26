"""Captions that want a second look, each one click from its editor, and the way back."""

import streamlit as st

from components import caption_picker, caption_views, resources
from components.caption_picker import Picked
from components.editor.facets import PURPOSES
from components.editor.rows import Row, show_rows
from store.captions.checkup import KINDS, Finding, Kind
from store.library import Library

_KIND, _ORDER = "caption-check", "caption-check-order"
_PER_PAGE = 100
_LABELS: dict[Kind, tuple[str, str]] = {
    "picture": (
        "At odds with the picture",
        "The tenth of all captions whose entity and picture agree least, the lowest first.",
    ),
    "lacking": ("Lacks a facet", "Without entity and context a coin cannot be promoted."),
    "unwritten": ("Optional, not written", "Write it, or declare that there is nothing to say."),
    "short": ("Too short", "Fewer than four words (two for visual and emotions) tell little from others."),
    "long": ("Beyond the model", "Read in several windows that are averaged: each detail counts for less."),
    "repeated": ("Repeats", "Four fifths of the words or more stand elsewhere, too."),
    "tags": ("Unknown tags", "Tags that the taxonomy does not have, or not any more."),
}


def show(library: Library) -> None:
    """How many there are of each kind, and those of the chosen one."""
    with st.spinner("Looking through all captions …"):
        found = resources.check_up().findings(resources.taxonomy())
    kinds = [kind for kind in KINDS if found[kind]]
    if not kinds:
        st.success("Nothing wants a second look.", icon=":material/check_circle:")
        return
    linked = st.query_params.get("kind")
    st.session_state.setdefault(_KIND, linked)
    if st.session_state[_KIND] not in kinds:
        st.session_state[_KIND] = kinds[0]
    kind: Kind = st.segmented_control(
        "What to look for", kinds, key=_KIND, required=True, label_visibility="collapsed",
        format_func=lambda each: f"{_LABELS[each][0]} · {_coins(found[each]):,}",
    )  # fmt: skip
    st.query_params["kind"] = kind
    if resources.status(library).model_status != "ready":
        st.caption("Pictures are compared, and tokens counted, once the model is ready.")
    pages = -(-len(found[kind]) // _PER_PAGE)
    page = st.pagination(pages, key=f"{_KIND}-page-{kind}", width=250) if pages > 1 else 1
    st.caption(_LABELS[kind][1])
    some = found[kind][(page - 1) * _PER_PAGE : page * _PER_PAGE]
    rows = [_row(library, finding) for finding in some]

    def go(address: str) -> None:
        st.session_state[_ORDER] = kind, _order(found[kind])
        st.query_params.pop("kind", None)
        st.query_params["check"] = kind
        caption_picker.go(address)
        caption_views.turn_to("Write")

    show_rows(f"check-{kind}", library, rows, go=go, choose=False)


def is_going_on() -> bool:
    """Whether the editor was opened from this list."""
    return st.query_params.get("check") in KINDS


def pick(library: Library) -> Picked | None:
    """The chosen record among those of the list it was opened from, as the list was then."""
    record = caption_picker.linked_to(library)
    if record is None:
        return None
    kind: Kind = next(each for each in KINDS if each == st.query_params["check"])
    kept = st.session_state.get(_ORDER)
    if not kept or kept[0] != kind:  # a link, or a reload
        kept = kind, _order(resources.check_up().findings(resources.taxonomy())[kind])
        st.session_state[_ORDER] = kept
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button("Back to the list", icon=":material/arrow_back:", on_click=_back, args=(kind,))
        return caption_picker.browse(library, record, kept[1], bare=set(kept[1]), title=_LABELS[kind][0])


def _back(kind: Kind) -> None:
    st.query_params.pop("check", None)
    st.session_state[_KIND] = kind
    caption_views.turn_to("Check up")


def _order(findings: list[Finding]) -> list[str]:
    return list(dict.fromkeys(finding.address for finding in findings))


def _coins(findings: list[Finding]) -> int:
    return len({finding.address for finding in findings})


def _row(library: Library, finding: Finding) -> Row:
    record = library.get(finding.address)
    text = record.caption.get(finding.facet, "") if finding.facet else ", ".join(record.tags)
    return Row(
        key=f"{finding.address} {finding.facet} {finding.other}",
        record=record,
        label=PURPOSES[finding.facet].label if finding.facet and text else "",
        why=finding.why,
        text=text,
        other=library.get(finding.other) if finding.other else None,
    )
