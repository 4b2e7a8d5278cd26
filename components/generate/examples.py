"""The examples for a generator: nearest to a question, or selected by hand and in one's own order."""

from collections.abc import Sequence

import streamlit as st

from components.grid import result_link
from components.grid.actions import Handler
from components.grid.grid import lead_to
from components.shell import format
from components.shell.page import places, query_pictures, thumbnails
from components.shell.session import safe_mode
from store import Filter, Library, MemedexError, Part, Query, Record
from store.errors import InvalidRecord
from store.evaluation import marks
from store.generation import context
from store.records import FACETS
from store.search import MAX_TOP, Question, folded

MOST = 50
_PICKED = "gen_pick"  # in the address


def preselect(line: str) -> Handler:
    """Grid handler: continue with the selection among the results of this question."""

    def handler(chosen: Sequence[str]) -> None:
        if chosen:
            lead_to(places.prompt({query_pictures.LINE: line, _PICKED: ",".join(chosen[:MOST])}))

    return handler


def is_picked() -> bool:
    """Whether the coins were selected by hand."""
    return bool(st.query_params.get(_PICKED))


def how_many() -> int:
    """The number of nearest examples; a selection is used whole."""
    top = st.number_input(
        "Examples",
        1,
        MOST,
        context.EXAMPLES,
        key="gen_top",
        bind="query-params",
        width=120,
        disabled=is_picked(),
    )
    return int(top or context.EXAMPLES)


def chosen(
    library: Library, question: Question, parts: Sequence[Part], *, top: int, folds: bool
) -> list[Record]:
    """The coins in order, with buttons to change it. Raises InvalidRecord for a question without meaning.

    `folds`: of several copies only the nearest.
    """
    picked = [one for one in st.query_params.get(_PICKED, "").split(",") if one][:MOST]
    records = [found for one in picked if (found := _known(library, one))]
    if picked:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{format.counted(len(records), 'coin')} chosen", width="content")
            if len(records) < len(picked):
                st.caption(f":orange[{len(picked) - len(records)} not here any more]", width="content")
            st.button(
                "The nearest instead", type="tertiary", icon=":material/close:", on_click=_order, args=([],)
            )
    elif question != Question((), Filter(tier="library")):
        records = list(library.records(_nearest(library, question, parts, top=top, folds=folds)))
    _strip(library, records)
    return records


def _nearest(
    library: Library, question: Question, parts: Sequence[Part], *, top: int, folds: bool
) -> list[str]:
    if not parts:
        raise InvalidRecord("say what the coin should be about, not only a filter")
    weights = result_link.weights()
    calibrated = "calibrated" in result_link.ranking() and library.calibration.in_force() is not None
    if weights:
        listed = " · ".join(f"{facet} {weights[facet]:g}" for facet in FACETS if weights[facet])
        st.caption(f"Nearest by the weights of the search: {listed}{', calibrated' if calibrated else ''}")
    groups = library.duplicates.groups() if folds else {}
    enough = min(MAX_TOP, top + len(groups))  # also when all copies are among the first
    query = Query(
        tuple(parts), weights=weights, top=enough, filter=question.filter, calibrated=calibrated,
        fused=result_link.linked_fusion(),
        shift=marks.shift_of_question(library, question) if result_link.linked_shift() else None,
    )  # fmt: skip
    return [hit.address for hit in folded(library.search(query).hits, groups)[:top]]


def _known(library: Library, address: str) -> Record | None:
    """The coin if it can be used: not if it was deleted since it was selected."""
    try:
        record = library.get(address)
    except MemedexError:
        return None
    return record if record.tier != "trash" else None


def _strip(library: Library, records: list[Record]) -> None:
    addresses = [record.address for record in records]
    with st.container(horizontal=True, gap="small"):
        for place, record in enumerate(records):
            with st.container(width=104, gap="xxsmall"):
                thumbnails.picture(library, record, width=104)
                st.caption(f"{place + 1} · {format.plain(safe_mode.shown(library, record).name, limit=11)}")
                if record.tier != "library":  # chosen by hand, or degraded since
                    st.caption(f":orange[{format.TIERS[record.tier]}]")
                with st.container(horizontal=True, gap="xxsmall"):
                    earlier = [*addresses]
                    earlier.insert(max(place - 1, 0), earlier.pop(place))
                    st.button(
                        "", icon=":material/arrow_back:", key=f"gen-earlier-{record.address}",
                        type="tertiary", help="Earlier", disabled=not place, on_click=_order, args=(earlier,),
                    )  # fmt: skip
                    st.button(
                        "",
                        icon=":material/close:",
                        key=f"gen-without-{record.address}",
                        type="tertiary",
                        help="Leave out",
                        on_click=_order,
                        args=([one for one in addresses if one != record.address],),
                    )


def _order(addresses: list[str]) -> None:
    """Use these in this order from now on; if empty, the nearest to the question."""
    if addresses:
        st.query_params[_PICKED] = ",".join(addresses)
    else:
        st.query_params.pop(_PICKED, None)
