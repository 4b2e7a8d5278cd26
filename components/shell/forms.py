"""POST /form: forms and buttons that the page sends by itself, so that no click is lost when runs overlap.

A form keeps what was typed until the server has confirmed it, shows in its place why it was refused, and only
then asks for a run of its page. It is done once for each key that the page makes, however often it is sent.
"""

import contextlib
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from components.shell import javascript, login, session, tokens
from components.shell.base_path import base_path
from components.shell.signed_post import answered
from store.errors import InvalidRecord, LoginEnded, MemedexError, NotPermitted, NotWritten
from store.library import Library
from store.lru import LruCache

Value = str | float | list[str] | None
Send = Callable[[Mapping[str, Any]], str]  # does what was asked; returns what to say

_FORMS = 5_000  # of all sessions together, whose confirmation is remembered until their next run
_KEPT = "memedex.forms"  # in a session's state: its forms, which end with it and may hold files
_LONGEST_KEY = 64  # characters
_LONGEST_TEXT = 200_000
_MOST_TAGS = 100

_HERE = Path(__file__).resolve().parent
_component = st.components.v2.component(
    "memedex.form",
    html='<div class="memedex-form"></div>',
    css=(_HERE / "form.css").read_text("utf-8"),
    js=javascript.component(_HERE / "js" / "form.js"),
)


@dataclass(frozen=True)
class Field:
    """One field of a form: a line, a longer text, tags, or a number.

    A "base" is not drawn: its value comes back as it was when somebody began to type.
    """

    name: str
    label: str
    kind: Literal["line", "text", "tags", "number", "base"] = "line"
    value: Value = ""
    placeholder: str = ""
    help: str = ""
    longest: int = _LONGEST_TEXT  # characters
    required: bool = False  # while it is empty, the button is locked
    least: float = 0.0  # of a number
    most: float | None = None
    height: int = 120  # px of a longer text
    choices: Sequence[str] = ()  # that are offered; others may be typed
    is_labelled: bool = True  # else only for those who do not see the page


@dataclass(frozen=True)
class Button:
    """The button that sends a form."""

    label: str
    icon: str = ""  # a name of Streamlit's icon font
    kind: Literal["primary", "secondary", "tertiary"] = "secondary"
    help: str = ""
    disabled: bool = False


@dataclass(frozen=True)
class _Form:
    fields: Sequence[Field]
    button: Button
    send: Send
    changes_library: bool


_forms: weakref.WeakValueDictionary[tuple[str, str], _Form] = (
    weakref.WeakValueDictionary()
)  # by session, form
_confirmed: LruCache[tuple[str, str], bool] = LruCache(_FORMS)  # whose next run has still to know it
_under_way: set[str] = set()
_is_free = threading.Condition()


def address() -> str:
    """Where pages send it."""
    return f"{base_path()}/form"


def routes() -> list[Route]:
    """The route, for the app."""
    return [Route(address(), serve, methods=["POST"])]


def show(
    key: str,
    library: Library,
    send: Send,
    *,
    button: Button,
    fields: Sequence[Field] = (),
    row: bool = False,
    after_run: bool = False,
    changes_library: bool = True,
) -> bool:
    """Draw a form whose values go to `send`; whether it was confirmed since the last run.

    `send` runs beside the page, once for each time that somebody sends the form. It returns a message for the
    page's next run, "" for none, or raises MemedexError, whose text is shown beside the button. A press with
    `after_run` waits until the page has run with what its other widgets say by then. What does not change the
    library may be done twice, and asks itself who may do it.
    """
    place = (login.session(), key)
    sending = register(key, library, send, button=button, fields=fields, changes_library=changes_library)
    was_confirmed = bool(_confirmed.get(place))
    _component(
        key=f"memedex-form-{key.replace('_', '_.')}",  # Streamlit allows no "__"; names of people may have it
        data={
            **sending,
            "fields": [asdict(field) for field in fields if field.kind != "base"],
            "base": {field.name: field.value for field in fields if field.kind == "base"},
            "button": asdict(button),
            "row": row,
            "afterRun": after_run,
            "at": time.time(),
        },
        width="stretch" if fields else "content",
        on_done_change=_nothing,
    )
    if was_confirmed:  # not before: a run that another one overtakes ends where it draws
        _confirmed[place] = False
    return was_confirmed


