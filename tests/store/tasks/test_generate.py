"""Generating in the background: results stay until dismissed, and a request is never repeated by itself."""

import json
from collections.abc import Iterator
from threading import Event

import pytest

from store.disk.images import normalise
from store.generation import coin_generator
from store.jobs import Job
from store.library import Library
from store.settings import settings
from store.tasks import generate
from tests.store.conftest import picture
from tests.store.generation.generated_coin import COIN, MODEL
from tests.store.language_model_server import LanguageModelServer, draws, fails, says

pytestmark = pytest.mark.usefixtures("without_chroma")


def start_job(library: Library, addresses: list[str]) -> Job:
    return generate.start(library.jobs, "a  frog", addresses, model=MODEL, budget=None, pictures=False)


@pytest.fixture
def configured_model(
    model: LanguageModelServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LanguageModelServer]:
    """Send background requests to the server of the test."""
    monkeypatch.setenv("MEMEDEX_CAPTION_API_BASE", model.address)
    settings.cache_clear()
    yield model
    settings.cache_clear()


def test_a_coin_generated_in_the_background_is_kept_until_dismissed(
    library: Library, three_addresses: list[str], configured_model: LanguageModelServer
) -> None:
    answer = says(json.dumps(COIN))
    answer.streamed = True
    configured_model.answers = [answer]
    job = start_job(library, three_addresses)
    assert job.name == "Make a coin: a frog"
    assert library.jobs.wait(job.id, timeout=60)
    (draft,) = generate.own_jobs(library.jobs, library.actor_name)
    assert (draft.state, draft.note["answer"], draft.note["sources"]) == (
        "done",
        json.dumps(COIN),
        three_addresses,
    )
    assert generate.own_jobs(library.jobs, "somebody else") == []
    library.jobs.dismiss(job.id)
    assert generate.own_jobs(library.jobs, library.actor_name) == []


def test_the_picture_waits_with_the_coin_until_it_is_dismissed(
    library: Library,
    three_addresses: list[str],
    configured_model: LanguageModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMEDEX_IMAGE_MODEL", "openai/dall-e-3")
    monkeypatch.setenv("MEMEDEX_IMAGE_API_BASE", configured_model.address)
    settings.cache_clear()
    answer = says(json.dumps(COIN))
    answer.streamed = True
    configured_model.answers = [answer, draws(picture(3)), answer, fails(401, "bad key")]
    for _ in range(2):
        job = start_job(library, three_addresses)
        assert library.jobs.wait(job.id, timeout=60)
    failed, drawn = generate.own_jobs(library.jobs, library.actor_name)
    assert [job.state for job in (failed, drawn)] == ["done", "done"]
    assert generate.picture_of(drawn) == normalise(picture(3))
    assert drawn.note["drawn_by"] == "openai/dall-e-3"
    assert generate.picture_of(failed) is None
    assert "did not accept the key" in failed.note["picture_error"]
    library.jobs.dismiss(drawn.id)
    assert "picture" not in library.jobs.get(drawn.id).note


def test_a_cancelled_answer_keeps_the_text_received_so_far(
    library: Library,
    three_addresses: list[str],
    configured_model: LanguageModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has_begun, may_go_on = Event(), Event()

    def slowly(*_: object, **__: object) -> Iterator[str]:
        yield '{"name": "Rain '
        has_begun.set()
        assert may_go_on.wait(60)
        yield 'Frog"'

    monkeypatch.setattr(coin_generator, "stream", slowly)
    job = start_job(library, three_addresses)
    assert has_begun.wait(60)
    library.jobs.cancel(job.id)
    assert library.jobs.wait(job.id, timeout=60)  # though the model says nothing more
    may_go_on.set()
    (draft,) = generate.own_jobs(library.jobs, library.actor_name)
    assert (draft.state, draft.note["answer"]) == ("cancelled", '{"name": "Rain ')


@pytest.mark.parametrize("came", ['{"name": "Rain ', json.dumps(COIN)], ids=["a part", "all of it"])
def test_an_interrupted_answer_is_requested_again_only_by_a_user(
    library: Library, three_addresses: list[str], monkeypatch: pytest.MonkeyPatch, came: str
) -> None:
    has_begun, may_go_on, prompts = Event(), Event(), []

    def slowly(*_: object, **__: object) -> Iterator[str]:
        prompts.append(came)
        yield came
        has_begun.set()
        assert may_go_on.wait(60)
        yield " "

    monkeypatch.setattr(coin_generator, "stream", slowly)
    job = start_job(library, three_addresses)
    assert has_begun.wait(60)
    library.jobs.pause(job.id)  # as when the program ends
    assert library.jobs.wait(job.id, timeout=60)
    may_go_on.set()
    library.jobs.resume(job.id)
    assert library.jobs.wait(job.id, timeout=60)
    (draft,) = generate.own_jobs(library.jobs, library.actor_name)
    assert draft.note["answer"] == came
    assert len(prompts) == 1
    if came == json.dumps(COIN):
        assert draft.state == "done"
    else:
        assert (draft.state, "was not asked again" in draft.error) == ("failed", True)
        library.jobs.resume(job.id)
        assert library.jobs.wait(job.id, timeout=60)
        assert len(prompts) == 2


def test_a_provider_error_is_stored_with_the_draft(
    library: Library, three_addresses: list[str], configured_model: LanguageModelServer
) -> None:
    configured_model.answers = [fails(401, "bad key")]
    job = start_job(library, three_addresses)
    assert library.jobs.wait(job.id, timeout=60)
    (draft,) = generate.own_jobs(library.jobs, library.actor_name)
    assert (draft.state, draft.note["answer"]) == ("failed", "")
    assert "did not accept the key" in draft.error
    library.jobs.dismiss(job.id)
    assert library.jobs.open() == []


def test_an_answer_without_a_coin_fails_the_job_and_can_be_retried(
    library: Library, three_addresses: list[str], configured_model: LanguageModelServer
) -> None:
    configured_model.answers = [says("I would rather talk about frogs.")]
    configured_model.answers[0].streamed = True
    job = start_job(library, three_addresses)
    assert library.jobs.wait(job.id, timeout=60)
    (draft,) = generate.own_jobs(library.jobs, library.actor_name)
    assert (draft.state, draft.note["answer"]) == ("failed", "I would rather talk about frogs.")
    assert "answered in words, not with a coin" in draft.error
    configured_model.answers = [says(json.dumps(COIN))]
    configured_model.answers[0].streamed = True
    generate.retry(library.jobs, draft)
    assert library.jobs.wait(job.id, timeout=60)
    assert generate.own_jobs(library.jobs, library.actor_name)[0].state == "done"
