"""Drafting captions for many coins through the real litellm, with provider failures and a budget."""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from store.errors import InvalidRecord, ModelUnavailable
from store.jobs import Job, JobContext, circuit_breaker
from store.library import Library
from store.reading import statistics
from store.settings import settings
from store.tasks.draft import lacking, plan_drafting, plan_trial, start
from tests.store.conftest import address, coin
from tests.store.language_model_server import GOOD, Answer, LanguageModelServer, fails, running, says

pytestmark = pytest.mark.usefixtures("without_chroma")

MODEL = "openai/gpt-4o-mini"
JSON = json.dumps(GOOD)


@pytest.fixture
def model(library: Library, monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageModelServer]:
    """A provider, with six approved coins without captions in the library."""
    monkeypatch.setattr(circuit_breaker, "_FIRST", 0.01)
    with running() as server:
        monkeypatch.setenv("MEMEDEX_CAPTION_MODEL", MODEL)
        monkeypatch.setenv("MEMEDEX_CAPTION_API_BASE", server.address)
        monkeypatch.setenv("MEMEDEX_CAPTION_TIMEOUT", "60")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        settings.cache_clear()
        library.add([coin(number) for number in range(6)])
        library.approve(COINS)
        server.answers = [says(JSON)]
        yield server
        library.jobs.close()
    settings.cache_clear()


COINS = [address(number) for number in range(6)]


def drafted(library: Library, addresses: Sequence[str] = COINS, **options: Any) -> Job:
    job = start(library, plan_drafting(library, addresses), **options)
    return wait_for_job(library, job)


def wait_for_job(library: Library, job: Job) -> Job:
    assert library.jobs.wait(job.id, timeout=60)
    found = library.jobs.get(job.id)
    assert found
    return found


def test_drafts_become_suggestions_and_change_no_record_or_typed_draft(
    model: LanguageModelServer, library: Library
) -> None:
    library.drafts.save(COINS[0], {"entity": "My own words"})
    before = library.generation
    job = drafted(library)
    assert (job.state, job.done, job.refused) == ("done", 6, 0)
    assert library.generation == before
    assert (library.drafts.own(COINS[0]) or {})["entity"] == "My own words"
    found = {one.facet: one for one in library.suggestions.of(COINS[0])}
    assert found["entity"].text == GOOD["entity"]
    assert (found["entity"].model, found["entity"].prompt) == (MODEL, "caption v1")
    assert found["new_tags"].tags == ["space"], "dog is the coin's already, space not in the taxonomy"
    assert lacking(library) == [], "what has a suggestion is not asked for again"
    assert job.note["prompt_tokens"] == 6000
    assert job.note["cost"] == pytest.approx(6 * 2.1e-4)
    [spent] = statistics.spending(library)
    assert (spent.model, spent.prompt_tokens, spent.cost) == (MODEL, 6000, pytest.approx(6 * 2.1e-4))
    assert job.made_at // 86_400 <= spent.day <= job.ended_at // 86_400


def test_a_suggestion_can_be_accepted_and_a_newer_one_replaces_it(
    model: LanguageModelServer, library: Library
) -> None:
    drafted(library, COINS[:1])
    drafted(library, COINS[:1])
    everything = library.suggestions.of(COINS[0], states=("open", "replaced"))
    assert [one.state for one in everything if one.facet == "entity"] == ["open", "replaced"]
    first = library.suggestions.of(COINS[0])[0]
    assert library.suggestions.resolve([first.id], "taken", actor="ann") == 1
    assert first.id not in [one.id for one in library.suggestions.of(COINS[0])]
    (taken,) = library.suggestions.of(COINS[0], states=["taken"])
    assert (taken.id, taken.settled_by) == (first.id, "ann")


def test_the_plan_shows_the_count_the_model_and_the_estimated_cost(
    model: LanguageModelServer, library: Library
) -> None:
    plan = plan_drafting(library, COINS)
    assert (plan.count, plan.variants[0].model, plan.variants[0].prompt.label) == (6, MODEL, "caption v1")
    assert plan.cost is not None
    assert 0.0005 < plan.cost < 0.01
    assert plan.prompt_tokens > 6 * 500
    assert model.requests == []
    unknown = plan_drafting(library, COINS, model="openai/nobody-knows")
    assert unknown.cost is None
    with pytest.raises(InvalidRecord, match="no price is known"):
        start(library, unknown, budget=1.0)
    for budget in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InvalidRecord, match="a budget is more than nothing"):
            start(library, plan, budget=budget)
    assert not plan_drafting(library, COINS, model="gpt-3.5-turbo").sees


