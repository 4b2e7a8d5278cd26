"""Captions drafted by a language model that sees: a picture and a few words in, four facets and tags out."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from store.embedding.loading import Lazy
from store.errors import CaptioningFailed, InvalidRecord
from store.language_models import import_litellm, readable
from store.records import CAPTION_FACETS, MAX_FACET, MAX_TAG, MAX_TAGS, REQUIRED_FACETS, Facet
from store.settings import Settings

PROMPT = Path(__file__).parent / "prompts" / "caption.txt"
TRIES = 2  # a bad answer is sent back once, with the reason
MAX_ANSWER = 200_000  # characters; protects from an endpoint that never ends
MAX_STARTS = 200  # braces tried as the beginning of the object

_TEXT = {"type": "string"}
_PROPERTIES: dict[str, Any] = dict.fromkeys(CAPTION_FACETS, _TEXT)
_PROPERTIES["tags"] = {"type": "array", "items": _TEXT}
_SCHEMA = {
    "name": "caption",
    "schema": {
        "type": "object",
        "properties": _PROPERTIES,
        "required": [*REQUIRED_FACETS],
        "additionalProperties": False,
    },
}


@dataclass(frozen=True, slots=True)
class Draft:
    """What a model suggests; nothing is stored before a person saves it."""

    caption: dict[Facet, str]
    tags: list[str]
    model: str


class Captioner(Protocol):
    def draft(
        self, picture: bytes, *, name: str, ticker: str, description: str, tags: Sequence[str]
    ) -> Draft:
        """A caption with both required facets; CaptioningFailed says what went wrong and what to do."""


def open_captioner(settings: Settings) -> "Captioner | None":
    """The captioner of these settings; None where no model is named, and people write the captions."""
    if not settings.caption_model:
        return None
    return LanguageModelCaptioner(
        settings.caption_model,
        api_base=settings.caption_api_base or None,
        timeout=settings.caption_timeout,
        prompt=settings.caption_prompt or PROMPT,
    )


class LanguageModelCaptioner:
    """Any model that litellm can reach and that sees pictures; the key comes from the provider's usual
    variable."""

    def __init__(
        self, model: str, *, api_base: str | None = None, timeout: float = 60.0, prompt: Path = PROMPT
    ) -> None:
        self._model = model
        self._api_base = api_base
        self._timeout = timeout
        self._prompt = prompt
        self._litellm: Lazy[Any] = Lazy("litellm", import_litellm)

    def draft(
        self, picture: bytes, *, name: str, ticker: str, description: str, tags: Sequence[str]
    ) -> Draft:
        """A caption with both required facets; CaptioningFailed says what went wrong and what to do."""
        words = {"name": name, "ticker": ticker, "description": description, "tags": ", ".join(tags)}
        question = [
            {"type": "text", "text": filled(self._template(), words)},
            {"type": "image_url", "image_url": {"url": data_url(picture)}},
        ]
        messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
        reason = ""
        for _ in range(TRIES):
            answer = self._ask(messages, about=name)
            try:
                caption, found = read_answer(answer)
                return Draft(caption, found, self._model)
            except InvalidRecord as error:
                reason = str(error)
            messages += [
                {"role": "assistant", "content": answer[:4000] or "(nothing)"},
                {
                    "role": "user",
                    "content": f"That cannot be used: {reason}. Answer again with the JSON object alone.",
                },
            ]
        raise CaptioningFailed(
            f"no caption for {name!r}: {self._model} gave no usable answer twice ({reason}); "
            "write it by hand, or choose another model (MEMEDEX_CAPTION_MODEL)"
        )

    def _template(self) -> str:
        try:
            return self._prompt.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CaptioningFailed(
                f"the prompt {self._prompt} cannot be read ({error}); "
                "set MEMEDEX_CAPTION_PROMPT to a text file"
            ) from error

    def _ask(self, messages: Sequence[Mapping[str, Any]], *, about: str) -> str:
        """The model's answer as text."""
        litellm = self._litellm.get()
        try:
            completion = litellm.completion(
                model=self._model,
                messages=list(messages),
                api_base=self._api_base,
                timeout=self._timeout,
                max_retries=0,  # a person waits: they are told, and decide whether to try again
                num_retries=0,
                **_answer_format(litellm, self._model),
            )
            choice = completion.choices[0]
            answer, finished = choice.message.content, choice.finish_reason
            refusal = (getattr(choice.message, "provider_specific_fields", None) or {}).get("refusal")
        except Exception as error:  # providers raise whatever they like; it becomes one readable error
            message = readable(error, model=self._model)
            raise CaptioningFailed(f"no caption for {about!r}: {message}") from error
        if refusal or finished == "content_filter":
            raise CaptioningFailed(
                f"no caption for {about!r}: {self._model} refused ({refusal or 'content filter'}); "
                "write it by hand, or choose another model"
            )
        return answer[:MAX_ANSWER] if isinstance(answer, str) else ""


