"""Where a passage of a paper stands: its page, the passage marked."""

import streamlit as st

from components import wording
from store.errors import MemedexError
from store.memory import Memory
from store.memory.entries import Row
from store.memory.pdf import marked_page


def show(memory: Memory, row: Row) -> None:
    """The page of the PDF with the passage marked, and the file itself; for other files the file alone."""
    try:
        cited = memory.documents.cite(row["id"])
        picture = marked_page(cited.path, page=cited.page, marks=cited.marks) if _is_pdf(cited.path) else None
    except MemedexError as error:
        st.warning("The page cannot be shown:", icon=":material/broken_image:")
        st.text(str(error))
        return
    if picture:
        with st.expander(f"Page {cited.page}", icon=":material/description:", expanded=True):
            st.image(picture, width="stretch", alt=f"Page {cited.page} of {row['source']}")
            if not cited.marks:
                st.caption("The passage was edited, so it cannot be marked on the page.")
    st.download_button(
        f"Open {wording.plain(row['source'], limit=40)}",
        cited.path.read_bytes,
        file_name=row["source"],
        icon=":material/download:",
        on_click="ignore",
    )


def _is_pdf(path: object) -> bool:
    return str(path).endswith(".pdf")
