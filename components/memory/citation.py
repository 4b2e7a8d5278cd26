"""The place of a passage of a paper: its page, with the passage marked."""

import streamlit as st

from components.shell import format
from store import MemedexError, MemoryVerbs
from store.memory.values import Row, marked_page


def show(memory: MemoryVerbs, row: Row) -> None:
    """The PDF's pages with the passage marked, and the file; for other formats only the file."""
    try:
        cited = memory.documents.cite(row["id"])
        pictures = [
            (page, marks, marked_page(cited.path.read_bytes(), name=row["source"], page=page, marks=marks))
            for page, marks in cited.pages
            if _is_pdf(cited.path)
        ]
    except MemedexError as error:
        st.warning("The page cannot be shown:", icon=":material/broken_image:")
        st.text(str(error))
        return
    for page, marks, picture in pictures:
        with st.expander(f"Page {page}", icon=":material/description:", expanded=True):
            st.image(picture, width="stretch", alt=f"Page {page} of {row['source']}")
            if not marks:
                st.caption("The passage was edited, so it cannot be marked on the page.")
    st.download_button(
        f"Open {format.plain(row['source'], limit=40)}",
        cited.path.read_bytes,
        file_name=row["source"],
        icon=":material/download:",
        on_click="ignore",
    )


def _is_pdf(path: object) -> bool:
    return str(path).endswith(".pdf")