def filled(template: str, words: Mapping[str, str]) -> str:
    """The template with {name}, {ticker}, {description} and {tags} put in, in one pass: braces in the words
    stay text."""
    return re.sub(r"\{(name|ticker|description|tags)\}", lambda match: words[match[1]], template)


def data_url(picture: bytes) -> str:
    """The picture as a data: address, its type told by its first bytes."""
    kinds = {b"\x89PNG": "png", b"GIF8": "gif", b"RIFF": "webp"}
    kind = next((kind for start, kind in kinds.items() if picture.startswith(start)), "jpeg")
    return f"data:image/{kind};base64,{b64encode(picture).decode()}"


def read_answer(answer: str) -> tuple[dict[Facet, str], list[str]]:
    """Facets and tags of an answer, alone, fenced or with prose around it; InvalidRecord tells what is
    wrong with it."""
    found = _object_in(answer)
    inner = found.get("caption")
    facets = inner if isinstance(inner, dict) else found
    faults = []
    caption: dict[Facet, str] = {}
    for facet in CAPTION_FACETS:
        text = facets.get(facet)
        if text is None or (isinstance(text, str) and not text.strip()):
            if facet in REQUIRED_FACETS:
                faults.append(f"{facet} is missing")
        elif not isinstance(text, str):
            faults.append(f"{facet} must be text")
        elif len(text) > MAX_FACET:
            faults.append(f"{facet} has more than {MAX_FACET:,} characters")
        else:
            caption[facet] = text.strip()
    tags = found.get("tags") or []
    if isinstance(tags, str):
        tags = tags.split(",")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        faults.append("tags must be a list of texts")
    else:
        tags = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
        bad = [tag for tag in tags if "," in tag or len(tag) > MAX_TAG]
        if bad or len(tags) > MAX_TAGS:
            faults.append(f"tags hold a comma, are longer than {MAX_TAG} characters or more than {MAX_TAGS}")
    if faults:
        raise InvalidRecord("; ".join(faults))
    return caption, tags


def _object_in(answer: str) -> dict[str, Any]:
    """The first JSON object with a facet in it, wherever it begins."""
    decoder = json.JSONDecoder()
    for start in [match.start() for match in re.finditer(r"\{", answer)][:MAX_STARTS]:
        try:
            value, _ = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):  # half an object, or one nested a thousand deep
            continue
        if isinstance(value, dict) and value.keys() & {*CAPTION_FACETS, "caption"}:
            return value
    raise InvalidRecord("it holds no JSON object with entity and context")


def _answer_format(litellm: Any, model: str) -> dict[str, Any]:
    """How this model can be held to JSON: by a schema, by JSON mode, or by the prompt alone."""
    if litellm.supports_response_schema(model=model):
        return {"response_format": {"type": "json_schema", "json_schema": _SCHEMA}}
    if "response_format" in (litellm.get_supported_openai_params(model=model) or ()):
        return {"response_format": {"type": "json_object"}}
    return {}
