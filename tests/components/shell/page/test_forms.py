"""Forms that the page sends by itself: by those who may, once for each press, never lost without a word."""

import gc
import json
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any
from uuid import uuid4

import httpx
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from components.shell.page import forms
from components.shell.page import undo as shell_undo
from components.shell.page.forms import Button, Field
from components.shell.server.messages import Sender
from components.shell.session import resources, session, tokens
from store.catalog import history
from store.catalog.filters import Filter
from store.catalog.history import Answers
from store.errors import InvalidRecord, NotWritten
from store.library import Library
from store.permissions import Actor
from store.settings import settings
from tests.components.conftest import Client
from tests.store.conftest import address

FIELDS = (
    Field("name", "Name", longest=5),
    Field("tags", "Tags", "tags"),
    Field("much", "Much", "number", most=9),
    Field("most", "Most", "number"),
)
VALUES = {"name": "frogs", "tags": ["a"], "much": 2.5, "most": 1}


class Sent(list[Mapping[str, Any]]):
    """What reached the form's function, which may refuse it or take its time."""

    refusal = ""

    def __init__(self) -> None:
        super().__init__()
        self.may_end = threading.Event()
        self.may_end.set()

    def __call__(self, values: Mapping[str, Any]) -> str:
        assert self.may_end.wait(30)
        if self.refusal:
            raise InvalidRecord(self.refusal)
        self.append(values)
        return "Saved."


@pytest.fixture
def reached() -> Iterator[Sent]:
    sent = Sent()
    form = forms._Form(FIELDS, Button("Save"), sent, changes_library=True)  # a session keeps it
    forms._forms["", "f"] = form
    yield sent
    forms._forms.clear()
    forms._confirmed.clear()
    session._from_routes.clear()


ONCE, ANOTHER = uuid4().hex, uuid4().hex


def send(client: Client, library: Library, *, actor: str = "ann@x.org", **more: Any) -> httpx.Response:
    page = {"token": tokens.signed(library, actor=actor), "form": "f", "decision": ONCE, "values": VALUES}
    return client.post("/message/form", content=json.dumps({**page, **more}))


def test_a_form_that_is_sent_again_is_done_once_and_confirmed_each_time(
    client: Client, library: Library, reached: Sent
) -> None:
    for _ in range(3):
        assert send(client, library).json()["at"] > 0
    assert reached == [VALUES]
    assert session._from_routes[""] == (("Saved.", ":material/check:"),)
    assert send(client, library, decision=ANOTHER).status_code == 200
    assert len(reached) == 2
    assert send(client, library, actor="bob").status_code == 403, "the press of another person"
    assert len(reached) == 2


def test_a_form_that_is_sent_again_meanwhile_waits_for_the_first(
    client: Client, library: Library, reached: Sent
) -> None:
    reached.may_end.clear()
    answers: list[httpx.Response] = []
    senders = [threading.Thread(target=lambda: answers.append(send(client, library))) for _ in range(2)]
    for sender in senders:
        sender.start()
    reached.may_end.set()
    for sender in senders:
        sender.join()
    assert [answer.status_code for answer in answers] == [200, 200]
    assert reached == [VALUES]


def test_what_is_refused_says_why_each_time_and_another_press_may_succeed(
    client: Client, library: Library, reached: Sent
) -> None:
    reached.refusal = "the name is taken"
    refused = send(client, library)
    assert (refused.status_code, refused.text) == (409, "the name is taken")
    reached.refusal = ""
    assert send(client, library).text == "the name is taken", "a late copy of the message"
    assert send(client, library, decision=ANOTHER).status_code == 200
    assert reached == [VALUES]


