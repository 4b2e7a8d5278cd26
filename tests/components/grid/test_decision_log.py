"""The numbered log on the server: each decision is applied once, in order, however often it arrives."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.grid.decision_log import BOOT, Ledger
from components.grid.logged_decision import LoggedDecision, entries_of
from components.grid.matching import offered
from store.catalog.filters import Filter
from store.errors import ModelUnavailable
from store.library import Library
from store.outcome import Outcome
from store.permissions import Actor
from tests.store.conftest import address, coin


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def entry(n: int, verb: str, *numbers: int, boot: str = BOOT, **more: Any) -> LoggedDecision:
    seen = more.pop("seen", {})
    addresses = [address(number) for number in numbers]
    return LoggedDecision(n, verb, addresses, seen, more.pop("reason", ""), boot, **more)


def approved(library: Library) -> set[str]:
    return set(library.addresses(Filter(tier="approved")))


def test_what_arrives_again_is_not_done_again(library: Library, ledger: Ledger) -> None:
    log = [entry(1, "approve", 0), entry(2, "undo"), entry(3, "approve", 1)]
    for _ in range(3):
        ledger.apply(library, "page", log, handlers={})
    assert approved(library) == {address(1)}
    assert [decision.verb for decision in library.decisions()] == ["approve", "undo", "approve", "import"]


def test_decisions_that_arrive_together_are_undone_one_by_one(library: Library, ledger: Ledger) -> None:
    ledger.apply(library, "page", [entry(n + 1, "approve", n) for n in range(4)], handlers={})
    library.undo()
    assert approved(library) == {address(0), address(1), address(2)}


def test_a_later_number_waits_for_no_earlier_one(library: Library, ledger: Ledger) -> None:
    ledger.apply(library, "page", [entry(2, "approve", 1), entry(1, "approve", 0)], handlers={})
    assert approved(library) == {address(0), address(1)}
    assert ledger.confirmed(["page"])["page"]["n"] == 2


def test_what_was_taken_back_is_said(library: Library, ledger: Ledger) -> None:
    log = [entry(1, "approve", 0), entry(2, "undo"), entry(3, "redo"), entry(4, "undo"), entry(5, "undo")]
    ledger.apply(library, "page", log, handlers={})
    name, coins = library.get(address(0)).name, library.counts()["trash"]
    assert [result["said"] for result in ledger.confirmed(["page"])["page"]["results"]] == [
        "", f"Undone: approved {name}", f"Redone: approved {name}", f"Undone: approved {name}",
        f"Undone: imported {coins} coins",
    ]  # fmt: skip


def test_two_pages_count_by_themselves(library: Library, ledger: Ledger) -> None:
    ledger.apply(library, "one", [entry(1, "approve", 0)], handlers={})
    ledger.apply(library, "two", [entry(1, "approve", 1)], handlers={})
    assert approved(library) == {address(0), address(1)}


def test_a_refused_decision_is_confirmed_with_its_reason(library: Library, ledger: Ledger) -> None:
    library.approve([address(0)])
    ledger.apply(library, "page", [entry(1, "approve", 0)], handlers={})
    [result] = ledger.confirmed(["page"])["page"]["results"]
    assert result["refused"][0]["item"] == address(0)
    assert "approved" in result["refused"][0]["reason"]


def test_of_a_burst_every_reason_is_told_until_the_page_has_heard_it(
    library: Library, ledger: Ledger
) -> None:
    library.approve([address(0)])
    log = [entry(n, "approve", 0) for n in range(1, 101)]
    ledger.apply(library, "page", log, handlers={})
    assert all(result["refused"] for result in ledger.confirmed(["page"])["page"]["results"])
    assert [result["n"] for result in ledger.confirmed(["page"])["page"]["results"]] == list(range(1, 101))
    ledger.apply(library, "page", [entry(101, "approve", 0)], handlers={})
    assert [result["n"] for result in ledger.confirmed(["page"])["page"]["results"]] == [101]


def test_the_reason_for_a_rejection_is_stored(library: Library, ledger: Ledger) -> None:
    ledger.apply(library, "page", [entry(1, "reject", 0, reason="copycat")], handlers={})
    assert library.history(address=address(0))[0].reason == "copycat"


def test_undo_with_nothing_to_undo_says_so(library: Library, ledger: Ledger) -> None:
    library.undo()
    ledger.apply(library, "page", [entry(1, "undo")], handlers={})
    assert "nothing" in ledger.confirmed(["page"])["page"]["results"][0]["refused"][0]["reason"]


class TestAfterARestart:
    """The ledger is new; what it confirmed before is forgotten."""

    def test_a_decision_on_an_unchanged_coin_is_carried_out(self, library: Library, ledger: Ledger) -> None:
        seen = {address(0): library.get(address(0)).revision}
        ledger.apply(library, "page", [entry(1, "approve", 0, boot="earlier", seen=seen)], handlers={})
        assert approved(library) == {address(0)}

    def test_a_decision_on_a_changed_coin_is_not(self, library: Library, ledger: Ledger) -> None:
        seen = {address(0): library.get(address(0)).revision}
        library.approve([address(0)])
        library.send_back([address(0)])
        ledger.apply(library, "page", [entry(1, "approve", 0, boot="earlier", seen=seen)], handlers={})
        assert approved(library) == set()
        assert "changed" in ledger.confirmed(["page"])["page"]["results"][0]["refused"][0]["reason"]

    def test_what_was_done_before_the_page_heard_of_it_is_no_complaint(
        self, library: Library, ledger: Ledger
    ) -> None:
        log = [entry(1, "approve", 0, boot="earlier", seen={address(0): library.get(address(0)).revision})]
        library.approve([address(0)])
        ledger.apply(library, "page", log, handlers={})
        assert ledger.confirmed(["page"])["page"]["results"][0]["refused"] == []
        assert library.history(address=address(0), limit=1)[0].verb == "approve"

    def test_undo_is_not_done_a_second_time(self, library: Library, ledger: Ledger) -> None:
        library.approve([address(0)])
        ledger.apply(library, "page", [entry(1, "undo", boot="earlier")], handlers={})
        assert approved(library) == {address(0)}


class TestInALaterSession:
    """The browser still had what an earlier page of the same person left behind."""

    def left(self, *entries: LoggedDecision) -> list[LoggedDecision]:
        return [replace(each, session="earlier") for each in entries]

    def test_a_decision_on_an_unchanged_coin_is_carried_out_once(
        self, library: Library, ledger: Ledger
    ) -> None:
        seen = {address(0): library.get(address(0)).revision}
        for _ in range(2):
            ledger.apply(
                library, "old", self.left(entry(1, "approve", 0, seen=seen)), handlers={}, session="now"
            )
        assert approved(library) == {address(0)}
        assert [decision.verb for decision in library.decisions()] == ["approve", "import"]

    def test_a_decision_on_a_coin_changed_since_is_refused(self, library: Library, ledger: Ledger) -> None:
        seen = {address(0): library.get(address(0)).revision}
        library.edit_tags([address(0)], add=["moon"])
        ledger.apply(library, "old", self.left(entry(1, "reject", 0, seen=seen)), handlers={}, session="now")
        assert library.get(address(0)).tier == "pending"
        assert "changed" in ledger.confirmed(["old"])["old"]["results"][0]["refused"][0]["reason"]

    def test_undo_does_not_take_back_what_was_decided_since(self, library: Library, ledger: Ledger) -> None:
        library.approve([address(0)])
        ledger.apply(library, "old", self.left(entry(1, "undo")), handlers={}, session="now")
        assert approved(library) == {address(0)}
        assert "undo again" in ledger.confirmed(["old"])["old"]["results"][0]["refused"][0]["reason"]

    def test_undo_takes_back_what_stands_before_it_in_the_same_log(
        self, library: Library, ledger: Ledger
    ) -> None:
        seen = {address(0): library.get(address(0)).revision}
        log = self.left(entry(1, "approve", 0, seen=seen), entry(2, "undo"))
        ledger.apply(library, "old", log, handlers={}, session="now")
        assert approved(library) == set()
        assert [decision.verb for decision in library.decisions()] == ["undo", "approve", "import"]


def test_what_a_handler_raises_is_its_answer_and_is_asked_once(
    library: Library, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[str] = []

    def fails(entry: LoggedDecision) -> Outcome | None:
        asked.append(entry.verb)
        raise {"promote": ModelUnavailable("no model"), "tags": OSError(28, "No space left")}.get(
            entry.verb, KeyError("a mistake")
        )

    log = [entry(1, "promote", 0), entry(2, "tags", 0), entry(3, "draft", 0), entry(4, "approve", 1)]
    for _ in range(2):
        ledger.apply(library, "page", log, handlers=dict.fromkeys(("promote", "tags", "draft"), fails))
    assert asked == ["promote", "tags", "draft"]
    assert approved(library) == {address(1)}, "what comes after it is not held up"
    reasons = [each["refused"][0]["reason"] for each in ledger.confirmed(["page"])["page"]["results"][:3]]
    assert reasons[0] == "no model"
    assert "is full" in reasons[1]
    assert "mistake of the program" in reasons[2]
    assert "KeyError" in caplog.text


def test_what_was_decided_after_the_login_ended_waits_for_the_next_one(
    library: Library, ledger: Ledger
) -> None:
    login = [False]
    page = library.for_actor(Actor(library.actor_name, is_logged_in=lambda: login[0]))
    ledger.apply(page, "page", [entry(1, "approve", 0)], handlers={})
    assert approved(library) == set()
    assert ledger.confirmed(["page"])["page"] == {"n": 0, "results": []}
    login[0] = True
    ledger.apply(page, "page", [entry(1, "approve", 0)], handlers={})
    assert approved(library) == {address(0)}


def test_a_verb_that_needs_a_page_waits_for_one(library: Library, ledger: Ledger) -> None:
    log = [entry(1, "approve", 0), entry(2, "promote", 0), entry(3, "approve", 1)]
    ledger.apply(library, "page", log, handlers=None)
    assert ledger.confirmed(["page"])["page"]["n"] == 1
    asked: list[LoggedDecision] = []

    def promote(entry: LoggedDecision) -> Outcome | None:
        asked.append(entry)
        return None

    ledger.apply(library, "page", log, handlers={"promote": promote})
    assert [each.n for each in asked] == [2]
    assert approved(library) == {address(0), address(1)}


def test_what_an_earlier_page_left_behind_comes_before_what_was_decided_since(
    library: Library, ledger: Ledger
) -> None:
    left = [{"n": 1, "verb": "approve", "addresses": [address(0)], "seen": {}, "boot": BOOT}]
    own = [{"n": 1, "verb": "undo", "addresses": [], "seen": {}, "boot": BOOT}]
    for client, entries in entries_of({"client": "new", "entries": own, "others": {"old": left}}).items():
        ledger.apply(library, client, entries, handlers={})
    assert [decision.verb for decision in library.decisions()] == ["undo", "approve", "import"]


@pytest.mark.parametrize(
    "log",
    [
        None,
        [],
        "text",
        {"client": 3, "entries": []},
        {"client": "x" * 65, "entries": [{"n": 1, "verb": "approve", "addresses": []}]},
        {"client": "page", "entries": {"n": 1}},
        {"client": "page", "entries": [None, 7, {"n": "1", "verb": "approve", "addresses": []}]},
        {"client": "page", "entries": [{"n": 1, "verb": "approve", "addresses": [3]}]},
        {"client": "page", "entries": [{"n": 1, "verb": "approve", "addresses": "all"}], "others": [1]},
    ],
)
def test_what_is_no_log_is_left_out(log: object) -> None:
    assert not any(entries_of(log).values())


def matching(library: Library, **more: Any) -> dict[str, Any]:
    return {**offered(library, Filter(tier="pending"), total=0), **more}


def test_all_that_match_are_decided_as_one_and_undone_as_one(library: Library, ledger: Ledger) -> None:
    chosen = entry(1, "approve", matching=matching(library, **{"except": [address(2)]}))
    for _ in range(2):
        ledger.apply(library, "page", [chosen], handlers={})
    assert approved(library) == set(library.addresses(Filter())) - {address(2)}
    ledger.apply(library, "page", [entry(2, "undo")], handlers={})
    assert approved(library) == set()


def test_what_came_or_changed_after_the_choice_is_not_among_all_that_match(
    library: Library, ledger: Ledger
) -> None:
    seen = matching(library)
    library.add([coin(50)])
    library.edit_tags([address(1)], add=["moon"])
    ledger.apply(library, "page", [entry(1, "approve", matching=seen, boot="before")], handlers={})
    assert approved(library) == {address(0), *(address(n) for n in range(2, 6))}


@pytest.mark.parametrize(
    "forged", [{}, {"filter": 3}, {"filter": "{", "generation": 9}, {"filter": "{}", "generation": 10**6}]
)
def test_a_choice_that_is_none_decides_nothing(
    library: Library, ledger: Ledger, forged: dict[str, Any]
) -> None:
    log = {"client": "page", "entries": [{"n": 1, "verb": "approve", "addresses": [], "matching": forged}]}
    for client, entries in entries_of(log).items():
        ledger.apply(library, client, entries, handlers={})
    assert approved(library) == set()


LOGS = json.loads((Path(__file__).parents[2] / "shared" / "decision_log.json").read_text("utf-8"))


@pytest.mark.parametrize("case", LOGS, ids=lambda case: case["name"])
def test_what_a_page_sends_is_read_as_it_was_decided(case: dict[str, Any]) -> None:
    """That a page sends it so is held by `js/log.test.js`."""
    lists: dict[str, Any] = {"others": [], "add": [], "remove": []}
    place = {"actor" if name == "who" else name: value for name, value in case["place"].items()}
    made_in = {"boot": case["boot"], **place}
    assert entries_of(case["sent"]) == {
        "page": [LoggedDecision(**(lists | made_in | read)) for read in case["read"]]
    }
