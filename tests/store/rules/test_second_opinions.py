"""Second opinions: decisions are asked again of another person, blind; disagreements are settled."""

from typing import Any

import numpy as np
import pytest

from store.errors import InvalidRecord
from store.library import Library
from store.permissions import Actor
from store.rules import past, second_opinions
from store.rules.second_opinions import Agreement, Answer, Opinion, agreement
from store.runtime import open_library
from store.settings import settings
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")

APPROVED, REJECTED, LEFT = address(0), address(1), address(2)


@pytest.fixture
def reviewed(library: Library) -> Library:
    """Ann approved one coin and rejected another; every decision is asked again."""
    library.add([coin(0), coin(1), coin(2)], actor="ann")
    library.approve([APPROVED], actor="ann")
    library.reject([REJECTED], reason="scam", actor="ann")
    second_opinions.set_share(library, 100, actor="ann")
    return library


def alpha_of(pairs: list[tuple[str, str]]) -> Agreement:
    return Agreement.among("", pairs, counted=pairs)


def test_a_decision_is_asked_again_of_everybody_but_who_made_it(reviewed: Library) -> None:
    assert set(second_opinions.asked(reviewed, "ben")) == {APPROVED, REJECTED}
    assert second_opinions.asked(reviewed, "Ann (shared password)") == {}, "ann under another login"
    refused = second_opinions.answer(reviewed, [APPROVED], "approved", actor="ann").refused
    assert [one.reason for one in refused] == ["you decided it yourself: another person is asked"]
    with pytest.raises(InvalidRecord, match="a second opinion is a person's"):
        second_opinions.answer(reviewed, [APPROVED], "approved", actor="claude for ben")


def test_who_is_asked_sees_the_coin_as_it_was_in_review(reviewed: Library) -> None:
    reviewed.comment([APPROVED], "so approved", actor="ann")
    reviewed.caption(APPROVED, caption={"entity": "a dog"}, tags=["moon"], actor="ann")
    ben = reviewed.for_actor(Actor("ben"))
    ben.comment([APPROVED], "hm")
    shown = second_opinions.as_decided(ben, second_opinions.asked(ben)[APPROVED])
    assert (shown.tier, shown.tags, shown.caption) == ("pending", ["dog"], {})
    assert [one["text"] for one in shown.comments] == ["hm"], "one's own comment alone"


def test_an_answer_moves_nothing_and_is_taken_back_by_undo(reviewed: Library) -> None:
    done = second_opinions.answer(reviewed, [APPROVED, REJECTED], "rejected", reason="copycat", actor="ben")
    assert set(done.done) == {APPROVED, REJECTED}
    assert [reviewed.get(one).tier for one in (APPROVED, REJECTED)] == ["approved", "trash"]
    opinions = {one.address: one for one in second_opinions.opinions(reviewed)}
    assert opinions[REJECTED].agrees, "whatever the reasons"
    assert not opinions[REJECTED].is_open
    assert opinions[APPROVED].second.sentence == "rejected by ben: copycat"
    assert opinions[APPROVED].is_open
    (late,) = second_opinions.answer(reviewed, [APPROVED], "approved", actor="cleo").refused
    assert "somebody has answered" in late.reason

    reviewed.undo(actor="ben")
    assert second_opinions.opinions(reviewed) == []
    assert set(second_opinions.asked(reviewed, "cleo")) == {APPROVED, REJECTED}
    reviewed.redo(actor="ben")
    assert {one.address for one in second_opinions.opinions(reviewed)} == {APPROVED, REJECTED}


def test_the_same_answer_sent_twice_counts_once(reviewed: Library) -> None:
    for _ in range(2):
        done = second_opinions.answer(reviewed, [APPROVED], "rejected", actor="ben", decision="once")
        assert (done.done, done.refused, done.decision) == ([APPROVED], [], "once")
    assert len(reviewed.history(decision="once")) == 1


def test_a_disagreement_is_settled_and_comes_back_by_one_undo(reviewed: Library) -> None:
    second_opinions.answer(reviewed, [APPROVED], "rejected", reason="copycat", actor="ben")
    second_opinions.answer(reviewed, [REJECTED], "approved", actor="ben")
    done = second_opinions.settle(reviewed, [APPROVED, REJECTED, LEFT], "rejected", actor="cleo")
    assert [one.item for one in done.refused] == [LEFT]
    assert [reviewed.get(one).tier for one in (APPROVED, REJECTED)] == ["trash", "trash"]
    opinions = second_opinions.opinions(reviewed)
    assert {one.settled and one.settled.sentence for one in opinions} == {"rejected by cleo"}
    assert not any(one.is_open for one in opinions)

    reviewed.undo(actor="cleo")
    assert [reviewed.get(one).tier for one in (APPROVED, REJECTED)] == ["approved", "trash"]
    assert all(one.is_open for one in second_opinions.opinions(reviewed))
    second_opinions.settle(reviewed, [REJECTED], "approved", actor="cleo")
    assert reviewed.get(REJECTED).tier == "approved"


def test_the_co_pilot_learns_what_was_settled_in_place_of_the_first_decision(reviewed: Library) -> None:
    second_opinions.answer(reviewed, [APPROVED, REJECTED], "rejected", actor="ben")
    assert {one.address: one.was for one in past.decided(reviewed, since=0)} == {
        APPROVED: "approved",
        REJECTED: "rejected",
    }
    second_opinions.settle(reviewed, [APPROVED], "rejected", actor="cleo")
    (first,) = [one for one in past.decided(reviewed, since=0) if one.address == APPROVED]
    assert (first.was, first.said, first.actor) == ("rejected", "approved", "ann")


