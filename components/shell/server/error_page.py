"""What a page shows after an error: one sentence, with the details in the log.

A traceback reveals how the server is made and where its files are, so only the local machine sees it.
"""

import logging
import secrets
import sqlite3

import streamlit as st

from components.shell.server import logs
from components.shell.session import login
from store import MemedexError
from store.disk import files
from store.errors import LoginEnded
from store.settings import settings

log = logging.getLogger(__name__)


def show_error(error: Exception) -> bool:
    """Show what was refused and a reload button; for a bug, its number; for a login that has ended, a login.

    True means that Streamlit itself shows nothing.
    """
    if isinstance(error, LoginEnded) and not login.may_see():  # it ended in the middle of a run
        login.ask_to_log_in()
    elif isinstance(error, MemedexError):
        _say("This could not be done. What went wrong:", str(error))
    elif isinstance(error, OSError | sqlite3.OperationalError):
        _say("This could not be done. What went wrong:", disk_words(error, is_local=login.is_local()))
    else:
        _say("This is a bug in Memedex.", f"Error {log_error(error)}. Details are in the server log.")
        if login.is_local():
            st.exception(error)
    return True


def disk_words(error: Exception, *, is_local: bool) -> str:
    """Why the disk refused something; only the local machine sees the server's paths."""
    if is_local:
        return files.refused(error, settings().root.resolve())
    return f"The server's disk refused it. Error {log_error(error)}. Details are in the server log."


def log_error(error: Exception) -> str:
    """Log an error with its traceback; returns its number in the log, that of the request if there is one."""
    number = logs.request_number() or secrets.token_hex(4)
    log.error("error %s", number, exc_info=error)
    return number


def _say(title: str, words: str) -> None:
    st.error(title, icon=":material/error:")
    st.text(words)
    st.caption("Earlier decisions are saved.")
    # A key of its own: several parts of a page may fail in one run.
    st.button("Reload page", type="primary", key=f"memedex.again-{secrets.token_hex(4)}")
