"""Figures of how captions, similarities and search quality are spread; each bar leads to its coins."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from components.editor.facets import PURPOSES
from components.insights import figures
from components.shell import format
from components.shell.page import charts
from components.shell.session import resources
from store import FacetLength, Filter, Library, MemedexError
from store.evaluation import similarity
from store.reading import statistics
from store.records import CAPTION_FACETS, FACETS, Facet
from store.settings import settings

if TYPE_CHECKING:
    from store.embedding import Vector

_LENGTHS, _SIMILARITY = "insights-lengths", "insights-similarity"
_GAIN = 0.1  # of nDCG, the width of a class
CLASS = 0.05  # of cosines
NEAREST, CHANCE = "Nearest coin", "Any two coins"
SIMILARITY_COLORS = {NEAREST: charts.ACCENT, CHANCE: charts.QUIET}
ABOUT_SIMILARITY = (
    f"Cosines of {similarity.SAMPLE} coins, always the same, with the most similar other coin of the "
    "library, and with each other. Where both meet, that text hardly tells coins apart."
)


def caption_lengths(library: Library) -> None:
    """How long the library's captions are, of a facet that is chosen next to the title."""
    facet = _facet(_LENGTHS)
    choose = partial(choose_facet, f"{_LENGTHS}-facet", CAPTION_FACETS)
    found = [one for one in counted_lengths(library) if one.facet == facet]
    if not found:
        choose()
        st.caption("No coin of the library has this caption yet.")
        return
    color = dict(zip(PURPOSES, charts.COLORS, strict=False))[facet]
    figure = charts.classes(
        lengths(found, facet),
        x="Characters",
        y="Captions",
        colors={PURPOSES[facet].label: color},
        width=statistics.LENGTH,
    )
    figures.show(
        figure, title="Length of captions", key=_LENGTHS, control=choose,
        alt="How many captions have how many characters",
    )  # fmt: skip


def lengths(found: Sequence[statistics.CaptionLengths], facet: Facet) -> list[charts.Class]:
    """One facet's captions by length, each class with the line of its coins."""
    classes = []
    for one in found:
        last = one.start + statistics.LENGTH - 1
        # From 1: coins without this caption have 0 characters, and are not counted.
        filter = Filter(tier="library", lengths=(FacetLength(facet, max(1, one.start), last),))
        text = f"{format.counted(one.texts, 'caption')} of {one.start} to {last} characters"
        label = PURPOSES[facet].label
        classes.append(charts.Class(label, one.start, one.texts, text, figures.line_of(filter)))
    return classes


def similarity_of_coins(library: Library) -> None:
    """How similar coins are to the nearest other, in a facet that is chosen next to the title."""
    facet = _facet(_SIMILARITY)
    choose = partial(choose_facet, f"{_SIMILARITY}-facet", FACETS)
    found = compared(library, facet)
    if found is None:
        choose()
        return
    figure = charts.classes(
        similarities(found), x="Cosine", y="Share", colors=SIMILARITY_COLORS, width=CLASS, form="share"
    )
    figures.show(
        figure, title="Similarity of coins", key=_SIMILARITY, control=choose,
        alt="How similar coins are to the nearest other, and to any other",
        about=f"{ABOUT_SIMILARITY} A click on a bar of the nearest coins opens these coins; "
        "the other bars count pairs.",
        coins=nearest_coins(library, found),
    )  # fmt: skip


def similarities(found: similarity.SimilaritySample) -> list[charts.Class]:
    """The shares of both kinds of cosines by class; those of nearest coins have the name of their coins."""
    coins = _nearest_coins(found)
    classes = []
    for kind, cosines in ((NEAREST, found.nearest), (CHANCE, found.by_chance)):
        for number, value in shares(cosines).items():
            name, start = _name(number), number * CLASS
            is_found = kind == NEAREST and name in coins
            count = f" ({format.counted(len(coins[name]), 'coin')})" if is_found else ""
            text = f"{kind}: {value:.0%}{count}, cosine {start:.2f} to {start + CLASS:.2f}"
            classes.append(
                charts.Class(kind, start, value, text, f"{figures.NAMED}{name}" if is_found else "")
            )
    return classes


def nearest_coins(library: Library, found: similarity.SimilaritySample) -> figures.Coins | None:
    """The lines that find the coins of a class by its name; None for viewers."""
    return _stored(library, _nearest_coins(found))


