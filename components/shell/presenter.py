"""Presenter mode: larger type, safe mode, numbers in place of people's names, and no passing messages.

For a screen that others see. The server leaves the names out, so a page does not hold them either.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st

from components.shell.browser_switch import BrowserSwitch
from store.demo import WHO as DEMO
from store.settings import settings

SWITCH = BrowserSwitch("present", "memedex_presenter", lambda: settings().presenter)

_of_request: ContextVar[bool | None] = ContextVar("presenter", default=None)  # None: a page's run
_lock = threading.Lock()
_numbers: dict[str, int] = {}  # by name, for as long as the server runs

_LARGER = "<style>html {font-size: 18.5px !important}</style>"  # usually 15: every size is in rem


@contextmanager
def request(cookies: Mapping[str, str]) -> Iterator[None]:
    """While a request with these cookies is answered."""
    token = _of_request.set(SWITCH.is_on(cookies))
    try:
        yield
    finally:
        _of_request.reset(token)


def is_on() -> bool:
    """Whether what is drawn now is for a presenter's browser."""
    of_request = _of_request.get()
    return SWITCH.is_on(st.context.cookies) if of_request is None else of_request


def begin() -> None:
    """Make everything on this page larger, if it is presented."""
    if is_on():
        st.html(_LARGER)


def name(person: str) -> str:
    """The name of a person to show; while it is presented "Reviewer 2", the same on all pages."""
    if not person or person == DEMO or not is_on():
        return person
    with _lock:
        number = _numbers.setdefault(person, len(_numbers) + 1)
    return f"Reviewer {number}"


def author(person: str, agent: str) -> str:
    """Who wrote something: the person as shown, or an agent in the person's place."""
    return f"{agent} for {name(person)}" if agent else name(person)
