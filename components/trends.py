"""What is in fashion, as questions: "what do we have like this?"."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from store.errors import BadPicture
from store.images import normalise
from store.library import Library
from store.search import trends

_SIDE = 108


def suggest(library: Library, take: Callable[[bytes], None]) -> None:
    """The pictures of the trends folder, each a way to search with it; nothing where there are none."""
    found = [(path, shown) for path in trends.pictures(library.layout) if (shown := _shown(path))]
    if not found:
        return
    st.caption("Trends: what do we have like this?")
    with st.container(horizontal=True, gap="small"):
        for place, (path, picture) in enumerate(found):
            with st.container(width=_SIDE):
                st.image(picture, width=_SIDE)
                st.button(
                    "Search", key=f"trend-{place}", width="stretch", on_click=take, args=(picture,),
                    help=f"`{path.name.replace('`', ' ')}`",
                )  # fmt: skip


def _shown(path: Path) -> bytes | None:
    try:
        return _normal(str(path), path.stat().st_mtime_ns)
    except (BadPicture, OSError):
        return None


@st.cache_data(max_entries=32, show_spinner=False)
def _normal(path: str, changed: int) -> bytes:
    """Under the library's limits and encoded anew, like every stranger's picture."""
    return normalise(Path(path).read_bytes())
