"""Each decision is done once, in order, however often it arrives; and its page is told what came of it."""

import json
import sqlite3
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import httpx
import pytest

from components.grid import decisions
from components.shell.server import events
from components.shell.server.messages import Sender
from components.shell.session.tokens import token
from store.catalog.catalog import Catalog
from store.catalog.history import Answers
from store.duplicates import duplicates
from store.errors import LoginEnded, NotWritten
from store.jobs.jobs import Runner
from store.library import Library
from store.permissions import Actor
from store.runtime import open_library
from tests.components.conftest import COINS, Client
from tests.components.grid.decisions import Entry, approved, decide, entry, undo, verbs
from tests.store.conftest import address, approved_with_caption
from tests.store.hashed import Hashed


def revision(library: Library, number: int) -> int:
    return library.get(address(number)).revision


def reasons(answer: dict[str, Any]) -> list[str]:
    return [refusal["reason"] for refusal in answer["refused"]]


# -- once ----------------------------------------------------------------------------------------------------


def test_a_decision_that_arrives_again_is_not_repeated(library: Library) -> None:
    approves = entry("approve", 0)
    log = [approves, undo(approves), entry("approve", 1)]
    first = decide(library, *log)
    for _ in range(2):
        again = decide(library, *log)
        assert [one["refused"] for one in again] == [one["refused"] for one in first]
    assert approved(library) == {address(1)}
    assert verbs(library) == ["approve", "undo", "approve", "import"]


def test_a_decision_that_arrives_again_after_a_restart_is_not_repeated(library: Library) -> None:
    tags, approves = entry("tag", 0, 1, add=["moon"]), entry("approve", 0)
    log = [tags, approves, undo(approves), entry("flag", 2, reason="unfit"), entry("approve", 3)]
    decide(library, *log)
    library.close()
    opened = open_library(library.layout.root, embedder=Hashed())
    assert [reasons(answer) for answer in decide(opened, *log)] == [[]] * 5
    assert verbs(opened) == ["approve", "flag", "undo", "approve", "tag", "import"]
    opened.close()


def test_a_refusal_stays_one_when_its_decision_arrives_late_again(library: Library) -> None:
    approves = entry("approve", 0)
    library.approve([address(0)])
    [refused] = decide(library, approves)
    assert "approved" in reasons(refused)[0]
    library.send_back([address(0)])
    assert decide(library, approves) == [refused]
    assert approved(library) == set()


@pytest.mark.parametrize("coins", [(0,), (0, 1)])
def test_what_took_nothing_to_do_does_nothing_later_either(library: Library, coins: tuple[int, ...]) -> None:
    tags = entry("tag", *coins, add=["moon"])
    library.edit_tags([address(0)], add=["moon"])
    decide(library, tags)
    library.edit_tags([address(0)], remove=["moon"])
    decide(library, tags)
    assert "moon" not in library.get(address(0)).tags


def test_what_was_redone_since_stays_told_as_done(library: Library) -> None:
    approves = entry("approve", 0)
    takes_back = undo(approves)
    decide(library, approves, takes_back, entry("redo", undoes=takes_back["id"]))
    assert reasons(decide(library, approves)[0]) == []
    assert approved(library) == {address(0)}


@pytest.fixture
def crash(library: Library, monkeypatch: pytest.MonkeyPatch) -> Callable[[Entry], None]:
    """Lets the server end between a decision and its answer."""

    def stops(*_: object) -> None:
        raise KeyboardInterrupt

    def send(made: Entry) -> None:
        with monkeypatch.context() as stopped:
            stopped.setattr(Answers, "store", stops)
            with pytest.raises(KeyboardInterrupt):
                decide(library, made)

    return send


def test_a_promotion_that_was_begun_before_a_crash_is_not_told_as_refused(
    library: Library, crash: Callable[[Entry], None]
) -> None:
    promotes = entry("promote", 8, 9, 0)
    approved_with_caption(library, 8, 9)
    crash(promotes)
    [job] = library.jobs.all()
    assert library.jobs.wait(job.id, timeout=60)
    assert [refusal["item"] for refusal in decide(library, promotes)[0]["refused"]] == [address(0)]
    assert len(library.jobs.all()) == 1


