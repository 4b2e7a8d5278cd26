"""Trending pictures as queries: "what do we have like this?"."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import streamlit as st

from store import Library
from store.disk import images
from store.errors import BadPicture
from store.search import query_pictures

_SIDE = 108
_MOST = 8  # pictures
_LOOKED_AT = 64  # files; broken ones among the newest do not hide the others


def suggest(library: Library, take: Callable[[bytes], None]) -> None:
    """The pictures of the trends folder, each a button that searches with it; nothing if there are none."""
    newest = query_pictures.trending_pictures(library.layout)[:_LOOKED_AT]
    looked = ((path, picture) for path in newest if (picture := _shown(path)))
    found = list(islice(looked, _MOST))
    if not found:
        return
    st.caption("Trends: what do we have like this?")
    with st.container(horizontal=True, gap="small"):
        for place, (path, picture) in enumerate(found):
            with st.container(width=_SIDE):
                st.image(picture, width=_SIDE, alt=path.stem)
                st.button(
                    "Search",
                    key=f"trend-{place}",
                    width="stretch",
                    on_click=take,
                    args=(picture,),
                    help=f"`{path.name.replace('`', ' ')}`",
                )


def _shown(path: Path) -> bytes | None:
    try:
        return _normal(str(path), path.stat().st_mtime_ns)
    except OSError:
        return None


@st.cache_data(max_entries=_LOOKED_AT, show_spinner=False)
def _normal(path: str, changed: int) -> bytes | None:
    """The picture, checked and encoded like every untrusted one; None if it is not a picture."""
    try:
        return images.normalise(Path(path))
    except BadPicture:
        return None
