"""A learner takes a score apart, scores decisions in time, and a promise comes from such scores alone."""

from dataclasses import replace

import numpy as np
import pytest

from store.rules import learning
from store.rules.learning import (
    UNLIKE,
    Coin,
    Learner,
    Promise,
    in_time,
    lacking,
    missing,
    told_apart,
    wilson,
)

NOTHING = np.zeros((200, 1), np.float32)
APPROVED = np.arange(200) % 2 == 0
COINS = [
    Coin(("name moon" if yes else "name scam", "text same"), {"volume": 1e6 if yes else 10.0}, {"blank": 0.5})
    for yes in APPROVED.tolist()
]


def certain(*wrong: bool) -> list[tuple[float, bool]]:
    """Decisions that were scored with falling confidence, some of them wrongly."""
    return [(1 - at / 1_000, not is_wrong) for at, is_wrong in enumerate(wrong)]


def test_a_learner_tells_apart_what_people_told_apart() -> None:
    learner = Learner.of(COINS, NOTHING, APPROVED)
    moon, scam = learner.scores([Coin(("name moon",)), Coin(("name scam",))], NOTHING[:2])
    assert moon > 0.7
    assert scam < 0.3


def test_a_name_is_read_by_its_pieces_but_not_by_its_number() -> None:
    coins = [
        Coin(("name babydoge" if yes else "name rugpull", f"name {at}")) for at, yes in enumerate(APPROVED)
    ]
    learner = Learner.of(coins, NOTHING, APPROVED)
    asked = [
        Coin(("name dogezilla",)),
        Coin(("ticker rugs",)),
        Coin(("name wif 100",)),
        Coin(("name wif 101",)),
    ]
    doge, rugs, one, other = learner.scores(asked, NOTHING[:4])
    assert doge > 0.6
    assert rugs < 0.4
    assert one == other
    (doge_signal, *_) = learner.signals(asked[0], NOTHING[0])
    assert (doge_signal.name, doge_signal.weight > 0) == ("name dogezilla", True)


def test_what_learned_before_pieces_were_read_is_still_understood() -> None:
    learner = Learner.of(COINS, NOTHING, APPROVED)
    pieces = len(learner.weights) - learning._PIECES
    learner.weights[pieces:] = 0
    earlier = replace(learner, weights=learner.weights[:pieces], usual=learner.usual[:pieces])
    again = Learner.from_bytes(earlier.as_bytes())
    assert again.scores(COINS, NOTHING).tolist() == learner.scores(COINS, NOTHING).tolist()


def test_the_weightiest_signals_come_first_with_what_they_speak_for() -> None:
    first, second, *_ = Learner.of(COINS, NOTHING, APPROVED).signals(COINS[0], NOTHING[0])
    assert {first.name, second.name} == {"name moon", "volume 1e+06"}
    assert first.weight >= second.weight > 0


def test_a_learner_that_was_stored_gives_the_same_scores() -> None:
    vectors = np.random.default_rng(0).standard_normal((200, 8)).astype(np.float32)
    learner = Learner.of(COINS, vectors, APPROVED)
    again = Learner.from_bytes(learner.as_bytes())
    assert again.scores(COINS, vectors).tolist() == learner.scores(COINS, vectors).tolist()


def test_a_coin_without_any_signal_has_a_score() -> None:
    (score,) = Learner.of(COINS, NOTHING, APPROVED).scores([Coin()], NOTHING[:1])
    assert 0 < score < 1


def test_numbers_of_any_size_are_borne() -> None:
    strange = [Coin((), {"volume": value}) for value in (1e308, -1e308, 0.0, float("inf"))]
    assert np.isfinite(Learner.of(COINS, NOTHING, APPROVED).scores(strange, NOTHING[:4])).all()


def test_no_decision_is_scored_by_one_that_learned_from_it_or_a_later_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learned = []

    def of(coins: list[Coin], vectors: object, approved: object) -> Learner:
        learned.append(len(coins))
        return real(coins, vectors, approved)  # type: ignore[arg-type]

    real = Learner.of
    monkeypatch.setattr(Learner, "of", of)
    scored = in_time(COINS, NOTHING, APPROVED, go_on=lambda: True)
    assert learned == [100, 125, 150, 175]
    assert [approved for _, approved in scored] == APPROVED[100:].tolist()


def test_only_decisions_that_count_are_scored() -> None:
    counts = np.arange(200) % 2 == 0
    scored = in_time(COINS, NOTHING, APPROVED, counts=counts, go_on=lambda: True)
    assert [approved for _, approved in scored] == APPROVED[100::2].tolist()