@pytest.mark.parametrize("change", ["undo", "restored", "rejected by another"])
def test_what_was_decided_anew_is_neither_asked_nor_contested(reviewed: Library, change: str) -> None:
    second_opinions.answer(reviewed, [REJECTED], "approved", actor="ben")
    match change:
        case "undo":
            reviewed.undo(2, actor="ann")
        case "restored":
            reviewed.restore([REJECTED], actor="ann")
            reviewed.send_back([APPROVED], actor="cleo")
        case _:
            reviewed.restore([REJECTED], actor="ann")
            reviewed.reject([APPROVED], actor="cleo")
    assert APPROVED not in second_opinions.asked(reviewed, "ben")
    assert not any(one.is_open for one in second_opinions.opinions(reviewed))


def test_a_share_is_drawn_by_coin_and_decision_and_only_grows(library: Library) -> None:
    coins = [address(number) for number in range(200)]
    library.add(coin(number) for number in range(200))
    library.approve(coins, actor="ann")
    drawn = []
    for percent in (0, 10, 30):
        second_opinions.set_share(library, percent)
        drawn.append([one.address for one in second_opinions.drawn(library)])
    assert drawn[0] == []
    assert 8 <= len(drawn[1]) <= 35 < len(drawn[2]) <= 85
    assert drawn[2][: len(drawn[1])] == drawn[1]
    root = library.layout.root
    library.close()
    with open_library(root, embedder=Hashed()) as again:
        assert [one.address for one in second_opinions.drawn(again)] == drawn[2]
        assert {*second_opinions.asked(again, "ben", among=coins[:50])} == {*coins[:50]} & {*drawn[2]}
        assert second_opinions.drawn(again, now=2e9) == [], "older than 90 days"
        with pytest.raises(InvalidRecord, match="from 0 to 100"):
            second_opinions.set_share(again, 101)


def test_a_viewer_is_asked_nothing(reviewed: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "viewers", "eve")
    assert second_opinions.asked(reviewed.for_actor(Actor("eve"))) == {}


# Reliability data with the alpha that the package `krippendorff` 0.9.0 gives for it (nominal).
@pytest.mark.parametrize(
    ("counts", "alpha"),
    [
        ({"aa": 40, "bb": 40, "ab": 10, "ba": 10}, 0.602),
        ({"aa": 90, "bb": 2, "ab": 5, "ba": 3}, 0.2943),
        ({"aa": 10, "bb": 5, "cc": 5, "ab": 4, "bc": 3, "ca": 2}, 0.5281),
        ({"ab": 15, "ba": 15}, -0.9667),
    ],
)
def test_alpha_is_krippendorffs(counts: dict[str, int], alpha: float) -> None:
    pairs = [(pair[0], pair[1]) for pair, count in counts.items() for _ in range(count)]
    found = alpha_of(pairs)
    assert found.alpha == pytest.approx(alpha, abs=0.0001)
    assert found.interval is not None
    low, high = found.interval
    assert low < alpha < high or alpha < -0.9


def test_the_interval_holds_alpha_in_nineteen_of_twenty_samples() -> None:
    rng = np.random.default_rng(1)
    shares = np.array([[0.45, 0.1], [0.05, 0.4]])
    truth = float(second_opinions.alpha(shares * 1e9))
    held = 0
    for _ in range(200):
        low, high = second_opinions.interval(rng.multinomial(150, shares.ravel()).reshape(2, 2) * 1.0)
        held += low <= truth <= high
    assert 180 <= held <= 198


def opinion(first: str, second: str, *, who: str = "ann", other: str = "ben", at: float = 0.0) -> Opinion:
    """Each said "approved", or rejects for this reason."""

    def said(text: str, actor: str) -> Answer:
        rejects: Any = "approved" if text == "approved" else "rejected"
        return Answer(rejects, "" if text == "approved" else text, actor, at)

    return Opinion("a", "A", "approved", said(first, who), said(second, other), None)


def test_figures_are_by_pair_reason_and_month_and_say_what_is_missing() -> None:
    month = 31 * 86_400.0
    found = agreement(
        [opinion("approved", "approved")] * 15
        + [opinion("scam", "copycat", who="ben", other="ann", at=month)] * 3
        + [opinion("scam", "scam", other="cleo", at=month)] * 4
    )
    assert found.whole.sentence == "22 of 22 alike (85 to 100 %); alpha 1.00 (1.00 to 1.00)"
    assert [(one.of, one.opinions, one.agreed) for one in found.people] == [
        ("ann · ben", 18, 18),
        ("ann · cleo", 4, 4),
    ]
    assert [(one.of, one.opinions, one.agreed) for one in found.reasons] == [
        ("scam", 7, 4),
        ("copycat", 3, 0),
    ]
    assert [(one.of, one.missing) for one in found.months] == [("1970-02", 13), ("1970-01", 5)]
    assert "16 more second opinions are needed" in found.people[1].sentence


def test_agreement_that_was_never_tried_is_no_agreement() -> None:
    found = alpha_of([("approved", "approved")] * 30)
    assert (found.alpha, found.interval, found.missing) == (None, None, 0)
    assert "tells nothing of agreement" in found.sentence
