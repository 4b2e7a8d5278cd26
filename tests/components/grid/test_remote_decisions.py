"""Two people decide about the same coins: nobody overrules the other without having seen it."""

import pytest
import streamlit as st

from components.grid.remote_decisions import shadows
from store.catalog.filters import Filter
from store.library import Library
from store.permissions import Actor
from tests.components.grid.decisions import decide, entry, undo
from tests.store.conftest import address


@pytest.fixture
def ann(library: Library) -> Library:
    return library.for_actor(Actor("ann@x.org"))


@pytest.fixture
def ben(library: Library) -> Library:
    return library.for_actor(Actor("ben@x.org"))


def seen(library: Library, *numbers: int) -> dict[str, int]:
    return {address(number): library.get(address(number)).revision for number in numbers}


def test_a_coin_that_somebody_decided_since_is_asked_about(ann: Library, ben: Library) -> None:
    shown = seen(ben, 0, 1)
    ann.approve([address(0)])
    [result] = decide(ben, entry("reject", 0, 1, seen=shown, reason="scam"))
    assert (ben.get(address(0)).tier, ben.get(address(1)).tier) == ("approved", "trash")
    assert result["refused"] == [{"item": address(0), "reason": "approved by ann@x.org just now"}]
    assert result["reason"] == "scam"
    # All the same: the page sends what it was told.
    decide(ben, entry("reject", 0, seen=result["again"], reason="scam"))
    assert ben.get(address(0)).tier == "trash"


def test_the_same_decision_of_two_people_is_no_question(ann: Library, ben: Library) -> None:
    shown = seen(ben, 0)
    ann.reject([address(0)])
    [result] = decide(ben, entry("reject", 0, seen=shown))
    assert result["again"] == {}


def test_what_changed_without_a_decision_is_decided_at_once(ann: Library, ben: Library) -> None:
    shown = seen(ben, 0, 1)
    ann.edit_tags([address(0)], add=["dog"])
    approves = entry("approve", 1, seen=shown)
    own = [approves["id"]]  # as seen before its own decision and undo
    decide(ben, approves, undo(approves), entry("reject", 0, 1, seen=shown, after=own))
    assert set(ben.addresses(Filter(tier="trash"))) >= {address(0), address(1)}


def test_one_person_in_two_windows_is_asked_as_well(ann: Library) -> None:
    shown = seen(ann, 0)
    ann.approve([address(0)])
    [result] = decide(ann, entry("reject", 0, seen=shown))
    assert result["refused"][0]["reason"] == "approved by you in another window just now"


@pytest.fixture
def session_state(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    state: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


@pytest.mark.usefixtures("session_state")
def test_a_coin_that_another_person_decided_stays_as_a_shadow(ann: Library, ben: Library) -> None:
    everything = [address(number) for number in range(4)]
    assert shadows("pending", ben, everything, question="all") == {}
    ann.approve([address(1)])
    left = [address(0), address(2), address(3)]
    for _ in range(2):  # as long as the question is the same
        [(shadow, what)] = shadows("pending", ben, left, question="all").items()
        assert (shadow, what["label"]) == (address(1), "approved by ann@x.org")
    assert shadows("pending", ben, left, question="dogs") == {}


@pytest.mark.usefixtures("session_state")
def test_a_decision_of_the_same_person_leaves_a_shadow_that_names_it(ann: Library) -> None:
    approves = entry("approve", 1, seen=seen(ann, 1))
    shadows("pending", ann, [address(0), address(1)], question="all")
    decide(ann, approves)
    assert shadows("pending", ann, [address(0)], question="all") == {
        address(1): {"label": "approved by you in another window", "decision": approves["id"]}
    }, "the window that made it shows none"