def test_the_undo_of_a_job_that_had_decided_nothing_is_told_as_done_after_a_crash(
    library: Library, crash: Callable[[Entry], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runner, "wake", lambda _: None)
    monkeypatch.setattr(decisions, "AT_ONCE", 1)
    approves = entry("approve", 0, 1)
    takes_back = undo(approves)
    decide(library, approves)
    crash(takes_back)
    assert reasons(decide(library, takes_back)[0]) == []
    assert library.jobs.all()[0].state == "cancelled"


def test_an_undo_that_arrives_again_after_its_redo_takes_nothing_back(library: Library) -> None:
    approves = entry("approve", 0)
    takes_back = undo(approves)
    decide(library, approves, takes_back, entry("redo", undoes=takes_back["id"]), takes_back)
    assert approved(library) == {address(0)}


def test_two_messages_with_the_same_decision_at_one_time_do_it_once(library: Library) -> None:
    log = [entry("approve", 0, 1, 2), entry("tag", 0, 1, add=["moon"]), entry("judge", 0, reason="different")]
    answers: list[Any] = []
    senders = [threading.Thread(target=lambda: answers.append(decide(library, *log))) for _ in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert [[reasons(one) for one in each] for each in answers] == [[[], [], []]] * 4
    assert verbs(library) == ["tag", "approve", "import"]


def test_a_large_decision_is_one_job_however_often_it_arrives(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "AT_ONCE", 3)
    approves = entry("approve", *range(COINS))
    for _ in range(2):
        decide(library, approves)
    [job] = library.jobs.all()
    assert library.jobs.wait(job.id, timeout=60)
    assert len(approved(library)) == COINS
    decide(library, undo(approves))
    for job in library.jobs.all():
        assert library.jobs.wait(job.id, timeout=60)
    assert approved(library) == set()


def test_the_id_of_another_persons_decision_decides_nothing(library: Library) -> None:
    ann, ben = (library.for_actor(Actor(name)) for name in ("ann", "ben"))
    approves, refused = entry("approve", 0), entry("approve", 2)
    library.reject([address(2)])
    decide(ann, approves, refused)
    answer = decide(ben, {**entry("approve", 1), "id": approves["id"]})[0]
    assert reasons(answer) == ["another user made a decision with this id"]
    with pytest.raises(Exception, match="another user"):
        decide(ben, refused)
    assert approved(library) == {address(0)}


# -- what came of it -----------------------------------------------------------------------------------------


def test_decisions_that_arrive_together_are_undone_one_by_one(library: Library) -> None:
    decide(library, *(entry("approve", n) for n in range(4)))
    library.undo()
    assert approved(library) == {address(0), address(1), address(2)}


def test_undo_and_redo_name_the_decision(library: Library) -> None:
    approves = entry("approve", 0)
    takes_back = undo(approves)
    redoes = entry("redo", undoes=takes_back["id"])
    imports = entry("undo", undoes=library.decisions()[0].id)
    name, coins = library.get(address(0)).name, library.counts()["pending"]
    answers = decide(library, approves, takes_back, redoes, undo(redoes), imports)
    assert [answer["message"] for answer in answers] == [
        "",
        f"Undone: approved {name}",
        f"Redone: approved {name}",
        f"Undone: approved {name}",
        f"Undone: imported {coins} coins",
    ]


def test_an_undo_takes_back_what_its_page_names_whatever_was_decided_since(library: Library) -> None:
    approves = entry("approve", 0)
    decide(library, approves)
    library.approve([address(1)])  # in another window
    decide(library, undo(approves))
    assert approved(library) == {address(1)}


def test_an_undo_of_nothing_or_of_something_unknown_says_so(library: Library) -> None:
    nothing, unknown = decide(library, entry("undo"), entry("undo", undoes="0" * 32))
    assert reasons(nothing) == ["nothing to undo"]
    assert "no such decision" in reasons(unknown)[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"verb": 3},
        {"addresses": "all"},
        {"addresses": [3]},
        {"add": "moon"},
        {"seen": {"a": "x"}},
        {"undoes": "x"},
    ],
)
def test_a_malformed_decision_is_refused_and_others_are_done(library: Library, wrong: Entry) -> None:
    refused, done = decide(library, {**entry("approve", 0), **wrong}, entry("approve", 1))
    assert next(iter(wrong)) in reasons(refused)[0]
    assert reasons(done) == []
    assert approved(library) == {address(1)}