def test_planning_without_a_model_names_the_missing_setting(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMEDEX_CAPTION_MODEL", raising=False)
    settings.cache_clear()
    with pytest.raises(ModelUnavailable, match="MEMEDEX_CAPTION_MODEL"):
        plan_drafting(library, [])


def test_a_job_stops_within_its_budget_and_continues_with_a_larger_one(
    model: LanguageModelServer, library: Library
) -> None:
    job = drafted(library, budget=0.0008, lanes=4)  # a caption costs 0.00021
    assert (job.state, job.left) == ("failed", 6 - job.done)
    assert "raise the budget" in job.error
    assert 0 < job.note["cost"] <= 0.0008
    library.jobs.resume(job.id, options={"budget": 1.0})
    assert wait_for_job(library, job).state == "done"
    assert len(model.requests) == 6, "no coin was asked for twice"


def test_requests_run_in_parallel_and_each_coin_is_requested_once(
    model: LanguageModelServer, library: Library
) -> None:
    model.together = threading.Barrier(3)
    assert drafted(library, lanes=3).done == 6
    assert model.most_at_once == 3
    assert len(model.requests) == 6


def test_all_lanes_wait_when_the_provider_limits_the_rate(
    model: LanguageModelServer, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: set[str] = set()
    rest = JobContext.rest
    monkeypatch.setattr(
        JobContext, "rest", lambda *how, reason: (messages.add(reason), rest(*how, reason=reason))
    )
    model.answers = [fails(429, "slow", Retry_After="1"), says(JSON)]
    job = drafted(library, lanes=2)
    assert (job.done, job.refused) == (6, 0)
    assert job.worked >= 1.0
    assert messages == {f"waiting: {MODEL} asks to slow down (rate limit)"}


def test_a_provider_that_asks_for_a_long_pause_ends_the_job_and_says_when_to_continue(
    model: LanguageModelServer, library: Library
) -> None:
    """A program that waits for an hour keeps the library from all others."""
    model.answers = [says(JSON), fails(429, "slow", Retry_After="3600")]
    job = drafted(library, lanes=1)
    assert (job.state, job.done, job.refused, job.left) == ("failed", 1, 0, 5)
    assert re.search(
        r"asks to slow down \(rate limit\) for 60 minutes; what is left waits, continue at \d\d:\d\d",
        job.error,
    )
    model.answers = [says(JSON)]
    library.jobs.resume(job.id)
    assert wait_for_job(library, job).state == "done"
    assert len(model.requests) == 7, "nothing was paid for twice"


def test_an_answer_that_cannot_be_read_is_not_asked_for_again(
    model: LanguageModelServer, library: Library
) -> None:
    page = Answer(raw=b"<html><h1>Please log in</h1></html>")
    model.answers = [says(JSON), page, says(JSON)]
    job = drafted(library, lanes=1)
    assert (job.state, job.done, job.refused) == ("done", 5, 1)
    assert len(model.requests) == 6
    [refused] = library.jobs.items(job.id, state="refused", limit=9)
    assert "answered something that is no completion; check its address" in refused.reason


def test_a_wrong_address_ends_the_job_after_a_few_answers_that_cannot_be_read(
    model: LanguageModelServer, library: Library
) -> None:
    library.add([coin(number) for number in range(6, 20)])
    coins = [address(number) for number in range(20)]
    library.approve(coins)
    model.answers = [Answer(raw=b"<html><h1>Please log in</h1></html>")]
    job = drafted(library, coins, lanes=1)
    assert job.state == "failed"
    assert "check its address" in job.error
    assert len(model.requests) == 6
    assert job.left == 15


def test_a_temporary_provider_outage_only_delays_the_job(
    model: LanguageModelServer, library: Library
) -> None:
    away = [Answer(cut=True), fails(500, "oh"), fails(503, "no"), fails(500, "oh"), Answer(cut=True)]
    model.answers = [says(JSON), says(JSON), *away, says(JSON)]
    job = drafted(library, lanes=1)
    assert (job.state, job.done, job.refused) == ("done", 6, 0)
    assert len(model.requests) == 6 + len(away)


def test_a_provider_that_never_works_fails_the_job_and_keeps_all_coins_waiting(
    model: LanguageModelServer, library: Library
) -> None:
    model.answers = [fails(500, "oh no")]
    job = drafted(library, lanes=2)
    assert (job.state, job.done, job.refused, job.left) == ("failed", 0, 0, 6)
    assert "failed on its own side" in job.error
    model.answers = [says(JSON)]
    library.jobs.resume(job.id)
    assert wait_for_job(library, job).done == 6


def test_a_wrong_key_fails_the_job_immediately(model: LanguageModelServer, library: Library) -> None:
    model.answers = [fails(401, "bad key")]
    job = drafted(library, lanes=1)
    assert (job.state, job.left, len(model.requests)) == ("failed", 6, 1)
    assert "OPENAI_API_KEY" in job.error


def test_a_key_that_is_revoked_while_lanes_wait_for_the_provider_fails_the_job(
    model: LanguageModelServer, library: Library
) -> None:
    model.answers = [*[fails(503, "away")] * 4, fails(401, "key revoked")]
    job = drafted(library, lanes=4)
    assert (job.state, job.done, job.left) == ("failed", 0, 6)
    assert "OPENAI_API_KEY" in job.error


BAD = {
    "prose": says("What a lovely picture!"),
    "half of it": says(JSON[:50], finish_reason="length"),
    "refusal": says(None, refusal="I can't help with that."),
    "ten megabytes": says("x" * 10_000_000),
    "bad request": fails(400, "bad picture"),
}


def test_an_invalid_answer_refuses_only_its_own_coin_with_the_reason(
    model: LanguageModelServer, library: Library
) -> None:
    names = [library.get(one).name for one in COINS]
    for name, bad in BAD.items():
        model.answer_to = lambda request, bad=bad: (
            bad if f"Name: {names[2]}\n" in prompt_of(request) else says(JSON)
        )
        job = drafted(library)
        assert (job.state, job.done, job.refused) == ("done", 5, 1), name
        (refused,) = library.jobs.items(job.id, state="refused")
        assert refused.key == COINS[2]
        assert names[2] in refused.reason
    model.answer_to = None
    library.jobs.try_again(job.id)
    assert (wait_for_job(library, job).done, wait_for_job(library, job).refused) == (6, 0)


def prompt_of(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"][0]["text"])


def test_a_coin_that_always_fails_at_the_provider_is_refused(
    model: LanguageModelServer, library: Library
) -> None:
    name = library.get(COINS[1]).name
    model.answer_to = lambda request: (
        fails(500, "boom") if f"Name: {name}\n" in prompt_of(request) else says(JSON)
    )
    job = drafted(library)
    assert (job.done, job.refused) == (5, 1)
    job = drafted(library, COINS[1:2])
    assert (job.state, job.refused) == ("done", 1)
    assert "failed on its own side" in library.jobs.items(job.id)[0].reason


def test_one_facet_can_be_regenerated_with_a_hint(model: LanguageModelServer, library: Library) -> None:
    model.answers = [says('{"context": "shorter"}')]
    job = start(library, plan_drafting(library, COINS[:1], only="context", hint="shorter, please"))
    assert wait_for_job(library, job).done == 1
    (found,) = library.suggestions.of(COINS[0])
    assert (found.facet, found.text, found.hint) == ("context", "shorter", "shorter, please")


def test_a_trial_compares_two_prompts_without_making_suggestions(
    model: LanguageModelServer, library: Library
) -> None:
    library.prompts.save("short", "Describe {name} in five words.", actor="ann")
    plan = plan_trial(library, COINS[:2], [(MODEL, "caption"), ("openai/other", "short")])
    job = wait_for_job(library, start(library, plan))
    assert (job.done, job.total) == (4, 4)
    assert library.suggestions.of(COINS[0]) == []
    tried = {(one.model, one.prompt) for one in library.suggestions.of_job(job.id)}
    assert tried == {(MODEL, "caption v1"), ("openai/other", "short v1")}


def test_a_job_keeps_the_prompt_version_it_started_with(model: LanguageModelServer, library: Library) -> None:
    model.answers = [fails(401, "bad key")]
    library.prompts.save("caption", "First {name}")
    job = drafted(library)
    library.prompts.save("caption", "Second {name}")
    assert [prompt.version for prompt in library.prompts.versions("caption")] == [2, 1]
    model.answers = [says(JSON)]
    library.jobs.resume(job.id)
    wait_for_job(library, job)
    assert all(prompt_of(request).startswith("First Coin") for request in model.requests)
    assert library.suggestions.of(COINS[0])[0].prompt == "caption v1"


def test_a_prompt_edited_outside_the_program_is_a_new_version(library: Library) -> None:
    kept = library.prompts.save("mine", "one {name}")
    assert (kept.version, kept.actor) == (1, library.actor_name)
    (library.layout.prompts / "mine.txt").write_text("two {name}")
    assert (library.prompts.get("mine").version, library.prompts.get("mine").text) == (2, "two {name}")
    assert library.prompts.names() == ["caption", "mine"]
    for bad in ("../up", "", "UPPER"):
        with pytest.raises(InvalidRecord):
            library.prompts.save(bad, "text")
