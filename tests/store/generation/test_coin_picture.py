"""A new coin's picture comes from the image model, over HTTP in OpenAI's form."""

import io
import json
from collections.abc import Callable

import pytest
from PIL import Image

from store.disk.images import normalise
from store.errors import CaptioningFailed
from store.generation import coin_generator, coin_picture
from store.settings import settings
from tests.store.conftest import picture
from tests.store.generation.generated_coin import COIN, MODEL
from tests.store.language_model_server import Answer, LanguageModelServer, draws, fails

MADE = coin_generator.read(json.dumps(COIN), model=MODEL, prompt="a frog", sources=())
Configure = Callable[..., None]


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
    drawn = coin_picture.draw(MADE)
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
    coin_picture.draw(coin_generator.read(answer, model=MODEL, prompt="x", sources=()))
    assert model.requests[0]["prompt"] == "a frog in the rain"


def test_an_address_is_fetched_like_a_logo_and_never_from_this_machine_unless_allowed(
    model: LanguageModelServer, configure: Configure
) -> None:
    configure()
    model.answers = [draws(b"", address=f"{model.address}/a.png")]
    with pytest.raises(CaptioningFailed, match="no picture that can be read"):
        coin_picture.draw(MADE)
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (fails(401, "bad key"), "did not accept the key"),
        (draws(b"<svg/>"), "no picture that can be read"),
        (Answer(body={"created": 1, "data": []}), "the answer holds none"),
    ],
)
def test_failures_say_what_happened_and_the_coin_is_made_without_a_picture(
    model: LanguageModelServer, configure: Configure, answer: Answer, message: str
) -> None:
    configure()
    model.answers = [answer]
    with pytest.raises(CaptioningFailed, match=message):
        coin_picture.draw(MADE)
    drawn, why = coin_picture.draw_if_configured(MADE)
    assert drawn is None
    assert message in why


def test_without_an_image_model_nobody_is_asked(configure: Configure, model: LanguageModelServer) -> None:
    configure(IMAGE_MODEL="")
    assert coin_picture.draw_if_configured(MADE) == (None, "")
    assert model.requests == []