def test_an_unknown_verb_is_refused(library: Library) -> None:
    assert reasons(decide(library, entry("format", 0))[0]) == ["format cannot be done here"]


def test_a_mistake_of_the_program_is_an_answer_and_is_logged(
    library: Library, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise KeyError("a mistake")

    monkeypatch.setattr(duplicates.Duplicates, "judge", fails)
    wrong, done = decide(library, entry("judge", 0, reason="different"), entry("approve", 1))
    assert "a bug in Memedex" in reasons(wrong)[0]
    assert reasons(done) == []
    assert "KeyError" in caplog.text


def test_a_decision_is_told_as_done_even_if_the_disk_takes_no_answer(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: Any) -> None:
        raise NotWritten("the disk is full")

    monkeypatch.setattr(Answers, "store", refuses)
    library.reject([address(1)])
    [answer] = decide(library, entry("approve", 0, 1))
    assert [refusal["item"] for refusal in answer["refused"]] == [address(1)]
    assert approved(library) == {address(0)}


# -- logins that end, reads that fail ------------------------------------------------------------------------


def sent(library: Library, *entries: Entry, who: str = "") -> decisions.Log:
    return decisions.Log(library.id, who or library.actor_name, [*entries])


def test_decisions_made_after_the_login_ended_wait_for_the_next_login(library: Library) -> None:
    login = [False]
    page = library.for_actor(Actor(library.actor_name, is_logged_in=lambda: login[0]))
    log = sent(library, entry("approve", 0))
    with pytest.raises(LoginEnded):
        decisions.answer(page, log, Sender(""))
    assert approved(library) == set()
    login[0] = True
    assert list(decisions.answer(page, log, Sender(""))["answers"]) == [log.entries[0]["id"]]  # type: ignore[index]
    assert approved(library) == {address(0)}


def test_an_undo_takes_back_one_decision_whenever_the_login_ends(library: Library) -> None:
    library.approve([address(0)])
    for lasts in count():
        approves = entry("approve", 1)
        decide(library, approves)
        asked = count()

        def is_logged_in(asked: Iterator[int] = asked, lasts: int = lasts) -> bool:
            return next(asked) < lasts

        page = library.for_actor(Actor(library.actor_name, is_logged_in=is_logged_in))
        log = sent(library, undo(approves))
        with suppress(LoginEnded):
            decisions.answer(page, log, Sender(""))
        [answer] = decide(library, *log.entries)  # once the person is back
        assert (approved(library), answer["refused"]) == ({address(0)}, []), f"after {lasts} questions"
        if is_logged_in():
            return


def test_an_undo_takes_back_one_decision_whatever_read_fails(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.approve([address(0)])
    bob = library.for_actor(Actor("bob"))
    reading, this_thread = Catalog.reading, threading.get_ident()
    for number in count():
        approves = entry("approve", 1)
        decide(library, approves)
        reads = count()

        @contextmanager
        def fails_once(
            catalog: Catalog, reads: Iterator[int] = reads, number: int = number
        ) -> Iterator[sqlite3.Connection]:
            if threading.get_ident() == this_thread and next(reads) == number:
                raise sqlite3.OperationalError("disk I/O error")
            with reading(catalog) as db:
                yield db

        takes_back = undo(approves)
        with monkeypatch.context() as failing:
            failing.setattr(Catalog, "reading", fails_once)
            with suppress(sqlite3.OperationalError):  # 503: the page sends it again
                decide(library, takes_back)
        [answer] = decide(library, takes_back)  # the page had no answer
        left = {address(0), address(1)} if answer["refused"] else {address(0)}
        assert approved(library) == left, f"read {number}"
        if next(reads) <= number:
            return
        library.send_back([address(1)] if answer["refused"] else [])
        bob.edit_tags([address(2)], add=[f"read {number}"])  # finishes what waits for the disk


# -- the route -----------------------------------------------------------------------------------------------


def post(
    client: Client, page: Library, *entries: Entry, place: dict[str, str] | None = None, **more: Any
) -> httpx.Response:
    here = {"library": page.id, "who": page.actor_name, **(place or {})}
    message = {"token": token(page), **here, "entries": entries or [entry("approve", 0)], **more}
    return client.post("/message/decisions", content=json.dumps(message))


def test_a_posted_decision_is_stored_and_other_pages_are_told_at_once(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried = list[bool]()
    monkeypatch.setattr(events.watcher, "hurry", lambda: hurried.append(True))
    approves = entry("approve", 0)
    answer = post(client, library, approves)
    assert answer.status_code == 200
    assert answer.json()["answers"][approves["id"]]["refused"] == []
    assert approved(library) == {address(0)}
    assert hurried == [True]


def test_a_token_signed_for_one_person_is_refused_for_another(client: Client, library: Library) -> None:
    body, _, signature = token(library).partition(".")
    about = {**json.loads(urlsafe_b64decode(body)), "who": "boss@x.org"}
    forged = f"{urlsafe_b64encode(json.dumps(about).encode()).decode()}.{signature}"
    assert post(client, library, token=forged).status_code == 403


def test_a_decision_is_attributed_to_the_person_on_the_page(client: Client, library: Library) -> None:
    assert post(client, library.for_actor(Actor("ann@x.org"))).status_code == 200
    assert library.decisions()[0].actor == "ann@x.org"


@pytest.mark.parametrize(
    "elsewhere", [{"library": "0" * 32}, {"who": "bob@x.org"}, {"library": "", "who": ""}]
)
def test_a_decision_of_another_library_or_person_is_not_done(
    client: Client, library: Library, elsewhere: dict[str, str]
) -> None:
    answer = post(client, library, place=elsewhere)
    assert answer.status_code == 409
    assert "not decided in this library" in answer.text
    assert library.get(address(0)).tier == "pending"


def test_keeping_one_rejects_the_others_but_those_that_were_moved_since(library: Library) -> None:
    library.edit_tags([address(2)], add=["frog"])
    seen = {address(number): library.get(address(number)).revision for number in (1, 2, 3)}
    library.approve([address(3)], actor="ben")
    keep = entry("keep", 1, others=[address(2), address(3)], seen=seen)
    [told] = decide(library, keep)
    assert told["refused"] == [{"item": address(3), "reason": "approved by ben just now"}]
    job = library.jobs.of_decision(keep["id"])
    assert job.name == "Keep Coin 1, reject 1 other, which gives it tags frog"
    assert library.jobs.wait(job.id, timeout=60)
    assert [library.get(address(number)).tier for number in (1, 2, 3)] == ["pending", "trash", "approved"]
    assert library.history(address=address(2), limit=1)[0].reason == "copy of Coin 1"
    [again] = decide(library, keep)
    assert again == told
    [refused] = decide(library, entry("keep", 1, 2))
    assert refused["refused"][0]["reason"] == "name the one coin that is kept"


def test_a_comment_is_stored_once_with_who_wrote_it(library: Library) -> None:
    says = entry("comment", 1, text="looks like Doge")
    decide(library, says, says)
    assert [(one["who"], one["text"]) for one in library.get(address(1)).comments] == [
        (library.actor_name, "looks like Doge")
    ]
    [empty] = decide(library, entry("comment", 1, text=""))
    assert "a comment has 1 to 2,000 characters" in reasons(empty)[0]
