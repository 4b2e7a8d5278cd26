"""A run of a rule is one decision, by a person or by the rule itself, and one undo takes it back."""

import pytest

from store.catalog import advice
from store.errors import InvalidRecord, ReadOnly, UnknownRecord
from store.library import Library
from store.permissions import Actor
from store.rules import running
from store.rules.rule import HELD
from store.settings import settings
from tests.store.conftest import address, coin
from tests.store.rules.conftest import COPY, ORIGINAL, OTHER, copied, finished, not_blind, rule


def test_a_run_decides_for_every_coin_at_once_and_one_undo_takes_it_back(pair: Library) -> None:
    pair.add([copied(4, of=1)])
    pair.duplicates.examine()
    running.save(pair, rule(), actor="ann")
    decision = finished(pair, "Copies", actor="ann")
    assert {one: pair.get(one).tier for one in (ORIGINAL, COPY, address(4))} == {
        ORIGINAL: "pending", COPY: "trash", address(4): "trash",
    }  # fmt: skip
    assert {(event.actor, event.reason) for event in pair.history(decision=decision)} == {("ann", "copycat")}
    (run,) = running.runs(pair, "Copies")
    assert (run.decision, run.actor, run.coins) == (decision, "ann", 2)
    pair.undo(actor="ann")
    assert pair.counts()["pending"] == 4


def test_a_rule_that_is_only_shown_does_not_run(pair: Library) -> None:
    running.save(pair, rule(level="shown"))
    with pytest.raises(InvalidRecord, match="the rule Copies is only shown; set its level"):
        running.start(pair, "Copies")
    assert pair.counts()["trash"] == 0


def test_an_unknown_rule_is_refused_with_those_there_are(library: Library) -> None:
    with pytest.raises(UnknownRecord, match="there is no rule 'X'; none is saved yet"):
        running.get(library, "X")
    running.save(library, rule())
    with pytest.raises(UnknownRecord, match="there are Copies"):
        running.start(library, "X")


def test_a_rule_without_coins_starts_nothing(library: Library) -> None:
    running.save(library, rule())
    assert running.start(library, "Copies") is None
    assert running.runs(library, "Copies") == []


def test_started_again_with_the_same_decision_it_is_the_same_job(pair: Library) -> None:
    running.save(pair, rule())
    first = running.start(pair, "Copies", decision="1" * 32)
    again = running.start(pair, "Copies", decision="1" * 32)
    assert first.id == again.id
    assert pair.jobs.wait(first.id, timeout=60)


def test_a_viewer_starts_nothing(pair: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    running.save(pair, rule())
    monkeypatch.setenv("MEMEDEX_VIEWERS", "eve")
    settings.cache_clear()
    with pytest.raises(ReadOnly):
        running.start(pair.for_actor(Actor("eve")), "Copies")
    with pytest.raises(ReadOnly):
        running.save(pair.for_actor(Actor("eve")), rule("Mine"))
    assert [*pair.rules.all()] == ["Copies"]


def test_tags_and_holding_are_edits_of_tags(pair: Library) -> None:
    running.save(pair, rule("Frogs", do="tag", tags=["frog"], when="name:coin", other=""))
    running.save(pair, rule("Look", do="hold"))
    finished(pair, "Frogs")
    finished(pair, "Look")
    assert pair.get(COPY).tags == ["dog", "frog", HELD]
    assert pair.get(OTHER).tags == ["dog", "frog"]


def test_a_rule_that_broke_its_promise_goes_back_to_shown_and_says_so(pair: Library) -> None:
    pair.add([copied(number, of=1) for number in (4, 5, 6, 7)])
    pair.duplicates.examine()
    pair.reject([COPY, address(6)])
    pair.approve([address(4), address(7)])
    running.save(pair, rule(promise=0.9))
    with pytest.raises(InvalidRecord, match="broke its promise and is only shown now"):
        running.start(pair, "Copies")
    shown = running.get(pair, "Copies")
    assert (shown.level, shown.told) == ("shown", "it agreed with 50.0% of 4 decisions and promised 90%")
    assert pair.get(address(5)).tier == "pending"


def test_a_rule_that_keeps_its_promise_runs(pair: Library) -> None:
    pair.add([copied(4, of=1), copied(5, of=1)])
    pair.duplicates.examine()
    pair.reject([COPY])
    pair.approve([address(4)])
    running.save(pair, rule(promise=0.5))
    finished(pair, "Copies")
    assert pair.get(address(5)).tier == "trash"


def run_all(library: Library) -> None:
    running.run_by_themselves(library)
    for job in library.jobs.under_way():
        assert library.jobs.wait(job.id, timeout=60)


def test_by_itself_a_rule_decides_under_its_own_name(library: Library) -> None:
    numbers = not_blind(*range(1, 10))
    library.add([coin(number) for number in numbers])
    library.duplicates.examine()
    running.save(library, rule("Dogs", other="", when="tag:dog", level="by itself", reason="dogs"))
    run_all(library)
    assert library.counts()["trash"] == len(numbers)
    event = library.history(address=address(numbers[0]))[0]
    assert (event.actor, event.verb, event.reason) == ("rule Dogs", "reject", "dogs")
    library.undo_decisions([event.decision], actor="ann")
    assert library.counts()["pending"] == len(numbers)
    run_all(library)  # what people took back stays with them
    assert library.counts()["pending"] == len(numbers)


def test_by_itself_a_rule_leaves_blind_coins_to_people(library: Library) -> None:
    first_blind = next(number for number in range(200) if advice.is_blind(address(number)))
    library.add([coin(number) for number in (first_blind, *not_blind(1, 2, 3))])
    library.duplicates.examine()
    running.save(library, rule("Dogs", other="", when="tag:dog", level="by itself"))
    run_all(library)
    blind = [address(first_blind)]
    assert sorted(library.addresses(rule("Dogs", other="", when="tag:dog").filter)) == sorted(blind)


def test_by_itself_a_rule_that_broke_its_promise_does_nothing(library: Library) -> None:
    library.add([coin(number) for number in not_blind(*range(1, 6))])
    library.duplicates.examine()
    library.approve([address(number) for number in not_blind(1, 2, 3)])
    running.save(library, rule("Dogs", other="", when="tag:dog", level="by itself"))
    run_all(library)
    assert library.counts()["trash"] == 0
    assert running.get(library, "Dogs").told.startswith("it agreed with 0.0% of")


def test_a_rule_is_shown_beside_coins_but_not_beside_blind_ones(pair: Library) -> None:
    running.save(pair, rule(level="shown"))
    shown = running.suggestions(pair, [ORIGINAL, COPY, OTHER])
    assert shown == ({} if advice.is_blind(COPY) else {COPY: ("Copies", "reject")})


def test_the_worker_of_a_dashboard_applies_rules_to_new_coins(pair: Library) -> None:
    assert not advice.is_blind(COPY)
    running.save(pair, rule(level="by itself"))
    pair.work_in_background()  # type: ignore[attr-defined]
    (worker,) = [one for one in pair._workers if one.name == "applying rules"]  # type: ignore[attr-defined]
    worker.retry()
    assert worker.wait(timeout=60)
    for job in pair.jobs.all():
        assert pair.jobs.wait(job.id, timeout=60)
    assert pair.get(COPY).tier == "trash"