def test_while_people_only_approved_nothing_is_sure() -> None:
    scored = in_time(COINS, NOTHING, np.ones(200, np.bool_), go_on=lambda: True)
    assert {score for score, _ in scored} == {0.5}


@pytest.mark.parametrize(
    ("wrong", "bears", "settled"),
    [
        ([False] * 48, 0.02, 0),  # (0 + 1) / (48 + 1) is more than 2 %
        ([False] * 49, 0.02, 49),
        ([True] + [False] * 97, 0.02, 0),
        ([True] + [False] * 98, 0.02, 99),
        ([False] * 9 + [True] * 9, 0.1, 9),
        ([], 0.02, 0),
    ],
)
def test_a_threshold_bears_as_many_errors_as_conformal_risk_control_allows(
    wrong: list[bool], bears: float, settled: int
) -> None:
    promise = Promise.of(certain(*wrong), bears)
    assert promise.settled == settled
    assert promise.threshold == (pytest.approx(1 - (settled - 1) / 1_000) if settled else None)


def test_coins_of_one_confidence_are_settled_together_or_not_at_all() -> None:
    scored = [(0.9, True)] * 30 + [(0.1, True)] * 30  # as sure, and wrong
    assert Promise.of(scored, 0.05).settled == 0


def test_a_promise_holds_on_the_latest_decisions_too() -> None:
    early, late = certain(*[False] * 1_000), certain(*[True] * 5, *[False] * 495)
    assert Promise.of([(0.9, True)] * 1_500, 0.01).settled == 1_500
    assert Promise.of(early + late, 0.01).threshold is None


def test_a_promise_settles_both_ways() -> None:
    promise = Promise.of(certain(*[False] * 60), 0.02)
    assert [promise.settles(score) for score in (0.99, 0.01, 0.5)] == [True, True, False]
    assert not Promise.of([], 0.02).settles(1.0)


def test_the_promised_share_is_kept_on_decisions_to_come() -> None:
    """Of many streams of decisions, those that come after are wrong as often as promised, or less."""
    random = np.random.default_rng(4)
    wrong = settled = 0
    for _ in range(200):
        sure = random.uniform(0.5, 1, 1_000)
        scored = list(zip(sure.tolist(), (random.random(1_000) < sure).tolist(), strict=True))
        promise = Promise.of(scored[:500], 0.05)
        later = [approved for score, approved in scored[500:] if promise.settles(score)]
        settled += len(later)
        wrong += later.count(False)
    assert settled > 5_000
    assert wrong / settled <= 0.055


def test_a_promise_is_kept_on_what_waits_in_nine_of_ten_cases() -> None:
    random = np.random.default_rng(5)
    broken, shares = {0: 0, 200: 0}, list[float]()
    for _ in range(200):
        sure = random.uniform(0.5, 1, 500)
        scored = list(zip(sure.tolist(), (random.random(500) < sure).tolist(), strict=True))
        for waiting in broken:
            promise = Promise.of(scored[:300], 0.1, waiting)
            later = [approved for score, approved in scored[300:] if promise.settles(score)]
            broken[waiting] += later.count(False) > 0.1 * len(later)
            shares.append(promise.share)
    assert broken[200] <= 25 < 60 < broken[0], "on average it is kept without that"
    assert np.mean(shares[1::2]) > 0.1


def test_other_coins_are_told_apart_only_if_they_are_unlike() -> None:
    assert told_apart(COINS[:100], COINS[100:], NOTHING) <= UNLIKE
    assert told_apart(COINS[:100], [Coin(("name cat",))] * 100, NOTHING) > 0.9
    assert told_apart(COINS[:100], [Coin(("name cat",))] * 19, NOTHING) == 0.5, "too few to tell"


def test_it_says_of_how_many_more_decisions_something_would_be_settled() -> None:
    few = certain(*[False] * 40)
    assert Promise.of(few, 0.02).threshold is None
    assert lacking(few, 0.02, 0) == 40, "with 60 in place of 40 that are scored, a half of all"
    assert lacking([(0.9, True), (0.9, False)] * 40, 0.02, 0) is None, "it knows nothing"
    assert lacking([], 0.02, 0) is None


def test_what_is_missing_is_counted() -> None:
    assert missing(150, 60, 0.02) == ""
    assert missing(100, 60, 0.02) == "40 more decisions"
    assert missing(292, 8, 0.02) == "12 more rejected coins"
    assert missing(0, 0, 0.02) == "200 more decisions and 20 more approved coins and 20 more rejected coins"


def test_an_interval_is_wilsons() -> None:
    assert wilson(41, 100) == pytest.approx((0.3187, 0.5080), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)
    assert learning.Promise(0.02, 0, 0, 0, None).share == 0.0
