"""Presenter mode: larger type, safe mode, numbers in place of people's names, and no passing messages.

For a screen that others see. The server leaves the names out, so a page does not hold them either.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import parse_qs

import streamlit as st
from starlette.types import Scope

from components.shell.addresses import base_path
from store import demo
from store.catalog import filter_syntax, query_grammar
from store.settings import settings

_YEAR = 31_536_000  # seconds


@dataclass(frozen=True, slots=True)
class BrowserSwitch:
    """`?parameter=1` and `?parameter=0` in the address of any page switch it on and off for the browser."""

    parameter: str
    cookie: str
    is_on_by_default: Callable[[], bool]

    def is_on(self, cookies: Mapping[str, str]) -> bool:
        """Whether it is on for the browser with these cookies."""
        chosen = cookies.get(self.cookie)
        return chosen == "1" if chosen in ("0", "1") else self.is_on_by_default()

    def set_cookie(self, scope: Scope) -> str | None:
        """The cookie to set for a request whose address switches it; None for any other."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        value = query.get(self.parameter, [""])[-1]
        if scope.get("method") != "GET" or value not in ("0", "1"):
            return None
        return f"{self.cookie}={value}; Path={base_path() or '/'}; Max-Age={_YEAR}; SameSite=Lax; HttpOnly"


SWITCH = BrowserSwitch("present", "memedex_presenter", lambda: settings().presenter)

_of_request: ContextVar[Mapping[str, str] | None] = ContextVar("cookies", default=None)  # None: a page's run
_lock = threading.Lock()
_numbers: dict[str, int] = {}  # by name, for as long as the server runs

_QUESTION = "q"  # the line in the address that takes signs and weights as well
_LARGER = "<style>html {font-size: 18.5px !important}</style>"  # usually 15: every size is in rem


@contextmanager
def request(cookies: Mapping[str, str]) -> Iterator[None]:
    """While a request with these cookies is answered."""
    token = _of_request.set(cookies)
    try:
        yield
    finally:
        _of_request.reset(token)


def cookies() -> Mapping[str, str]:
    """The cookies of the browser for which something is drawn now."""
    of_request = _of_request.get()
    return st.context.cookies if of_request is None else of_request


def is_on() -> bool:
    """Whether what is drawn now is for a presenter's browser."""
    return SWITCH.is_on(cookies())


def begin() -> None:
    """Make everything on this page larger, and hide names in its address, if it is presented."""
    if not is_on():
        return
    st.html(_LARGER)
    lines = {key: st.query_params[key] for key in st.query_params}
    hidden = {key: concealed(line, _dialect(key)) for key, line in lines.items()}
    if hidden == lines:
        return
    for key, line in hidden.items():
        if line != lines[key]:
            st.query_params[key] = line
            if key in st.session_state:
                st.session_state[key] = line
    st.rerun()  # controls take what is in the address from the beginning of a run


def name(person: str) -> str:
    """The name of a person to show; while it is presented "Reviewer 2", the same on all pages."""
    if not person or person == demo.WHO or not is_on():
        return person
    with _lock:
        number = _numbers.setdefault(person, len(_numbers) + 1)
    return _number(number)


def concealed(line: str, dialect: query_grammar.Dialect = "filter") -> str:
    """A line of conditions with people's names as they are shown: `by:ann` may become `by:"Reviewer 2"`."""
    return filter_syntax.with_people(
        line, lambda person: person if person == filter_syntax.ME or _named(person) else name(person), dialect
    )


def revealed(line: str, dialect: query_grammar.Dialect = "filter") -> str:
    """The line with the names that `concealed` has hidden, so that it finds the same coins."""
    return filter_syntax.with_people(line, lambda shown: _named(shown) or shown, dialect)


def _named(shown: str) -> str:
    """The person who is shown under this name while it is presented; "" for none."""
    with _lock:
        return next((person for person, number in _numbers.items() if _number(number) == shown), "")


def _number(number: int) -> str:
    return f"Reviewer {number}"


def _dialect(key: str) -> query_grammar.Dialect:
    return "question" if key == _QUESTION else "filter"


def author(person: str, agent: str) -> str:
    """Who wrote something: the person as shown, or an agent in the person's place."""
    return f"{agent} for {name(person)}" if agent else name(person)