def test_what_the_server_did_before_it_stopped_is_not_done_again(
    client: Client, library: Library, reached: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.approve([address(0)])
    library.approve([address(1)])
    last = library.decisions()[0].id
    undo = forms._Form((), Button("Undo"), partial(shell_undo.one, library, last), changes_library=True)
    forms._forms["", "f"] = undo

    def stops(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(Answers, "store", stops)
        with pytest.raises(KeyboardInterrupt):
            forms.answer(library, forms.Press("f", ONCE, {}), Sender(""))
    assert send(client, library, actor=library.actor_name).status_code == 200
    assert library.addresses(Filter(tier="approved")) == [address(0)]
    assert [decision.verb for decision in library.decisions(limit=3)] == ["undo", "approve", "approve"]


def test_an_undo_button_takes_back_one_decision_whenever_the_login_of_its_page_ends(
    client: Client, library: Library, reached: Sent
) -> None:
    library.approve([address(0)])
    for lasts in count():
        library.approve([address(1)])
        last, press, asked = library.decisions()[0].id, uuid4().hex, count()

        def is_logged_in(asked: Iterator[int] = asked, lasts: int = lasts) -> bool:
            return next(asked) < lasts

        def undo_of(page: Library, last: str = last) -> forms._Form:
            return forms._Form((), Button("Undo"), partial(shell_undo.one, page, last), changes_library=True)

        form = undo_of(library.for_actor(Actor(library.actor_name, is_logged_in=is_logged_in)))
        forms._forms["", "f"] = form
        first = send(client, library, actor=library.actor_name, decision=press)
        form = undo_of(library)  # once the person is back
        forms._forms["", "f"] = form
        assert send(client, library, actor=library.actor_name, decision=press).status_code == 200
        assert library.addresses(Filter(tier="approved")) == [address(0)], f"after {lasts} questions"
        if first.status_code == 200:
            return


def test_a_form_is_confirmed_even_if_the_disk_is_full_by_then(
    client: Client, library: Library, reached: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        raise NotWritten("the disk is full")

    monkeypatch.setattr(Answers, "store", refuses)
    assert send(client, library).status_code == 200
    assert reached == [VALUES]


def test_a_form_of_a_page_that_has_to_be_run_first(client: Client, library: Library, reached: Sent) -> None:
    assert send(client, library, form="unknown").status_code == 404
    assert send(client, library, form="f").status_code == 200


def test_only_pages_of_this_library_send_forms_and_viewers_none(
    client: Client, library: Library, reached: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for forged in (None, "", "x.y"):
        assert send(client, library, token=forged).status_code == 403
    monkeypatch.setattr(settings(), "viewers", "ann@x.org")
    assert send(client, library).status_code == 403
    assert reached == []


@pytest.mark.parametrize(
    "mistake",
    [
        {"name": "longer"},
        {"name": 7},
        {"tags": "a"},
        {"tags": [7]},
        {"much": "2"},
        {"much": -1},
        {"much": 10},
        {"much": None},
        {"much": True},
        {"much": 10**400},
        {"most": 10**400},
        {"most": -(10**400)},
    ],
)
def test_a_value_that_no_field_can_have_is_refused(
    client: Client, library: Library, reached: Sent, mistake: Mapping[str, Any]
) -> None:
    answer = send(client, library, values={**VALUES, **mistake})
    assert answer.status_code == 409
    assert reached == []


@pytest.mark.parametrize(
    "mistake", [{"decision": ""}, {"decision": "k" * 32}, {"decision": 7}, {"form": 7}, {"values": []}]
)
def test_a_malformed_form_is_refused(
    client: Client, library: Library, reached: Sent, mistake: Mapping[str, Any]
) -> None:
    assert send(client, library, **mistake).status_code == 400
    assert reached == []


def test_a_button_that_the_last_run_locked_does_nothing(
    client: Client, library: Library, reached: Sent
) -> None:
    locked = forms._Form(FIELDS, Button("Save", disabled=True, help="Save first."), reached, True)
    forms._forms["", "f"] = locked
    answer = send(client, library)
    assert (answer.status_code, answer.text) == (409, "Save first.")
    assert reached == []


def test_only_the_last_answers_are_remembered(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "REMEMBERED", 3)
    for number in range(5):
        library.answers.store(str(number), f"answer {number}")
    assert library.answers.find("1") is None
    assert library.answers.find("2") == "answer 2"


def test_what_changes_nothing_in_the_library_is_done_for_those_who_may_only_look(
    client: Client, library: Library, reached: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "ann@x.org")
    form = forms._Form((), Button("End"), reached, changes_library=False)
    forms._forms["", "f"] = form
    assert send(client, library).status_code == 200
    assert reached == [{}]
    assert library.answers.find(ONCE) is None


def _script() -> None:
    import streamlit as st

    from components.shell.page import forms
    from components.shell.page.forms import Button
    from components.shell.session import resources

    st.session_state["seen"] = forms.show("f", resources.library(), lambda _: "", button=Button("Save"))


def _overtaken(**_: Any) -> None:
    st.stop()


def test_a_run_that_is_overtaken_while_it_draws_leaves_the_confirmation_to_the_next(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "library", lambda: library)
    app = AppTest.from_function(_script).run()
    (place,) = forms._forms
    forms._confirmed[place] = 1
    with monkeypatch.context() as patched:
        patched.setattr(forms, "_component", _overtaken)
        app.run()
    assert not app.session_state["seen"]
    app.run()
    assert app.session_state["seen"]
    app.run()
    assert not app.session_state["seen"]


def test_a_form_and_the_files_it_holds_end_with_their_session(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "library", lambda: library)
    app = AppTest.from_function(_script).run()
    assert len(forms._forms) == 1
    del app
    gc.collect()
    assert not forms._forms
