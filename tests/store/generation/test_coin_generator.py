"""A coin is generated, parsed and normalised; copies are recognised."""

import io
import json
from collections.abc import Callable

import pytest
from PIL import Image

from store.catalog.filters import Filter
from store.disk.images import normalise
from store.errors import CaptioningFailed, InvalidRecord
from store.generation import coin_generator, context
from store.generation.context import ExampleContext
from store.library import Library
from store.records import MAX_FACET
from store.settings import settings
from tests.store.conftest import address, coin, picture
from tests.store.generation.generated_coin import COIN, MODEL
from tests.store.language_model_server import Answer, LanguageModelServer, draws, fails, says

pytestmark = pytest.mark.usefixtures("without_chroma")
MADE = coin_generator.read(json.dumps(COIN), model=MODEL, prompt="a frog", sources=())
Configure = Callable[..., None]


@pytest.mark.parametrize("ticker", ["DO GE", "DO/GE", "DO\\GE"])
def test_a_ticker_with_spaces_or_slashes_is_refused(ticker: str) -> None:
    answer = json.dumps({"name": "Doge", "ticker": ticker, "entity": "a dog", "context": "wow"})
    with pytest.raises(CaptioningFailed, match="ticker"):
        coin_generator.read(answer, model="m", prompt="p", sources=())


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
    assert model.requests[0]["stream"] is True
    assert model.requests[0]["messages"] == coin_generator.messages(given, "frog")
    report = library.add([coin_generator.candidate(made, None)])
    assert not report.refused
    (saved,) = library.find(Filter(tier="pending"))
    assert (saved.name, saved.caption["entity"]) == ("Rain Frog", "a frog in the rain")
    assert saved.tags == ["frog", "rain"]
    assert saved.sidecar["generated"]["sources"] == three_addresses
    assert saved.sidecar["generated"]["prompt"] == "frog"
    assert library.picture(saved.address).exists()


def test_a_copy_is_recognised_by_its_caption_and_by_its_name(
    library: Library, three_addresses: list[str]
) -> None:
    coin = {"entity": "text 2 entity", "context": "text 2 context", "name": "Another", "ticker": "OTHR"}
    near = coin_generator.nearest(
        library, coin_generator.read(json.dumps(coin), model=MODEL, prompt="x", sources=three_addresses)
    )
    assert (near[0].address, near[0].is_copy, near[0].same) == (address(2), True, ())
    assert near[0].cosine == pytest.approx(1, abs=1e-5)
    assert not any(one.is_copy for one in near[1:])
    named = {**coin, "entity": "new", "context": "newer", "name": "coin 3", "ticker": "c3"}
    near = coin_generator.nearest(
        library, coin_generator.read(json.dumps(named), model=MODEL, prompt="x", sources=three_addresses)
    )
    assert [(one.address, one.same) for one in near if one.is_copy] == [(address(3), ("name", "ticker"))]


def test_an_existing_name_or_ticker_is_found_even_when_captions_differ(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(*range(1, 9)))
    library.add([coin(9)])
    fields = {"entity": "text 2 entity", "context": "text 2 context", "name": "C0in 7", "ticker": "$c9"}
    made = coin_generator.read(json.dumps(fields), model=MODEL, prompt="x", sources=())
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
    fields = {"Name": "N", "Ticker": "$ Rain ", "caption": {"Entity": "x" * 30_000, "context": "half \ud83d"}}
    made = coin_generator.read(json.dumps(fields), model=MODEL, prompt="x", sources=())
    assert (made.name, made.ticker, made.caption["context"]) == ("N", "RAIN", "half")
    assert len(made.caption["entity"]) == MAX_FACET


@pytest.mark.parametrize(
    ("message", "tags"),
    [
        ("frog, rain ,frog", ("frog", "rain")),
        (["frog", "x" * 65, "two, three"], ("frog", "two", "three")),
        ([{"a": 1}], ()),
        (None, ()),
    ],
)
def test_tags_are_read_from_a_list_or_a_text(message: object, tags: tuple[str, ...]) -> None:
    answer = json.dumps({**COIN, "tags": message})
    assert coin_generator.read(answer, model=MODEL, prompt="x", sources=()).tags == tags


