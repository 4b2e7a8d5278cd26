"""Generating a coin from results: the context, its budget, the new coin and its similarity to others."""

import json
import re
from collections.abc import Callable, Iterator
from threading import Event

import pytest

from store.catalog.filters import Filter
from store.errors import CaptioningFailed, InvalidRecord
from store.generation import coin_generator, context
from store.generation.context import PICTURE_TOKENS, ExampleContext
from store.jobs import Job
from store.library import Library
from store.llm.client import import_litellm
from store.memory.text.tokens import count_tokens
from store.records import MAX_FACET
from store.settings import settings
from store.tasks import generate
from tests.store.conftest import address, coin
from tests.store.language_model_server import LanguageModelServer, fails, running, says

pytestmark = pytest.mark.usefixtures("without_chroma")

MODEL = "openai/gpt-4o-mini"
PICTURE = re.compile(r" !\[.*\]\(data:.*\)")
COIN = {
    "name": "Rain Frog",
    "ticker": "$rain",
    "description": "Sits in the rain.",
    "entity": "a frog in the rain",
    "context": "patience",
    "visual": "",
    "emotions": "calm",
    "image_prompt": "a frog, rain, pixel art",
}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    with running() as server:
        yield server


@pytest.fixture
def three_addresses(library: Library, captioned: Callable[..., list[str]]) -> list[str]:
    addresses = captioned(1, 2, 3)
    library.promote(addresses)
    return addresses


def test_the_context_uses_the_reference_1_format_without_empty_facets(
    library: Library, three_addresses: list[str]
) -> None:
    made = context.build(library, reversed(three_addresses))
    assert [example.text for example in made.examples] == [
        f"Example {place}:\nEntity: text {number} entity\nContext: text {number} context\n"
        f"Visual: text {number} visual"
        for place, number in enumerate((3, 2, 1), start=1)
    ]
    assert all(example.picture for example in made.examples)
    said = PICTURE.sub("", context.as_markdown(made)).split("\n\n")  # exactly the text sent to the model
    assert made.tokens == sum(map(count_tokens, said)) + 3 * PICTURE_TOKENS
    assert made.left_out == ()


def test_tokens_are_counted_as_the_model_counts_them(library: Library, three_addresses: list[str]) -> None:
    made = context.build(library, three_addresses, model="anthropic/claude-3-haiku-20240307", pictures=False)
    counter = import_litellm().token_counter
    assert made.tokens == sum(
        counter(model="anthropic/claude-3-haiku-20240307", text=example.text) for example in made.examples
    )
    assert "Image" not in context.as_markdown(made)


def test_a_token_budget_lists_what_it_left_out(library: Library, three_addresses: list[str]) -> None:
    whole = context.build(library, three_addresses)
    first = whole.examples[0].tokens
    words = count_tokens(whole.examples[1].text)
    made = context.build(library, three_addresses, budget=first + words + 3)
    assert [(left.record.address, left.what) for left in made.left_out] == [
        (three_addresses[1], "its picture"),
        (three_addresses[2], "all of it"),
    ]
    assert made.tokens == first + words <= first + words + 3
    assert [bool(example.picture) for example in made.examples] == [True, False]
    assert context.build(library, three_addresses, budget=1).examples == ()


def test_every_context_format_contains_the_same_base64_pictures(
    library: Library, three_addresses: list[str]
) -> None:
    made = context.build(library, three_addresses[:2])
    messages = context.as_messages(made, "a new one", system="be brief")
    assert [message["role"] for message in messages] == ["system", "user"]
    parts = messages[1]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "text", "image_url", "text"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert all(url.startswith("data:image/jpeg;base64,/9j/") for url in urls)
    assert [row["image"] for row in json.loads(context.as_json(made))["examples"]] == urls
    assert all(url in context.as_markdown(made) for url in urls)


def answered(model: LanguageModelServer, made: ExampleContext, prompt: str = "frog") -> str:
    return "".join(coin_generator.stream(made, prompt, model=MODEL, api_base=model.address))


def test_a_coin_is_streamed_parsed_and_saved_with_its_sources(
    library: Library, three_addresses: list[str], model: LanguageModelServer
) -> None:
    answer = says(f"Here it is:\n```json\n{json.dumps(COIN)}\n```")
    answer.streamed = True
    model.answers = [answer]
    given = context.build(library, three_addresses)
    made = coin_generator.read(answered(model, given), model=MODEL, prompt="frog", sources=three_addresses)
    assert (made.name, made.ticker) == ("Rain Frog", "RAIN")
    assert made.caption == {"entity": "a frog in the rain", "context": "patience", "emotions": "calm"}
    assert model.asked[0]["stream"] is True
    assert model.asked[0]["messages"] == coin_generator.messages(given, "frog")
    report = library.add([coin_generator.candidate(made, None)])
    assert not report.refused
    (saved,) = library.find(Filter(tier="pending"))
    assert (saved.name, saved.caption["entity"]) == ("Rain Frog", "a frog in the rain")
    assert saved.sidecar["generated"]["sources"] == three_addresses
    assert saved.sidecar["generated"]["prompt"] == "frog"
    assert library.picture(saved.address).exists()


