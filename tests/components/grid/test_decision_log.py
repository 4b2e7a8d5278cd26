"""The numbered log on the server: each decision is applied once, in order, however often it arrives."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

import pytest

from components.grid.decision_log import BOOT, AppliedDecisions
from components.grid.logged_decision import LoggedDecision, entries_of
from store.catalog.catalog import Catalog
from store.errors import ModelUnavailable
from store.library import Library
from store.outcome import Outcome
from store.permissions import Actor
from tests.components.grid.decisions import approved, entry
from tests.store.conftest import address


def test_a_decision_that_arrives_again_is_not_repeated(
    library: Library, decision_log: AppliedDecisions
) -> None:
    log = [entry(1, "approve", 0), entry(2, "undo"), entry(3, "approve", 1)]
    for _ in range(3):
        decision_log.apply(library, "page", log, handlers={})
    assert approved(library) == {address(1)}
    assert [decision.verb for decision in library.decisions()] == ["approve", "undo", "approve", "import"]


def test_decisions_that_arrive_together_are_undone_one_by_one(
    library: Library, decision_log: AppliedDecisions
) -> None:
    decision_log.apply(library, "page", [entry(n + 1, "approve", n) for n in range(4)], handlers={})
    library.undo()
    assert approved(library) == {address(0), address(1), address(2)}


def test_a_decision_does_not_wait_for_lower_numbers(library: Library, decision_log: AppliedDecisions) -> None:
    decision_log.apply(library, "page", [entry(2, "approve", 1), entry(1, "approve", 0)], handlers={})
    assert approved(library) == {address(0), address(1)}
    assert decision_log.confirmed(["page"])["page"]["n"] == 2


def test_undo_and_redo_name_the_decision(library: Library, decision_log: AppliedDecisions) -> None:
    log = [entry(1, "approve", 0), entry(2, "undo"), entry(3, "redo"), entry(4, "undo"), entry(5, "undo")]
    decision_log.apply(library, "page", log, handlers={})
    name, coins = library.get(address(0)).name, library.counts()["trash"]
    assert [result["message"] for result in decision_log.confirmed(["page"])["page"]["results"]] == [
        "",
        f"Undone: approved {name}",
        f"Redone: approved {name}",
        f"Undone: approved {name}",
        f"Undone: imported {coins} coins",
    ]


def test_two_pages_number_their_decisions_independently(
    library: Library, decision_log: AppliedDecisions
) -> None:
    decision_log.apply(library, "one", [entry(1, "approve", 0)], handlers={})
    decision_log.apply(library, "two", [entry(1, "approve", 1)], handlers={})
    assert approved(library) == {address(0), address(1)}


def test_a_refused_decision_is_confirmed_with_its_reason(
    library: Library, decision_log: AppliedDecisions
) -> None:
    library.approve([address(0)])
    decision_log.apply(library, "page", [entry(1, "approve", 0)], handlers={})
    [result] = decision_log.confirmed(["page"])["page"]["results"]
    assert result["refused"][0]["item"] == address(0)
    assert "approved" in result["refused"][0]["reason"]


def test_every_reason_of_a_burst_is_reported_until_the_page_confirms_it(
    library: Library, decision_log: AppliedDecisions
) -> None:
    library.approve([address(0)])
    log = [entry(n, "approve", 0) for n in range(1, 101)]
    decision_log.apply(library, "page", log, handlers={})
    assert all(result["refused"] for result in decision_log.confirmed(["page"])["page"]["results"])
    assert [result["n"] for result in decision_log.confirmed(["page"])["page"]["results"]] == list(
        range(1, 101)
    )
    decision_log.apply(library, "page", [entry(101, "approve", 0)], handlers={})
    assert [result["n"] for result in decision_log.confirmed(["page"])["page"]["results"]] == [101]


def test_the_reason_for_a_rejection_is_stored(library: Library, decision_log: AppliedDecisions) -> None:
    decision_log.apply(library, "page", [entry(1, "reject", 0, reason="copycat")], handlers={})
    assert library.history(address=address(0))[0].reason == "copycat"


def test_undo_with_nothing_to_undo_says_so(library: Library, decision_log: AppliedDecisions) -> None:
    library.undo()
    decision_log.apply(library, "page", [entry(1, "undo")], handlers={})
    assert "nothing" in decision_log.confirmed(["page"])["page"]["results"][0]["refused"][0]["reason"]


class TestAfterARestart:
    """The decision_log is new; what it confirmed before is forgotten."""

    def test_a_decision_on_an_unchanged_coin_is_applied(
        self, library: Library, decision_log: AppliedDecisions
    ) -> None:
        seen = {address(0): library.get(address(0)).revision}
        decision_log.apply(library, "page", [entry(1, "approve", 0, boot="earlier", seen=seen)], handlers={})
        assert approved(library) == {address(0)}

    def test_a_decision_on_a_changed_coin_is_refused(
        self, library: Library, decision_log: AppliedDecisions
    ) -> None:
        seen = {address(0): library.get(address(0)).revision}
        library.approve([address(0)])
        library.send_back([address(0)])
        decision_log.apply(library, "page", [entry(1, "approve", 0, boot="earlier", seen=seen)], handlers={})
        assert approved(library) == set()
        assert "changed" in decision_log.confirmed(["page"])["page"]["results"][0]["refused"][0]["reason"]

    def test_an_already_applied_decision_is_not_reported_as_refused(
        self, library: Library, decision_log: AppliedDecisions
    ) -> None:
        log = [entry(1, "approve", 0, boot="earlier", seen={address(0): library.get(address(0)).revision})]
        library.approve([address(0)])
        decision_log.apply(library, "page", log, handlers={})
        assert decision_log.confirmed(["page"])["page"]["results"][0]["refused"] == []
        assert library.history(address=address(0), limit=1)[0].verb == "approve"

    def test_undo_is_not_repeated(self, library: Library, decision_log: AppliedDecisions) -> None:
        library.approve([address(0)])
        decision_log.apply(library, "page", [entry(1, "undo", boot="earlier")], handlers={})
        assert approved(library) == {address(0)}


class TestInALaterSession:
    """The browser still had decisions of an earlier page of the same person."""

    def left(self, *entries: LoggedDecision) -> list[LoggedDecision]:
        return [replace(each, session="earlier") for each in entries]

    def test_a_decision_on_an_unchanged_coin_is_applied_once(
        self, library: Library, decision_log: AppliedDecisions
    ) -> None:
        seen = {address(0): library.get(address(0)).revision}
        for _ in range(2):
            decision_log.apply(
                library, "old", self.left(entry(1, "approve", 0, seen=seen)), handlers={}, session="now"
            )
        assert approved(library) == {address(0)}
        assert [decision.verb for decision in library.decisions()] == ["approve", "import"]

    def test_a_decision_on_a_coin_changed_since_is_refused(
        self, library: Library, decision_log: AppliedDecisions
    ) -> None:
        seen = {address(0): library.get(address(0)).revision}
        library.edit_tags([address(0)], add=["moon"])
        decision_log.apply(
            library, "old", self.left(entry(1, "reject", 0, seen=seen)), handlers={}, session="now"
        )
        assert library.get(address(0)).tier == "pending"
        assert "changed" in decision_log.confirmed(["old"])["old"]["results"][0]["refused"][0]["reason"]

    def test_undo_does_not_undo_later_decisions(
        self, library: Library, decision_log: AppliedDecisions
    ) -> None:
        library.approve([address(0)])
        decision_log.apply(library, "old", self.left(entry(1, "undo")), handlers={}, session="now")
        assert approved(library) == {address(0)}
        assert "undo again" in decision_log.confirmed(["old"])["old"]["results"][0]["refused"][0]["reason"]

    def test_undo_applies_to_the_entry_before_it_in_the_same_log(
        self, library: Library, decision_log: AppliedDecisions
    ) -> None:
        seen = {address(0): library.get(address(0)).revision}
        log = self.left(entry(1, "approve", 0, seen=seen), entry(2, "undo"))
        decision_log.apply(library, "old", log, handlers={}, session="now")
        assert approved(library) == set()
        assert [decision.verb for decision in library.decisions()] == ["undo", "approve", "import"]


def test_an_error_in_a_handler_is_reported_and_not_retried(
    library: Library, decision_log: AppliedDecisions, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    def fails(entry: LoggedDecision) -> Outcome | None:
        calls.append(entry.verb)
        raise {"promote": ModelUnavailable("no model"), "tags": OSError(28, "No space left")}.get(
            entry.verb, KeyError("a mistake")
        )

    log = [entry(1, "promote", 0), entry(2, "tags", 0), entry(3, "draft", 0), entry(4, "approve", 1)]
    for _ in range(2):
        decision_log.apply(library, "page", log, handlers=dict.fromkeys(("promote", "tags", "draft"), fails))
    assert calls == ["promote", "tags", "draft"]
    assert approved(library) == {address(1)}, "later decisions are still applied"
    reasons = [
        each["refused"][0]["reason"] for each in decision_log.confirmed(["page"])["page"]["results"][:3]
    ]
    assert reasons[0] == "no model"
    assert "is full" in reasons[1]
    assert "a bug in Memedex" in reasons[2]
    assert "KeyError" in caplog.text


def test_decisions_made_after_the_login_ended_wait_for_the_next_login(
    library: Library, decision_log: AppliedDecisions
) -> None:
    login = [False]
    page = library.for_actor(Actor(library.actor_name, is_logged_in=lambda: login[0]))
    decision_log.apply(page, "page", [entry(1, "approve", 0)], handlers={})
    assert approved(library) == set()
    assert decision_log.confirmed(["page"])["page"] == {"n": 0, "results": []}
    login[0] = True
    decision_log.apply(page, "page", [entry(1, "approve", 0)], handlers={})
    assert approved(library) == {address(0)}


def test_an_undo_takes_back_one_decision_whenever_the_login_ends(library: Library) -> None:
    library.approve([address(0)])
    for lasts in count():
        library.approve([address(1)])
        asked = count()

        def is_logged_in(asked: Iterator[int] = asked, lasts: int = lasts) -> bool:
            return next(asked) < lasts

        page = library.for_actor(Actor(library.actor_name, is_logged_in=is_logged_in))
        log, undo = AppliedDecisions(), [entry(1, "undo")]
        log.apply(page, "page", undo, handlers={})
        log.apply(library, "page", undo, handlers={})  # once the person is back
        [result] = log.confirmed(["page"])["page"]["results"]
        assert (approved(library), result["refused"]) == ({address(0)}, []), f"after {lasts} questions"
        if is_logged_in():
            return


def test_an_undo_takes_back_one_decision_whatever_read_fails(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.approve([address(0)])
    bob = library.for_actor(Actor("bob"))
    reading, this_thread = Catalog.reading, threading.get_ident()
    for number in count():
        library.approve([address(1)])
        reads = count()

        @contextmanager
        def fails_once(
            catalog: Catalog, reads: Iterator[int] = reads, number: int = number
        ) -> Iterator[sqlite3.Connection]:
            if threading.get_ident() == this_thread and next(reads) == number:
                raise sqlite3.OperationalError("disk I/O error")
            with reading(catalog) as db:
                yield db

        log, undo = AppliedDecisions(), [entry(1, "undo")]
        with monkeypatch.context() as failing:
            failing.setattr(Catalog, "reading", fails_once)
            log.apply(library, "page", undo, handlers={})
        log.apply(library, "page", undo, handlers={})  # the page had no answer
        [result] = log.confirmed(["page"])["page"]["results"]
        left = {address(0), address(1)} if result["refused"] else {address(0)}
        assert approved(library) == left, f"read {number}"
        if next(reads) <= number:
            return
        bob.edit_tags([address(2)], add=[f"read {number}"])  # finishes what waits for the disk


def test_an_action_that_needs_a_page_waits_for_one(library: Library, decision_log: AppliedDecisions) -> None:
    log = [entry(1, "approve", 0), entry(2, "promote", 0), entry(3, "approve", 1)]
    decision_log.apply(library, "page", log, handlers=None)
    assert decision_log.confirmed(["page"])["page"]["n"] == 1
    calls: list[LoggedDecision] = []

    def promote(entry: LoggedDecision) -> Outcome | None:
        calls.append(entry)
        return None

    decision_log.apply(library, "page", log, handlers={"promote": promote})
    assert [each.n for each in calls] == [2]
    assert approved(library) == {address(0), address(1)}


def test_decisions_of_an_earlier_page_are_applied_before_newer_ones(
    library: Library, decision_log: AppliedDecisions
) -> None:
    left = [{"n": 1, "verb": "approve", "addresses": [address(0)], "seen": {}, "boot": BOOT}]
    own = [{"n": 1, "verb": "undo", "addresses": [], "seen": {}, "boot": BOOT}]
    for client, entries in entries_of({"client": "new", "entries": own, "others": {"old": left}}).items():
        decision_log.apply(library, client, entries, handlers={})
    assert [decision.verb for decision in library.decisions()] == ["undo", "approve", "import"]
