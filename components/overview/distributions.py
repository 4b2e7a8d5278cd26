"""Distributions of a library: tags, categories, caption lengths, similarity."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from components.editor.facets import PURPOSES
from components.shell.page import charts
from components.shell.session import resources
from store import Filter, Library, MemedexError
from store.evaluation import similarity
from store.reading import statistics
from store.records import FACETS, Facet
from store.settings import settings

if TYPE_CHECKING:
    import pandas as pd

    from store.embedding import Vector

_MOST = 15  # tags or categories that are drawn
CLASS = 0.05  # of cosines
NEAREST, CHANCE = "Nearest coin", "Any two coins"
SIMILARITY_COLORS = {NEAREST: charts.ACCENT, CHANCE: charts.QUIET}
ABOUT_SIMILARITY = (
    f"Cosines of {similarity.SAMPLE} coins, always the same, with the most similar other coin of the "
    "library, and with each other. Where both meet, the facet hardly tells coins apart."
)


def show(library: Library) -> None:
    """A section with four charts, drawn once it is opened."""
    drawer = st.expander("Distributions", icon=":material/bar_chart:", on_change="rerun", key="distributions")
    if not drawer.open:
        return
    with drawer:
        grid = st.grid(4, min_column_width=320, gap=("small", "large"))
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
    found = counted_lengths(library)
    if not found:
        st.caption("No coin of the library has a caption yet.")
        return
    st.caption("Length of captions")
    colors = charts.in_colors([purpose.label for purpose in PURPOSES.values()])
    figure = charts.classes(
        lengths(found), x="Characters", y="Captions", colors=colors, width=statistics.LENGTH
    )
    charts.show(figure, key="chart-lengths", alt="How many captions of each facet have how many characters")


def counted_lengths(library: Library) -> list[statistics.CaptionLengths]:
    """How many captions of the library have which length, cached until the library changes."""
    return _lengths(library, settings().root, library.generation)


@st.cache_data(show_spinner=False, max_entries=4)
def _lengths(_library: Library, root: Path, generation: int) -> list[statistics.CaptionLengths]:
    return statistics.caption_lengths(_library)


def lengths(found: list[statistics.CaptionLengths]) -> "pd.DataFrame":
    """The histogram of caption lengths by facet: columns kind, start and value."""
    import pandas as pd

    frame = pd.DataFrame(found, columns=statistics.CaptionLengths._fields)
    table = frame.pivot_table(index="start", columns="facet", values="texts", aggfunc="sum", fill_value=0)
    table = table.reindex(
        range(0, int(frame["start"].max()) + statistics.LENGTH, statistics.LENGTH), fill_value=0
    )
    rows = table.rename_axis(columns="kind").stack().rename("value").reset_index()
    return rows.assign(kind=rows["kind"].map(lambda facet: PURPOSES[facet].label))


def similarity_of_coins(library: Library) -> None:
    """A chart of how similar coins are in a facet that is chosen above it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Similarity of coins", width="content", help=ABOUT_SIMILARITY)
        facet = choose_facet("similarity-facet", FACETS)
    found = compared(library, facet)
    if found is None:
        return
    figure = charts.classes(
        cosines({NEAREST: found.nearest, CHANCE: found.by_chance}),
        x="Cosine",
        y="Share",
        width=CLASS,
        percent=True,
        colors=SIMILARITY_COLORS,
    )
    charts.show(
        figure, key="chart-similarity", alt="How similar coins are to the nearest other, and to any other"
    )


def choose_facet(key: str, facets: Sequence[Facet]) -> Facet:
    """The field for the facet that a chart is about; "entity" at first."""
    return st.selectbox(
        "Facet",
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
        st.caption("Fewer than three coins of the library have this facet: there is nothing to compare.")
    return found


@st.cache_data(show_spinner="Comparing coins …", max_entries=8)
def _similarities(
    _library: Library, root: Path, generation: int, model: str, facet: Facet
) -> similarity.SimilaritySample | None:
    return similarity.similarities(_library.snapshot(), facet)


def cosines(of: "dict[str, Vector]") -> "pd.DataFrame":
    """The histogram of cosines by kind, as shares: columns kind, start and value."""
    import pandas as pd

    classes = {kind: classes_of(found) for kind, found in of.items()}
    first = min(int(found.min()) for found in classes.values())
    last = max(int(found.max()) for found in classes.values())
    frames = [
        pd.DataFrame(
            {
                "kind": kind,
                "start": np.arange(first, last + 1) * CLASS,
                "value": np.bincount(found - first, minlength=last - first + 1) / len(found),
            }
        )
        for kind, found in classes.items()
    ]
    return pd.concat(frames, ignore_index=True)


def classes_of(cosines: "Vector") -> NDArray[np.int64]:
    """The class of each cosine, CLASS wide, by its number from 0; 1 belongs to the last one."""
    found = np.floor(np.clip(cosines, -1, 1 - 1e-6) / CLASS)
    return np.asarray(found, dtype=np.int64)
