"""The answer: how it was found, the sliders, the results, and what can be done with one."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from components import newest, search_box, wording
from components.grid import CAPTION, DEGRADE, LIKE, chosen_weights, show_results
from components.search_box import Asked
from store.errors import BadPicture, MemedexError
from store.library import Library
from store.query import Query
from store.records import FACETS, Facet
from store.search import Results

SHOWN = 60
_AT_HAND = 3 * SHOWN  # cards that travel along, so that a moved slider finds what it brings up
_NAMED = 5
_WEIGHTS = "w"  # in the address: five numbers in the order of FACETS, where they are not the usual ones


def show(library: Library, asked: Asked) -> None:
    """Search, and show what was found; or say why nothing was."""
    kinds = sorted({part.kind for part in asked.parts})
    key = f"search-{'-'.join(kinds)}"  # each kind of question has its own weights
    usual = Query(asked.parts).sliders
    weights = chosen_weights(key) or _linked() or usual
    _link(weights, usual)
    results = _search(library, asked, weights, usual)
    if results is None:
        return
    _named(library, asked)
    _facts(results, weights, asked)
    if not results.hits and any(weights.values()):
        st.info(
            "No coin of the library passes this filter."
            if not asked.filter.is_open
            else "The library holds nothing to compare this with yet.",
            icon=":material/search_off:",
        )
        return
    show_results(
        key,
        library,
        results,
        weights=weights,
        shown=SHOWN,
        actions=[LIKE, CAPTION, DEGRADE],
        among=_among(library, asked, results),
        handlers=newest.WAYS,
    )


def _search(
    library: Library, asked: Asked, weights: Mapping[Facet, float], usual: Mapping[Facet, float]
) -> Results | None:
    """All similarities; with every weight at zero no hits, but the sliders still have what they rank."""
    asks = any(weights.values())
    query = Query(asked.parts, weights=weights if asks else usual, top=_AT_HAND, filter=asked.filter)
    try:
        with st.spinner("Searching; the first time, the model is loaded …", show_time=True):
            results = library.search(query)
    except BadPicture as error:
        search_box.refuse_picture(str(error))
        return None
    except MemedexError as error:
        st.error("This could not be searched:", icon=":material/error:")
        st.text(str(error))
        return None
    return results if asks else replace(results, hits=[])


def _among(library: Library, asked: Asked, results: Results) -> list[str] | None:
    """The addresses that may be results, where a filter or an example leaves some out."""
    examples = {part.like for part in asked.parts if part.like}
    if asked.filter.is_open and not examples:
        return None
    passing = results.addresses if asked.filter.is_open else library.addresses(asked.filter)
    return [address for address in passing if address not in examples]


def _facts(results: Results, weights: Mapping[Facet, float], asked: Asked) -> None:
    if not any(weights.values()):
        st.warning("All weights are zero, so nothing is searched. Give at least one facet a weight.")
        return
    how = "Exact" if results.exact else "Approximate"
    facts = [
        f"{how}: compared with {wording.counted(results.compared, 'coin')}",
        f"{results.seconds * 1000:,.0f} ms",
    ]
    if results.without_facets:
        facts.append(f"{results.without_facets:,} without any of these facets left out")
    facts.append(search_box.told(asked.filter))
    st.caption(" · ".join(filter(None, facts)))


def _named(library: Library, asked: Asked) -> None:
    """Coins that have these very words in name, ticker or text: vectors do not find those, words do."""
    words = next((part.text for part in asked.parts if part.text), "")
    found = library.find(replace(asked.filter, words=words), limit=_NAMED) if words else []
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption("By these words:", width="content")
        for record in found:
            label = wording.plain(
                f"{record.name} · {record.ticker}" if record.ticker else record.name, limit=28
            )
            st.page_link("pages/captions.py", label=label, query_params={"address": record.address})


def _linked() -> dict[Facet, float] | None:
    """The weights of a shared link."""
    try:
        values = [float(value) for value in st.query_params.get(_WEIGHTS, "").split(",")]
    except ValueError:
        return None
    if len(values) != len(FACETS) or not all(0 <= value <= 10 for value in values):
        return None
    return dict(zip(FACETS, values, strict=True))


def _link(weights: Mapping[Facet, float], usual: Mapping[Facet, float]) -> None:
    if dict(weights) == dict(usual):
        st.query_params.pop(_WEIGHTS, None)
    else:
        st.query_params[_WEIGHTS] = ",".join(f"{weights[facet]:g}" for facet in FACETS)
