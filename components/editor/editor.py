"""The editor on a page: takes one coin and returns where to go next; all else uses its own routes."""

from collections.abc import Callable

import streamlit as st

from components.editor.content import content
from components.editor.facets import described
from components.shell import javascript
from components.shell.page import places
from components.shell.server import messages
from components.shell.session import resources, session
from store import Library, Record
from store.records import MAX_TAGS
from store.settings import settings

KEY = "caption-editor"
HTML = '<div class="memedex-editor"></div>'
_component = javascript.mounted("editor", HTML, script="editor/js/main.js", style="editor/editor.css")


def show(
    library: Library,
    record: Record,
    *,
    previous: str = "",
    following: str = "",
    bare: str = "",
    go: Callable[[str], None],
) -> None:
    """Show the editor; `bare` is the next coin without a caption, `go` opens a coin."""
    taxonomy = resources.taxonomy()

    def follow() -> None:
        target = session.sent(KEY).get("go")
        if isinstance(target, str) and target in (previous, following, bare):
            go(target)

    _component(
        key=KEY,
        data={
            "server": messages.server(library),
            "who": library.actor_name,
            "library": library.id,
            "canWrite": library.can_write,
            "canPromote": library.can_write and record.tier == "approved",
            "model": settings().caption_model,
            "facets": described(),
            "mostTags": MAX_TAGS,
            "categories": {tag: taxonomy.category(tag) for tag in taxonomy.tags},
            "content": content(library, record),
            "ways": {"previous": previous, "following": following, "bare": bare},
        },
        on_go_change=follow,
        on_saved_change=_nothing,
        on_renew_change=_nothing,
    )
    if library.can_write and not settings().caption_model:
        st.page_link(**places.LANGUAGE_MODEL, label="Choose a language model", icon=":material/neurology:")


def _nothing() -> None:
    """Rerun the page, which shows what was saved."""