def register(
    key: str,
    library: Library,
    send: Send,
    *,
    button: Button,
    fields: Sequence[Field] = (),
    changes_library: bool = True,
) -> dict[str, str]:
    """Let the page send this form, which a component of its own draws; returns what its requests need."""
    form = _Form(fields, button, send, changes_library)
    _forms[login.session(), key] = st.session_state.setdefault(_KEPT, {})[key] = form
    return {
        "url": address(),
        "token": tokens.token(library),
        "form": key,
        "place": f"{library.id} {library.actor_name}",
    }


def button(
    key: str,
    library: Library,
    verb: Callable[[], object],
    *,
    button: Button,
    message: str = "",
    after_run: bool = False,
) -> bool:
    """A button that does this, and then says so; whether it was done since the last run."""
    return show(key, library, partial(_without_values, verb, message), button=button, after_run=after_run)


def _without_values(verb: Callable[[], object], message: str, values: Mapping[str, Any]) -> str:
    verb()
    return message


async def serve(request: Request) -> Response:
    """Do what a form asks; only for pages of this library, which have its token."""
    return await answered(request, _answer)


def _answer(library: Library, body: Mapping[str, Any]) -> Response:
    """`{"form": …, "key": …, "values": {…}}`: 404 if the page has to be run first, 409 with the reason."""
    form, key, values = body.get("form"), body.get("key"), body.get("values")
    is_key = isinstance(key, str) and 0 < len(key) <= _LONGEST_KEY
    if not isinstance(form, str) or not isinstance(key, str) or not is_key or not isinstance(values, dict):
        return PlainTextResponse("a form, a key and values are needed", 400)
    place = (str(body["session"]), form)
    found = _forms.get(place)
    if not library.can_write and (found is None or found.changes_library):
        return PlainTextResponse("the library can only be looked at here", 403)
    with _alone(f"{library.actor_name} {key}"):
        try:
            message = _do_once(library, found, key, values)
        except (NotPermitted, LoginEnded):
            raise
        except MemedexError as error:
            return PlainTextResponse(str(error), 409)
    if message is None:
        return PlainTextResponse("reload the page and try again", 404)
    _confirmed[place] = True
    if message:
        session.queue_message_of(place[0], message, icon=":material/check:")
    return JSONResponse({"at": time.time()})


def _do_once(library: Library, form: _Form | None, key: str, values: Mapping[str, Any]) -> str | None:
    """The message of this request, from before if it was done already; None if its form is not known."""
    if form and not form.changes_library:
        return form.send(_checked(form.fields, values))
    if known := library.requests.find(key):
        if known.answer is None:
            raise InvalidRecord("an earlier try may have succeeded; check before sending it again")
        return ""
    if form is None:
        return None
    if form.button.disabled:
        raise InvalidRecord(form.button.help or "this cannot be done now")
    wanted = _checked(form.fields, values)
    library.requests.begin(key)
    try:
        message = form.send(wanted)
    except LoginEnded:  # perhaps after the decision: it is not done again by itself
        raise
    except MemedexError:
        library.requests.cancel(key)
        raise
    with contextlib.suppress(NotWritten):  # it is done all the same; sent again, it is an earlier try
        library.requests.finish(key, message)
    return message


def _checked(fields: Sequence[Field], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all fields. Raises InvalidRecord for what no field can have."""
    found: dict[str, Any] = {}
    for field in fields:
        value = values.get(field.name, field.value)
        if field.kind == "number":
            most = sys.float_info.max if field.most is None else field.most
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            is_valid = is_number and field.least <= value <= most
        elif field.kind == "tags":
            is_valid = isinstance(value, list) and len(value) <= _MOST_TAGS and all(map(_is_line, value))
        else:
            is_valid = isinstance(value, str) and len(value) <= field.longest
        if not is_valid:
            raise InvalidRecord(f"{field.label}: this value cannot be used")
        found[field.name] = value
    return found


def _is_line(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_KEY


@contextlib.contextmanager
def _alone(key: str) -> Iterator[None]:
    """Wait for an earlier request with this key: a page sends it again when it gets no answer."""
    with _is_free:
        _is_free.wait_for(lambda: key not in _under_way)
        _under_way.add(key)
    try:
        yield
    finally:
        with _is_free:
            _under_way.discard(key)
            _is_free.notify_all()


def _nothing() -> None:
    """An empty listener, because Streamlit only reports values that have one."""