def test_a_copy_is_recognised_by_its_caption_and_by_its_name(
    library: Library, three_addresses: list[str]
) -> None:
    said = {"entity": "text 2 entity", "context": "text 2 context", "name": "Another", "ticker": "OTHR"}
    near = coin_generator.nearest(
        library, coin_generator.read(json.dumps(said), model=MODEL, prompt="x", sources=three_addresses)
    )
    assert (near[0].address, near[0].is_copy, near[0].same) == (address(2), True, ())
    assert near[0].cosine == pytest.approx(1, abs=1e-5)
    assert not any(one.is_copy for one in near[1:])
    named = {**said, "entity": "new", "context": "newer", "name": "coin 3", "ticker": "c3"}
    near = coin_generator.nearest(
        library, coin_generator.read(json.dumps(named), model=MODEL, prompt="x", sources=three_addresses)
    )
    assert [(one.address, one.same) for one in near if one.is_copy] == [(address(3), ("name", "ticker"))]


def test_an_existing_name_or_ticker_is_found_even_when_captions_differ(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(*range(1, 9)))
    library.add([coin(9)])
    said = {"entity": "text 2 entity", "context": "text 2 context", "name": "C0in 7", "ticker": "$c9"}
    made = coin_generator.read(json.dumps(said), model=MODEL, prompt="x", sources=())
    near = {one.address: one for one in coin_generator.nearest(library, made, top=1)}
    assert near[address(7)].same == ("name",)
    assert near[address(7)].cosine is not None
    assert (near[address(9)].same, near[address(9)].cosine) == (("ticker",), None)
    assert all(one.is_copy for one in near.values())


@pytest.mark.parametrize(
    "answer",
    [
        '<think>Something like {"a": 1} or {this}?</think> %s Enjoy {friend}!',
        '{"coin": %s}',
        "[%s]",
        '{"coins": [%s, {"name": "Another"}]}',
    ],
)
def test_a_coin_is_found_anywhere_in_an_answer(answer: str) -> None:
    made = coin_generator.read(answer % json.dumps(COIN), model=MODEL, prompt="x", sources=())
    assert (made.name, made.ticker) == ("Rain Frog", "RAIN")


def test_an_answer_with_unusual_keys_and_values_is_normalised() -> None:
    said = {"Name": "N", "Ticker": "$ Rain ", "caption": {"Entity": "x" * 30_000, "context": "half \ud83d"}}
    made = coin_generator.read(json.dumps(said), model=MODEL, prompt="x", sources=())
    assert (made.name, made.ticker, made.caption["context"]) == ("N", "RAIN", "half")
    assert len(made.caption["entity"]) == MAX_FACET


def test_top_level_fields_win_over_nested_ones() -> None:
    said = {**COIN, "creator": {"name": "Bob", "ticker": "BOB"}, "like": [{"entity": "a toad"}]}
    made = coin_generator.read(json.dumps(said), model=MODEL, prompt="x", sources=())
    assert (made.name, made.ticker, made.caption["entity"]) == ("Rain Frog", "RAIN", "a frog in the rain")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("", "gave an empty answer"),
        ("I'm sorry, I can't.", "answered in words, not with a coin: “I'm sorry, I can't.”"),
        ('{"name": "Rain Fr', "broke off"),
        ('{"name": "x"}', "left out ticker, entity, context"),
        ('{"name": 3, "ticker": []}', "left out ticker, entity, context"),
        ("[1]", "in words"),
    ],
)
def test_an_answer_without_a_coin_raises_a_descriptive_error(answer: str, told: str) -> None:
    with pytest.raises(CaptioningFailed, match=told):
        coin_generator.read(answer, model=MODEL, prompt="x", sources=())


def test_provider_errors_and_an_empty_prompt_are_reported(
    library: Library, three_addresses: list[str], model: LanguageModelServer
) -> None:
    made = context.build(library, three_addresses)
    with pytest.raises(InvalidRecord):
        answered(model, made, "  ")
    model.answers = [fails(401, "bad key")]
    with pytest.raises(CaptioningFailed, match="did not accept the key"):
        answered(model, made)
    model.answers = [fails(429, "slow", Retry_After="6.5")]
    with pytest.raises(CaptioningFailed, match="; try again in 7 s "):
        answered(model, made)


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
    has_begun, may_go_on, asked = Event(), Event(), []

    def slowly(*_: object, **__: object) -> Iterator[str]:
        asked.append(came)
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
    assert len(asked) == 1
    if came == json.dumps(COIN):
        assert draft.state == "done"
    else:
        assert (draft.state, "was not asked again" in draft.error) == ("failed", True)
        library.jobs.resume(job.id)
        assert library.jobs.wait(job.id, timeout=60)
        assert len(asked) == 2


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
