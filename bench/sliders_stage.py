"""The page that `bench.sliders` measures: made-up similarities, the demo's pictures, the real component."""

import os
from dataclasses import replace
from secrets import token_hex

import streamlit as st

from bench.corpus import KnownQueryEmbedder, make
from bench.sliders_looks import StagedLibrary
from components.grid.actions import CAPTION, LIKE
from components.grid.results import ShownRanking, chosen_weights, show_results
from components.shell.session import resources, session
from store.search.query import Part, Query
from store.search.search import Search
from store.vectors.matrices import load

FLOOR = 0.2  # that of this embedder cannot be measured: it knows one question


@st.cache_resource
def searching(size: int) -> Search:
    corpus = make("clustered", size=size, dimensions=64, questions=1)
    return Search(load(corpus.rows(), dimensions=64), embedder=KnownQueryEmbedder(corpus.questions))


st.set_page_config(layout="wide")
library = resources.library()
session.begin(library)
shown = int(os.environ["BENCH_SHOWN"])
asked = st.session_state.setdefault("asked", f"0 {token_hex(4)}")  # a new query
query = Query((Part(text=asked),), weights=chosen_weights("bench"), top=shown + 120)
found = searching(int(os.environ["BENCH_SIZE"])).search(query)
results = replace(found, floor=lambda: FLOOR)
stage = StagedLibrary.of(library)
show_results(
    "bench",
    stage,
    results,
    ShownRanking(query=asked, weights=query.sliders, shown=shown),
    actions=[LIKE, CAPTION],
)
st.text(str(len(st.session_state["bench.ranked"].rows)))