def test_top_level_fields_win_over_nested_ones() -> None:
    fields = {**COIN, "creator": {"name": "Bob", "ticker": "BOB"}, "like": [{"entity": "a toad"}]}
    made = coin_generator.read(json.dumps(fields), model=MODEL, prompt="x", sources=())
    assert (made.name, made.ticker, made.caption["entity"]) == ("Rain Frog", "RAIN", "a frog in the rain")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("", "gave an empty answer"),
        ("I'm sorry, I can't.", "answered in words, not with a coin: “I'm sorry, I can't.”"),
        ('{"name": "Rain Fr', "broke off"),
        ('{"name": "x"}', "left out ticker, entity, context"),
        ('{"name": 3, "ticker": []}', "left out ticker, entity, context"),
        ("[1]", "in words"),
    ],
)
def test_an_answer_without_a_coin_raises_a_descriptive_error(answer: str, message: str) -> None:
    with pytest.raises(CaptioningFailed, match=message):
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


@pytest.fixture
def configure(model: LanguageModelServer, monkeypatch: pytest.MonkeyPatch) -> Configure:
    def set_up(**more: str) -> None:
        chosen = {"IMAGE_MODEL": "openai/dall-e-3", "IMAGE_API_BASE": model.address, **more}
        for name, value in chosen.items():
            monkeypatch.setenv(f"MEMEDEX_{name}", value)
        settings.cache_clear()

    return set_up


@pytest.fixture(autouse=True)
def _settings_as_before() -> object:
    yield
    settings.cache_clear()


def test_the_picture_is_asked_for_by_the_coins_prompt_and_stored_as_the_library_has_them(
    model: LanguageModelServer, configure: Configure
) -> None:
    configure()
    model.answers = [draws(picture(3))]
    drawn = coin_generator.draw(MADE)
    assert drawn == normalise(picture(3))
    assert Image.open(io.BytesIO(drawn)).size == (512, 512)
    (asked,) = model.requests
    assert asked["path"] == "/v1/images/generations"
    assert (asked["prompt"], asked["model"], asked["n"]) == ("a frog, rain, pixel art", "dall-e-3", 1)


def test_a_coin_without_a_prompt_for_its_picture_is_drawn_by_its_caption(
    model: LanguageModelServer, configure: Configure
) -> None:
    configure()
    model.answers = [draws(picture(3))]
    answer = json.dumps({**COIN, "image_prompt": ""})
    coin_generator.draw(coin_generator.read(answer, model=MODEL, prompt="x", sources=()))
    assert model.requests[0]["prompt"] == "a frog in the rain"


def test_an_address_is_fetched_like_a_logo_and_never_from_this_machine_unless_allowed(
    model: LanguageModelServer, configure: Configure
) -> None:
    configure()
    model.answers = [draws(b"", address=f"{model.address}/a.png")]
    with pytest.raises(CaptioningFailed, match="no picture that can be read"):
        coin_generator.draw(MADE)
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (fails(401, "bad key"), "did not accept the key"),
        (draws(b"<html>"), "no picture that can be read"),
        (Answer(body={"created": 1, "data": []}), "the answer holds none"),
    ],
)
def test_failures_say_what_happened_and_the_coin_is_made_without_a_picture(
    model: LanguageModelServer, configure: Configure, answer: Answer, message: str
) -> None:
    configure()
    model.answers = [answer]
    with pytest.raises(CaptioningFailed, match=message):
        coin_generator.draw(MADE)
    drawn, why = coin_generator.draw_if_configured(MADE)
    assert drawn is None
    assert message in why


def test_without_an_image_model_nobody_is_asked(configure: Configure, model: LanguageModelServer) -> None:
    configure(IMAGE_MODEL="")
    assert coin_generator.draw_if_configured(MADE) == (None, "")
    assert model.requests == []
