"""The editor on a page: one coin in, and where to go next out; all else goes by its own routes."""

from collections.abc import Callable

import streamlit as st

from components import pictures, resources
from components.editor import assets
from components.editor.content import content
from components.editor.facets import described
from components.grid.grid import token
from store.library import Library
from store.records import MAX_TAGS, Record
from store.settings import settings

KEY = "caption-editor"
_HOW = (
    "A language model can suggest captions: set `MEMEDEX_CAPTION_MODEL`, for instance to `gpt-4o-mini`, "
    "or to `ollama/llava` on this machine."
)
_component = st.components.v2.component(
    "memedex.editor", html=assets.HTML, css=assets.style(), js=assets.script()
)


def show(
    library: Library,
    record: Record,
    *,
    previous: str = "",
    following: str = "",
    bare: str = "",
    go: Callable[[str], None],
) -> None:
    """Show the editor for this coin; `bare` is the next one that lacks its caption, `go` leads to a coin."""
    taxonomy = resources.taxonomy()

    def follow() -> None:
        asked = st.session_state[KEY].get("go")
        if isinstance(asked, str) and asked in (previous, following, bare):
            go(asked)

    _component(
        key=KEY,
        data={
            "routes": f"{pictures.base_path()}/editor",
            "token": token(library),
            "who": library.who,
            "library": library.layout.root.name,
            "canWrite": library.can_write,
            "model": settings().caption_model,
            "facets": described(),
            "mostTags": MAX_TAGS,
            "categories": {tag: taxonomy.category(tag) for tag in taxonomy.tags},
            "content": content(library, record),
            "ways": {"previous": previous, "following": following, "bare": bare},
        },
        on_go_change=follow,
        on_saved_change=_nothing,
    )
    if library.can_write and not settings().caption_model:
        st.caption(_HOW)


def _nothing() -> None:
    """The page runs anew, and shows what was saved."""
