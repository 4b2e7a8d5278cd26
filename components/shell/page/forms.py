"""Forms and buttons that the page sends by itself, so that no click is lost when runs overlap.

A form keeps what was typed until the server has confirmed it, shows in its place why it was refused, and only
then asks for a run of its page. Each press has an id, and is done once however often it is sent.
"""

import contextlib
import json
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

import streamlit as st
from starlette.responses import PlainTextResponse

from components.shell import javascript
from components.shell.server import messages
from components.shell.server.messages import Id, Kind, Sender
from components.shell.session import login, session
from store import Library, LruCache, MemedexError
from store.errors import InvalidRecord, LoginEnded, NotPermitted, NotWritten

Value = str | float | list[str] | None


class Sent(dict[str, Any]):
    """The values of a form, by field, and the id of the press that sent it."""

    def __init__(self, values: Mapping[str, Any], decision: str) -> None:
        super().__init__(values)
        self.decision = decision


Send = Callable[[Sent], str]  # does what was asked; returns what to say

_FORMS = 5_000  # of all sessions together, whose confirmations are remembered
_KNOWN = "memedex.confirmed_forms"  # in a session's state: how often, as its last run knew
_KEPT = "memedex.forms"  # in a session's state: its forms, which end with it and may hold files
_LONGEST_LINE = 64  # characters of a tag
_LONGEST_TEXT = 200_000
_MOST_TAGS = 100

_component = javascript.mounted(
    "form", '<div class="memedex-form"></div>', script="shell/js/form.js", style="shell/page/form.css"
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
    key: str = ""  # presses it, where no text is typed


@dataclass(frozen=True)
class _Form:
    fields: Sequence[Field]
    button: Button
    send: Send
    changes_library: bool


# By session, form.
_forms: weakref.WeakValueDictionary[tuple[str, str], _Form] = weakref.WeakValueDictionary()
_confirmed: LruCache[tuple[str, str], int] = LruCache(_FORMS)  # how often, by session and form


def show(
    key: str,
    library: Library,
    send: Send,
    *,
    button: Button,
    second: Button | None = None,
    fields: Sequence[Field] = (),
    row: bool = False,
    after_run: bool = False,
    changes_library: bool = True,
) -> bool:
    """Draw a form whose values go to `send`; whether it was confirmed since the last run.

    `send` runs independently of the page, once for each press; what it decides takes the id of the press
    (`Sent.decision`), so that a crash before the answer does not repeat it. It returns a message for the next
    run of the page, "" for none, or raises MemedexError, whose text is shown at the button. A press with
    `after_run` waits until the page has run with what its other widgets say by then. What does not change the
    library may be done twice, and asks itself who may do it. A `second` button sends its label as the base
    field `then`.
    """
    times = times_confirmed(key)
    sending = register(key, library, send, button=button, fields=fields, changes_library=changes_library)
    _component(
        key=f"memedex-form-{key.replace('_', '_.')}",  # Streamlit allows no "__"; names of people may have it
        data={
            **sending,
            "fields": [asdict(field) for field in fields if field.kind != "base"],
            "base": {field.name: field.value for field in fields if field.kind == "base"},
            "button": asdict(button),
            "second": asdict(second) if second else None,
            "row": row,
            "afterRun": after_run,
            "at": time.time(),
        },
        width="stretch" if fields else "content",
        on_done_change=_nothing,
    )
    known = st.session_state.setdefault(_KNOWN, {})
    was_confirmed = times > known.get(key, 0)
    known[key] = times  # not before: a run that another one overtakes ends where it draws
    return bool(was_confirmed)


def times_confirmed(key: str) -> int:
    """How often this session's form was confirmed; in the key of a widget, a sent form empties it."""
    return _confirmed.get((login.session(), key)) or 0


def register(
    key: str,
    library: Library,
    send: Send,
    *,
    button: Button,
    fields: Sequence[Field] = (),
    changes_library: bool = True,
) -> dict[str, Any]:
    """Let the page send this form, which a component of its own draws; returns what its requests need."""
    form = _Form(fields, button, send, changes_library)
    _forms[login.session(), key] = st.session_state.setdefault(_KEPT, {})[key] = form
    return {"server": messages.server(library), "form": key, "place": f"{library.id} {library.actor_name}"}


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


def _without_values(verb: Callable[[], object], message: str, _: Sent) -> str:
    verb()
    return message


@dataclass(frozen=True, slots=True)
class Press:
    """A form as its page sent it."""

    form: str
    decision: Id
    values: dict[str, Any]


def answer(library: Library, press: Press, sender: Sender) -> object:
    """Do what a form asks: 404 if the page has to be run first, 409 with the reason."""
    place = (sender.session, press.form)
    found = _forms.get(place)
    if not library.can_write and (found is None or found.changes_library):
        raise NotPermitted("the library can only be looked at here")
    session.note_decision(sender.session, press.decision)
    with messages.alone(press.decision):
        told = _do_once(library, found, press)
    if told is None:
        return PlainTextResponse("reload the page and try again", 404)
    if refusal := told.get("refused"):
        return PlainTextResponse(refusal, 409)
    _confirmed[place] = (_confirmed.get(place) or 0) + 1
    if message := told.get("message"):
        session.queue_message_of(place[0], message, icon=":material/check:")
    return {"at": time.time()}


KIND = Kind("form", Press, answer)


def _do_once(library: Library, form: _Form | None, press: Press) -> Mapping[str, str] | None:
    """What to answer, as before if it was answered already; None if its form is not known."""
    is_once = form is None or form.changes_library
    if is_once and (known := library.answers.find(press.decision)):
        stored: Mapping[str, str] = json.loads(known)
        return {**stored, "message": ""}  # its session was told
    if form is None:
        return None
    try:
        if form.button.disabled and not _is_begun(library, press.decision):
            raise InvalidRecord(form.button.help or "this cannot be done now")
        told = {"message": form.send(Sent(_checked(form.fields, press.values), press.decision))}
    except (NotPermitted, LoginEnded):
        raise
    except MemedexError as error:
        told = {"refused": str(error)}
    if form.changes_library:
        with contextlib.suppress(NotWritten):
            library.answers.store(press.decision, json.dumps(told))
    return told


def _is_begun(library: Library, decision: str) -> bool:
    """Whether a server that was killed before it answered has carried out some of this."""
    return bool(library.decision(decision) or library.jobs.of_decision(decision))


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
    return isinstance(value, str) and len(value) <= _LONGEST_LINE


def _nothing() -> None:
    """An empty listener, because Streamlit only reports values that have one."""
