"""Any answer of a language model is read, or refused with a named error."""

import json
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.captioning import captioner
from store.captioning.captioner import Captioner, CaptionRequest, read_answer
from store.errors import CaptioningFailed, InvalidRecord
from store.fetching.retry_after import seconds_to_wait
from store.generation import coin_generator
from store.records import CAPTION_FACETS, MAX_FACET, MAX_TAG, MAX_TAGS
from tests.fuzz.cases import SCALARS, TEXTS, VALUES, altered, bounded, fuzz, garbled
from tests.store.conftest import picture

CAPTION: dict[str, Any] = {
    "entity": "a dog",
    "context": "a joke",
    "visual": None,
    "emotions": " ",
    "tags": ["dog", "moon"],
}
COIN: dict[str, Any] = {
    "name": "Moon Dog",
    "ticker": "$MOON",
    "description": "It flies.",
    "entity": "a dog",
    "context": "a joke",
    "image_prompt": {"text": "a dog"},
}
PROSE = ("", "Here you are {as you wished}: ", "```json\n", "{" * 900, '{"caption":', "\ud800")
ANSWERS = st.one_of(
    st.builds(lambda before, value: before + json.dumps(value), st.sampled_from(PROSE), altered(CAPTION)),
    st.builds(lambda value: json.dumps({"caption": value}), altered(CAPTION)),
    garbled(json.dumps(CAPTION).encode()).map(lambda content: content.decode(errors="surrogateescape")),
    st.builds(lambda before, value: before + json.dumps(value), st.sampled_from(PROSE), altered(COIN)),
    garbled(json.dumps({"coin": [COIN]}).encode()).map(lambda content: content.decode(errors="replace")),
    TEXTS,
)


@fuzz(share=0.05)
@given(answer=ANSWERS, facets=st.sampled_from((CAPTION_FACETS, ("visual",), ("entity",))))
def test_any_answer_gives_a_caption_that_can_be_stored(answer: str, facets: Any) -> None:
    with bounded():
        try:
            caption, tags = read_answer(answer, facets=facets)
        except InvalidRecord:
            pass
        else:
            assert all(len(text.encode()) > 0 and len(text) <= MAX_FACET for text in caption.values())
            assert len(tags) <= MAX_TAGS
            assert all(len(tag.encode()) > 0 and len(tag) <= MAX_TAG for tag in tags)


@fuzz(share=0.04)
@given(answer=ANSWERS)
def test_any_answer_gives_a_coin_that_can_be_stored(answer: str) -> None:
    with bounded():
        try:
            coin = coin_generator.read(answer, model="m", prompt="p", sources=())
        except CaptioningFailed:
            pass
        else:
            found = coin_generator.candidate(coin, picture(1))
            json.dumps(found.sidecar, ensure_ascii=False).encode()


def as_object(value: Any) -> Any:
    """The value as litellm gives it: attributes instead of keys."""
    if isinstance(value, dict):
        return types.SimpleNamespace(**{str(key): as_object(one) for key, one in value.items()})
    return [as_object(one) for one in value] if isinstance(value, list) else value


COMPLETION: dict[str, Any] = {
    "choices": [{"message": {"content": json.dumps(CAPTION)}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 5},
}


class Provider:
    """litellm, with one answer to everything."""

    class InternalServerError(Exception):
        pass

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def completion(self, **_: Any) -> Any:
        return self._answer

    def supports_response_schema(self, **_: Any) -> bool:
        return False

    def get_supported_openai_params(self, **_: Any) -> list[str]:
        return []

    def cost_per_token(self, **_: Any) -> tuple[float, float]:
        return 0.1, 0.2


@fuzz(share=0.03)
@given(completion=altered(COMPLETION))
def test_any_response_of_a_provider_is_used_or_refused(
    monkeypatch: pytest.MonkeyPatch, completion: Any
) -> None:
    monkeypatch.setattr(captioner, "_within", lambda _, work: work())
    asked = Captioner("a-model")
    asked._litellm.get = lambda: Provider(as_object(completion))  # type: ignore[method-assign]
    with bounded():
        try:
            made = asked.draft(CaptionRequest(template="{name}", picture=picture(1), name="Coin"))
        except CaptioningFailed:
            pass
        else:
            json.dumps([made.caption, made.tags, made.usage.prompt_tokens]).encode()


@fuzz(share=0.02)
@given(
    header=st.one_of(
        TEXTS,
        SCALARS.map(str),
        VALUES.map(str),
        st.from_regex(
            r"Wed, [0-9]{1,30} Oct [0-9]{1,30} [0-9]{1,30}:28:00 ([+-][0-9]{1,30}|GMT)", fullmatch=True
        ),
        garbled(b"Wed, 21 Oct 2026 07:28:00 GMT").map(lambda content: content.decode(errors="replace")),
    )
)
def test_any_wait_that_a_server_asks_for_is_bounded(header: str) -> None:
    wait = seconds_to_wait(header)
    assert wait is None or 0 <= wait <= 3600
