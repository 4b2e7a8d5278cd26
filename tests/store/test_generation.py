"""From results to the model: the exact context, its budget, a new coin, and how near it is to the library."""

import json
from collections.abc import Callable, Iterator

import pytest

from store import context, generation
from store.context import PICTURE_TOKENS, Context
from store.errors import CaptioningFailed, InvalidRecord
from store.language_models import import_litellm
from store.library import Library
from store.listing import Filter
from store.memory.tokens import count_tokens
from tests.store.conftest import address
from tests.store.language_model_server import LanguageModelServer, fails, running, says

MODEL = "openai/gpt-4o-mini"
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
def three(library: Library, captioned: Callable[..., list[str]]) -> list[str]:
    addresses = captioned(1, 2, 3)
    library.promote(addresses)
    return addresses


def test_the_form_is_reference_1_with_absent_facets_left_out(library: Library, three: list[str]) -> None:
    made = context.build(library, reversed(three))
    assert made.text == "\n\n".join(
        f"Example {place}:\nEntity: text {number} entity\nContext: text {number} context\n"
        f"Visual: text {number} visual\nImage: [picture of {address(number)}]"
        for place, number in enumerate((3, 2, 1), start=1)
    )
    words = [count_tokens(example.text) for example in made.examples]
    assert made.tokens == sum(words) + 3 * PICTURE_TOKENS
    assert made.left_out == ()


def test_tokens_are_those_of_the_model(library: Library, three: list[str]) -> None:
    made = context.build(library, three, model="anthropic/claude-3-haiku-20240307", pictures=False)
    counter = import_litellm().token_counter
    assert made.tokens == sum(
        counter(model="anthropic/claude-3-haiku-20240307", text=example.text) for example in made.examples
    )
    assert "Image" not in made.text


def test_a_budget_says_what_it_left_out(library: Library, three: list[str]) -> None:
    whole = context.build(library, three)
    first = whole.examples[0].tokens
    words = first - PICTURE_TOKENS
    made = context.build(library, three, budget=first + words + 3)
    assert [(left.record.address, left.what) for left in made.left_out] == [
        (three[1], "its picture"),
        (three[2], "all of it"),
    ]
    assert made.tokens == first + words <= first + words + 3
    assert [bool(example.picture) for example in made.examples] == [True, False]
    assert context.build(library, three, budget=1).examples == ()


def test_every_form_holds_the_same_pictures_as_base64(library: Library, three: list[str]) -> None:
    made = context.build(library, three[:2])
    messages = context.as_messages(made, "a new one", system="be brief")
    assert [message["role"] for message in messages] == ["system", "user"]
    parts = messages[1]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "text", "image_url", "text"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert all(url.startswith("data:image/jpeg;base64,/9j/") for url in urls)
    assert [row["image"] for row in json.loads(context.as_json(made))["examples"]] == urls
    assert all(url in context.as_markdown(made) for url in urls)


def answered(model: LanguageModelServer, made: Context, prompt: str = "frog") -> str:
    return "".join(generation.stream(made, prompt, model=MODEL, api_base=model.address))


def test_a_coin_is_streamed_read_and_saved_with_where_it_came_from(
    library: Library, three: list[str], model: LanguageModelServer
) -> None:
    answer = says(f"Here it is:\n```json\n{json.dumps(COIN)}\n```")
    answer.streamed = True
    model.answers = [answer]
    made = context.build(library, three)
    coin = generation.read(answered(model, made), made, model=MODEL, prompt="frog")
    assert (coin.name, coin.ticker) == ("Rain Frog", "RAIN")
    assert coin.caption == {"entity": "a frog in the rain", "context": "patience", "emotions": "calm"}
    assert model.asked[0]["stream"] is True
    report = library.add([generation.candidate(coin, None)])
    assert not report.refused
    (saved,) = library.find(Filter(tier="pending"))
    assert (saved.name, saved.caption["entity"]) == ("Rain Frog", "a frog in the rain")
    assert saved.sidecar["generated"]["sources"] == three
    assert saved.sidecar["generated"]["prompt"] == "frog"
    assert library.picture(saved.address).exists()


def test_a_copy_is_recognised_by_what_it_says_and_by_its_name(library: Library, three: list[str]) -> None:
    made = context.build(library, three)
    said = {"entity": "text 2 entity", "context": "text 2 context", "name": "Another", "ticker": "OTHR"}
    near = generation.nearest(library, generation.read(json.dumps(said), made, model=MODEL, prompt="x"))
    assert (near[0].address, near[0].is_copy, near[0].same) == (address(2), True, ())
    assert near[0].cosine == pytest.approx(1, abs=1e-5)
    assert not any(one.is_copy for one in near[1:])
    named = {**said, "entity": "new", "context": "newer", "name": "coin 3", "ticker": "c3"}
    near = generation.nearest(library, generation.read(json.dumps(named), made, model=MODEL, prompt="x"))
    assert [(one.address, one.same) for one in near if one.is_copy] == [(address(3), ("name", "ticker"))]


@pytest.mark.parametrize("answer", ["", "no", "{", '{"name": "x"}', '{"name": 3, "ticker": []}', "[1]"])
def test_an_answer_without_a_coin_says_what_is_missing(
    library: Library, three: list[str], answer: str
) -> None:
    made = context.build(library, three)
    with pytest.raises(CaptioningFailed, match="entity"):
        generation.read(answer, made, model=MODEL, prompt="x")


def test_a_provider_that_fails_and_an_empty_prompt_are_told(
    library: Library, three: list[str], model: LanguageModelServer
) -> None:
    made = context.build(library, three)
    with pytest.raises(InvalidRecord):
        answered(model, made, "  ")
    model.answers = [fails(401, "bad key")]
    with pytest.raises(CaptioningFailed, match="did not accept the key"):
        answered(model, made)
