"""Parameters of a page's address for its controls."""

import math

import streamlit as st

_IS_READ = "memedex.address"
# What controls were called in earlier links, by the end of the control's name in the address.
_RENAMED = {
    ("view", "Probe"): "Test retrieval",
    ("view", "Model's view"): "Prompt preview",
    ("view", "Health"): "Status",
    ("_sort", "Moved"): "Recently moved",
    ("map_by", "Neighbours"): "t-SNE",
    ("map_of", "fused"): "All facets",
}


def tidy() -> None:
    """Once for each visit: rename earlier parameters, and remove values that Streamlit's controls reject.

    These are an empty value and an infinite number; controls ignore other unknown values themselves.
    """
    if _IS_READ in st.session_state:
        return
    st.session_state[_IS_READ] = True
    parameters = {name: st.query_params.get_all(name) for name in st.query_params}
    nonsense = [name for name, values in parameters.items() if any(map(_is_nonsense, values))]
    for name in nonsense:
        del st.query_params[name]
    renamed = {
        name: now
        for name, values in parameters.items()
        for (ending, before), now in _RENAMED.items()
        if name.endswith(ending) and values == [before]
    }
    st.query_params.update(renamed)
    if nonsense or renamed:
        st.rerun()


def _is_nonsense(value: str) -> bool:
    try:
        return not value or math.isinf(float(value))
    except ValueError:
        return False
