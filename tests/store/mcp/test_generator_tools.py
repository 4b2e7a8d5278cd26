"""Agents get a new coin with its tags, and its picture if an image model is configured."""

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from store.captioning.captioner import data_url
from store.errors import CaptioningFailed
from store.generation import coin_generator
from store.library import Library
from store.mcp.access import Access
from store.mcp.coin_tools import GeneratorTools
from store.settings import settings
from tests.store.conftest import picture
from tests.store.generation.generated_coin import COIN

pytestmark = pytest.mark.usefixtures("without_chroma")


def test_an_agent_gets_the_picture_or_why_there_is_none(
    library: Library, three_addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_CAPTION_MODEL", "openai/any")
    monkeypatch.setenv("MEMEDEX_IMAGE_MODEL", "openai/any-image")
    monkeypatch.setattr(coin_generator, "stream", lambda *_, **__: iter([json.dumps(COIN)]))
    monkeypatch.setattr(coin_generator, "draw", lambda coin: picture(3))
    settings.cache_clear()
    try:
        tools = GeneratorTools(cast(Access, SimpleNamespace(library=library)))
        made = tools.generate_memecoin("a frog")
        assert (made["tags"], made["image"]) == (COIN["tags"], data_url(picture(3)))

        def fail(coin: Any) -> bytes:
            raise CaptioningFailed("out of ink")

        monkeypatch.setattr(coin_generator, "draw", fail)
        made = tools.generate_memecoin("a frog")
        assert (made["image"], made["why_no_image"]) == (None, "out of ink")
    finally:
        settings.cache_clear()
    assert library.counts()["pending"] == 0
