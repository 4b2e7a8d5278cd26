"""Search results: the same grid, with sliders that rank anew in the page."""

from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from components.grid.actions import Action
from components.grid.cards import card
from components.grid.grid import mount, sent
from components.grid.ledger import Handler
from store.errors import UnknownRecord
from store.library import Library
from store.records import FACETS, Facet
from store.search import Results


def show_results(
    key: str,
    library: Library,
    results: Results,
    *,
    weights: Mapping[Facet, float],
    shown: int,
    actions: Sequence[Action],
    among: Collection[str] | None = None,
    handlers: Mapping[str, Handler] | None = None,
) -> None:
    """Show the best `shown` records for the sliders' weights, ranked in the page from all similarities.

    `results.hits` may hold more than `shown`: cards that a movement of the sliders is likely to need.
    `among`: the addresses that may be results, where a filter or an example leaves some out.
    """
    ranked = _ranked(key, results, among)
    rows = ranked["rows"]
    cards = []
    for hit in results.hits:
        try:
            record = library.get(hit.address)
        except UnknownRecord:  # gone since the search
            continue
        if hit.address in rows:
            cards.append({**card(library, record), "row": rows[hit.address], "facets": True})
    data: dict[str, Any] = {
        "cards": cards,
        "ranking": {
            "query": ranked["id"],
            "means": [None if np.isnan(mean) else float(mean) for mean in results.means],
            "weights": {facet: weights.get(facet, 0.0) for facet in FACETS},
            "top": shown,
        },
    }
    if sent(key).get("knows") != ranked["id"]:  # 200 kB for 10,000 records, sent once for each query
        data["similarities"] = ranked["table"]
    mount(key, library, data, actions=actions, handlers=handlers or {})


def chosen_weights(key: str) -> dict[Facet, float] | None:
    """Where the sliders of this grid were left; None before anybody moved them."""
    weights = sent(key).get("weights")
    if not isinstance(weights, Mapping):
        return None
    values = {facet: weights.get(facet, 0) for facet in FACETS}
    usable = all(
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 10
        for value in values.values()
    )
    return {facet: float(value) for facet, value in values.items()} if usable else None


def _ranked(key: str, results: Results, among: Collection[str] | None) -> dict[str, Any]:
    """The rows that may be shown, by address so that equal scores stand in the server's order; kept."""
    allowed = None if among is None else frozenset(among)
    digest = blake2b(results.similarities.tobytes(), digest_size=12)
    digest.update(np.asarray(results.means).tobytes())
    digest.update("\n".join(results.addresses).encode())
    digest.update(b"" if allowed is None else "\n".join(sorted(allowed)).encode())
    kept = st.session_state.get(f"{key}.ranked")
    if kept and kept["id"] == digest.hexdigest():
        return kept
    order = sorted(
        (row for row, address in enumerate(results.addresses) if allowed is None or address in allowed),
        key=results.addresses.__getitem__,
    )
    similarities = results.similarities[order]
    table = pa.table({facet: np.ascontiguousarray(similarities[:, at]) for at, facet in enumerate(FACETS)})
    rows = {results.addresses[row]: at for at, row in enumerate(order)}
    ranked = {"id": digest.hexdigest(), "rows": rows, "table": table}
    st.session_state[f"{key}.ranked"] = ranked
    return ranked
