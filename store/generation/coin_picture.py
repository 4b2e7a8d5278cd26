"""A picture of an invented coin, by the image model that is configured."""

import base64
from contextlib import closing
from typing import Any

from store.captioning.captioner import data_url
from store.errors import CaptioningFailed, MemedexError
from store.generation.coin_generator import GeneratedCoin
from store.llm.client import import_litellm, readable
from store.settings import settings


def draw(coin: GeneratedCoin) -> bytes:
    """A picture of this coin as the library stores pictures; asks the image model once, which costs money.

    Raises CaptioningFailed with the cause and the remedy.
    """
    from store.disk.images import normalise  # Pillow, which a list does without

    chosen = settings()
    model, prompt = chosen.image_model, coin.image_prompt or coin.caption["entity"]
    if not model:
        raise CaptioningFailed("no image model is configured: set MEMEDEX_IMAGE_MODEL")
    litellm = import_litellm()
    try:
        answer = litellm.image_generation(
            prompt=prompt, model=model, n=1, response_format="b64_json", drop_params=True,
            api_base=chosen.image_api_base or None, timeout=chosen.image_timeout, max_retries=0,
        )  # fmt: skip
    except Exception as error:  # providers raise errors of any type; they become one readable error
        raise CaptioningFailed(f"no picture: {readable(error, model=model)}") from error
    try:
        return normalise(_content(answer))
    except (MemedexError, ValueError) as error:
        raise CaptioningFailed(f"{model} gave no picture that can be read: {error}") from error


def draw_if_configured(coin: GeneratedCoin) -> tuple[bytes | None, str]:
    """The picture, or why there is none; neither without an image model."""
    if not settings().image_model:
        return None, ""
    try:
        return draw(coin), ""
    except CaptioningFailed as error:
        return None, str(error)


def as_url(picture: bytes | None) -> str | None:
    """The picture as a data: URL, for agents."""
    return data_url(picture) if picture else None


def _content(answer: Any) -> bytes:
    """The bytes in an answer in OpenAI's form: base64, or an address, which is fetched like a logo."""
    made = (getattr(answer, "data", None) or [None])[0]
    if encoded := getattr(made, "b64_json", None):
        return base64.b64decode(encoded)
    if not (address := getattr(made, "url", None)):
        raise ValueError("the answer holds none")
    if address.startswith("data:"):
        return base64.b64decode(address.partition(",")[2])
    from store.fetching.download import Downloads  # httpx
    from store.fetching.guard import Guard, any_address, is_global

    chosen = settings()
    guard = Guard(allowed=any_address if chosen.fetch_private else is_global)
    with closing(Downloads(guard, gateway=chosen.ipfs_gateway)) as downloads:
        return downloads.picture(address)
