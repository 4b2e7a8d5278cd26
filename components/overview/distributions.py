"""Distributions of a library: tags, categories, caption lengths, similarity."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from components.editor.facets import PURPOSES
from components.shell import charts, resources
from store.catalog.filters import Filter
from store.errors import MemedexError
from store.evaluation import similarity
from store.library import Library
from store.reading import statistics
from store.reading.statistics import CaptionLengths
from store.records import FACETS, Facet
from store.settings import settings

if TYPE_CHECKING:
    import pandas as pd

    from store.embedding.arrays import Vector

_MOST = 15  # tags or categories that are drawn
_CLASS = 0.05  # of cosines
_NEAREST, _CHANCE = "Nearest coin", "Any two coins"


def show(library: Library) -> None:
    """A section with four charts, drawn once it is opened."""
    drawer = st.expander("Distributions", icon=":material/bar_chart:", on_change="rerun", key="distributions")
    if not drawer.open:
        return
    with drawer:
        grid = st.grid(2, min_column_width=320, gap=("small", "large"))
        with grid.cell():
            _labels("tags", library.tag_counts(Filter(tier="library")))
        with grid.cell():
            _labels("categories", library.category_counts(Filter(tier="library")))
        with grid.cell():
            caption_lengths(library)
        with grid.cell():
            similarity_of_coins(library)


def _labels(what: str, counts: dict[str, int]) -> None:
    if not counts:
        st.caption(f"No coin of the library has {what} yet.")
        return
    shown = ranking(counts)
    st.caption(
        f"The {_MOST} most frequent of {len(counts):,} {what}" if len(counts) > _MOST else what.title()
    )
    charts.show(
        charts.ranked(shown, title="Coins"), key=f"chart-{what}", alt=f"How many coins have which {what}"
    )


def ranking(counts: dict[str, int]) -> "pd.DataFrame":
    """The most frequent labels with their counts: columns name and count."""
    import pandas as pd

    return pd.DataFrame(list(counts.items())[:_MOST], columns=["name", "count"])


def caption_lengths(library: Library) -> None:
    """A chart of how long the captions of the library are, by facet."""
    found = _lengths(library, settings().root, library.generation)
    if not found:
        st.caption("No coin of the library has a caption yet.")
        return
    st.caption("Length of captions")
    colors = charts.in_colors([purpose.label for purpose in PURPOSES.values()])
    figure = charts.classes(
        lengths(found), x="Characters", y="Captions", colors=colors, width=statistics.LENGTH
    )
    charts.show(figure, key="chart-lengths", alt="How many captions of each facet have how many characters")


@st.cache_data(show_spinner=False, max_entries=4)
def _lengths(_library: Library, root: Path, generation: int) -> list[CaptionLengths]:
    return statistics.caption_lengths(_library)


def lengths(found: list[CaptionLengths]) -> "pd.DataFrame":
    """The histogram of caption lengths by facet: columns kind, start and value."""
    import pandas as pd

    frame = pd.DataFrame(found, columns=CaptionLengths._fields)
    table = frame.pivot_table(index="start", columns="facet", values="texts", aggfunc="sum", fill_value=0)
    table = table.reindex(
        range(0, int(frame["start"].max()) + statistics.LENGTH, statistics.LENGTH), fill_value=0
    )
    rows = table.rename_axis(columns="kind").stack().rename("value").reset_index()
    return rows.assign(kind=rows["kind"].map(lambda facet: PURPOSES[facet].label))


def similarity_of_coins(library: Library) -> None:
    """A chart of how similar coins are in a facet that is chosen above it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            "Similarity of coins",
            width="content",
            help=f"Cosines of {similarity.SAMPLE} coins, always the same, with the most similar other coin "
            "of the library, and with each other. Where both meet, the facet hardly tells coins apart.",
        )
        facet = st.selectbox(
            "Facet",
            FACETS,
            index=FACETS.index("entity"),
            key="similarity-facet",
            width=140,
            format_func=lambda facet: PURPOSES[facet].label if facet in PURPOSES else "Picture",
            label_visibility="collapsed",
        )
    try:
        resources.ready_to_search(library)
        found = _similarities(library, settings().root, library.generation, library.model, facet)
    except MemedexError as error:
        st.error("The vectors could not be compared:", icon=":material/error:")
        st.text(str(error))
        return
    if found is None:
        st.caption("Fewer than three coins of the library have this facet: there is nothing to compare.")
        return
    figure = charts.classes(
        found,
        x="Cosine",
        y="Share",
        width=_CLASS,
        percent=True,
        colors={_NEAREST: charts.ACCENT, _CHANCE: charts.QUIET},
    )
    charts.show(
        figure, key="chart-similarity", alt="How similar coins are to the nearest other, and to any other"
    )


@st.cache_data(show_spinner="Comparing coins …", max_entries=8)
def _similarities(
    _library: Library, root: Path, generation: int, model: str, facet: Facet
) -> "pd.DataFrame | None":
    found = similarity.similarities(_library.snapshot(), facet)
    return None if found is None else cosines({_NEAREST: found.nearest, _CHANCE: found.by_chance})


def cosines(of: "dict[str, Vector]") -> "pd.DataFrame":
    """The histogram of cosines by kind, as shares: columns kind, start and value."""
    import pandas as pd

    classes = {
        kind: np.floor(np.clip(found, -1, 1 - 1e-6) / _CLASS).astype(int) for kind, found in of.items()
    }
    first = min(int(found.min()) for found in classes.values())
    last = max(int(found.max()) for found in classes.values())
    frames = [
        pd.DataFrame(
            {
                "kind": kind,
                "start": np.arange(first, last + 1) * _CLASS,
                "value": np.bincount(found - first, minlength=last - first + 1) / len(found),
            }
        )
        for kind, found in classes.items()
    ]
    return pd.concat(frames, ignore_index=True)
