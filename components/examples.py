"""Which coins a generator is given: those nearest to a question, or chosen ones, in an order of one's own."""

import streamlit as st

from components import search_link, search_terms, wording
from components.grid import Entry, Handler, lead_to
from store.context import EXAMPLES
from store.errors import InvalidRecord, MemedexError
from store.filter import Filter
from store.library import Library
from store.records import FACETS, Record
from store.search import question
from store.search.query import MAX_TOP, Query
from store.search.ranking import folded

PAGE = "pages/generate.py"
MOST = 50
_QUESTION, _PICKED, _FOLDED = "gen_q", "gen_pick", "gen_fold"  # in the address


def bring(line: str) -> Handler:
    """A grid's handler: go on with what was chosen among the results of this question."""

    def handler(entry: Entry) -> None:
        if entry.addresses:
            lead_to(PAGE, **{_QUESTION: line, _PICKED: ",".join(entry.addresses[:MOST])})

    return handler


def link(line: str, *, folded: bool) -> None:
    """The way from results to the page: the first of them, by the same weights, copies folded if they are."""
    st.page_link(
        PAGE, label="To the model", icon=":material/auto_awesome:",
        query_params={_QUESTION: line, **search_link.ranking(), **({_FOLDED: "true"} if folded else {})},
    )  # fmt: skip


def ask() -> str:
    """What should be made, which is also what is searched for."""
    line = st.text_input(
        "What should be made", key=_QUESTION, bind="query-params", icon=":material/search:", type="search",
        placeholder="dog with sunglasses in cyberpunk style", label_visibility="collapsed",
    )  # fmt: skip
    return (line or "").strip()


def is_picked() -> bool:
    """Whether coins were chosen by hand, rather than the nearest."""
    return bool(st.query_params.get(_PICKED))


def how_many() -> int:
    """Of the nearest; what was chosen by hand is given whole."""
    top = st.number_input(
        "Examples", 1, MOST, EXAMPLES, key="gen_top", bind="query-params", width=120, disabled=is_picked()
    )
    return int(top or EXAMPLES)


def once() -> None:
    """Whether of several copies of a coin only the nearest is given; the address says so."""
    st.toggle("Fold copies", key=_FOLDED, bind="query-params", disabled=is_picked())


def chosen(library: Library, line: str, *, top: int) -> list[Record]:
    """The coins in their order, each with the buttons that change it; InvalidRecord for no question."""
    picked = [one for one in st.query_params.get(_PICKED, "").split(",") if one][:MOST]
    records = [found for one in picked if (found := _known(library, one))]
    if picked:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{wording.counted(len(records), 'coin')} chosen", width="content")
            if len(records) < len(picked):
                st.caption(f":orange[{len(picked) - len(records)} not here any more]", width="content")
            st.button(
                "The nearest instead", type="tertiary", icon=":material/close:", on_click=_order, args=([],)
            )
    elif line:
        records = list(library.records(_nearest(library, line, top=top)))
    _strip(library, records)
    return records


def _nearest(library: Library, line: str, *, top: int) -> list[str]:
    asked = question.read(line, base=Filter(tier="library"), who=library.who)
    parts, faults = search_terms.parts_of(library, asked)
    if faults or not parts:
        raise InvalidRecord(faults[0] if faults else "say what the coin should be about, not only a filter")
    weights = search_link.weights()
    calibrated = "calibrated" in search_link.ranking() and library.calibration.in_force() is not None
    if weights:
        told = " · ".join(f"{facet} {weights[facet]:g}" for facet in FACETS if weights[facet])
        st.caption(f"Nearest by the weights of the search: {told}{', calibrated' if calibrated else ''}")
    groups = library.duplicates.groups() if st.session_state.get(_FOLDED) else {}
    enough = min(MAX_TOP, top + len(groups))  # also when all copies are among the first
    query = Query(parts, weights=weights, top=enough, filter=asked.filter, calibrated=calibrated)
    return [hit.address for hit in folded(library.search(query).hits, groups)[:top]]


def _known(library: Library, address: str) -> Record | None:
    """A coin that can be given: what was thrown away since it was chosen is not."""
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
                if (picture := library.picture(record.address)).exists():
                    st.image(picture, width=104, alt=f"Picture of {record.name}")
                st.caption(f"{place + 1} · {wording.plain(record.name, limit=11)}")
                if record.tier != "library":  # chosen by hand, or degraded since
                    st.caption(f":orange[{record.tier}]")
                with st.container(horizontal=True, gap="xxsmall"):
                    earlier = [*addresses]
                    earlier.insert(max(place - 1, 0), earlier.pop(place))
                    st.button(
                        "", icon=":material/arrow_back:", key=f"gen-earlier-{record.address}",
                        type="tertiary", help="Earlier", disabled=not place, on_click=_order, args=(earlier,),
                    )  # fmt: skip
                    st.button(
                        "", icon=":material/close:", key=f"gen-without-{record.address}", type="tertiary",
                        help="Leave out", on_click=_order,
                        args=([one for one in addresses if one != record.address],),
                    )  # fmt: skip


def _order(addresses: list[str]) -> None:
    """From now on these, in this order; without any, the nearest to the question."""
    if addresses:
        st.query_params[_PICKED] = ",".join(addresses)
    else:
        st.query_params.pop(_PICKED, None)
