"""What a page says where the disk or the store refused in the middle of it, instead of a traceback."""

import sqlite3

import streamlit as st

from store.errors import MemedexError
from store.files import refused
from store.settings import settings


def tell(error: Exception) -> bool:
    """Say what was refused, in words, and offer the page again; False for a mistake of the program."""
    if isinstance(error, MemedexError):
        words = str(error)
    elif isinstance(error, OSError | sqlite3.OperationalError):
        words = refused(error, settings().root.resolve())
    else:
        return False
    st.error("This could not be done. What went wrong:", icon=":material/error:")
    st.text(words)
    st.caption("What was decided before stands.")
    st.button("Show the page again", type="primary")
    return True