def query_gains(
    library: Library, gains: NDArray[np.float64], answers: Sequence[Sequence[str]], *, k: int
) -> None:
    """How many queries reach which nDCG@k; `answers` are the relevant coins of each query."""
    classes = classes_of_gains(gains)
    coins = {
        _name(number): [
            address for at in np.flatnonzero(classes == number).tolist() for address in answers[at]
        ]
        for number in set(classes.tolist())
    }
    figure = charts.classes(
        query_classes(gains, coins), x=f"nDCG@{k}", y="Share of queries", width=_GAIN, form="share",
        colors={"Best setting": charts.ACCENT},
    )  # fmt: skip
    figures.show(
        figure, title=f"Distribution of nDCG@{k} over the queries", key="insights-gains",
        alt="How many queries reach which nDCG with the best setting",
        about="A click on a bar opens the coins that these queries should find.",
        coins=_stored(library, coins),
    )  # fmt: skip


def query_classes(gains: NDArray[np.float64], coins: Mapping[str, Sequence[str]]) -> list[charts.Class]:
    """The share of queries in each class of nDCG, with the name of the coins that they should find."""
    counts = np.bincount(classes_of_gains(gains), minlength=round(1 / _GAIN))
    classes = []
    for number, queries in enumerate(counts.tolist()):
        start, asked = number * _GAIN, "query" if queries == 1 else "queries"
        line = f"{figures.NAMED}{_name(number)}" if coins.get(_name(number)) else ""
        text = f"{queries} {asked}, nDCG {start:.1f} to {start + _GAIN:.1f}"
        classes.append(charts.Class("Best setting", start, queries / len(gains), text, line))
    return classes


def classes_of_gains(gains: NDArray[np.float64]) -> NDArray[np.int64]:
    """The class of each nDCG by its number from 0; 1 belongs to the last class."""
    return np.minimum(np.asarray(gains / _GAIN + 1e-9, dtype=np.int64), round(1 / _GAIN) - 1)


def _nearest_coins(found: similarity.SimilaritySample) -> dict[str, list[str]]:
    coins: dict[str, list[str]] = {}
    numbers = classes_of(found.nearest).tolist()
    for address, number in zip(found.addresses, numbers, strict=True):
        coins.setdefault(_name(number), []).append(address)
    return coins


def _name(number: int) -> str:
    return f"class {number}"


def _stored(library: Library, coins: Mapping[str, Sequence[str]]) -> figures.Coins | None:
    return figures.stored(library, lambda name: coins.get(name, ()))


def _facet(key: str) -> Facet:
    chosen = st.session_state.get(f"{key}-facet")
    return chosen if chosen in FACETS else "entity"


def counted_lengths(library: Library) -> list[statistics.CaptionLengths]:
    """How many captions of the library have which length, cached until the library changes."""
    return _lengths(library, settings().root, library.generation)


@st.cache_data(show_spinner=False, max_entries=4)
def _lengths(_library: Library, root: Path, generation: int) -> list[statistics.CaptionLengths]:
    return statistics.caption_lengths(_library)


def choose_facet(key: str, facets: Sequence[Facet]) -> Facet:
    """The field for the facet that a chart is about; "entity" at first."""
    return st.selectbox(
        "Picture or caption",
        facets,
        index=list(facets).index("entity"),
        key=key,
        width=140,
        format_func=lambda facet: PURPOSES[facet].label if facet in PURPOSES else "Picture",
        label_visibility="collapsed",
    )


def compared(library: Library, facet: Facet) -> similarity.SimilaritySample | None:
    """The cosines of a sample, cached until the library changes; None, with the reason shown, without any."""
    try:
        resources.ready_to_search(library)
        found = _similarities(library, settings().root, library.generation, library.model, facet)
    except MemedexError as error:
        st.error("The vectors could not be compared:", icon=":material/error:")
        st.text(str(error))
        return None
    if found is None:
        st.caption("Fewer than three coins of the library have this: there is nothing to compare.")
    return found


@st.cache_data(show_spinner="Comparing coins …", max_entries=8)
def _similarities(
    _library: Library, root: Path, generation: int, model: str, facet: Facet
) -> similarity.SimilaritySample | None:
    return similarity.similarities(_library.snapshot(), facet)


def shares(cosines: "Vector") -> dict[int, float]:
    """The share of these cosines in each class by its number, from the first class to the last."""
    found = classes_of(cosines)
    first = int(found.min())
    counts = np.bincount(found - first) / len(found)
    return dict(enumerate(counts.tolist(), start=first))


def classes_of(cosines: "Vector") -> NDArray[np.int64]:
    """The class of each cosine, CLASS wide, by its number from 0; 1 belongs to the last one."""
    found = np.floor(np.clip(cosines, -1, 1 - 1e-6) / CLASS)
    return np.asarray(found, dtype=np.int64)
