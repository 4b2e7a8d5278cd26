"""The examples given to a generator: library records, within a budget of tokens.

Example 1:
Entity: …
Context: …
Visual: …                   (left out if empty)
Emotions: …
Image: [the picture, as base64]
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from store.captioning.captioner import data_url
from store.catalog.filters import Filter
from store.errors import InvalidRecord, UnknownRecord
from store.memory.text.tokens import count_tokens
from store.reading.query_binding import parts_of, picture
from store.reading.reader import Reader
from store.records import CAPTION_FACETS, Record
from store.search.query import Query
from store.search.query_syntax import read

EXAMPLES = 5
# One 512 × 512 tile as OpenAI counts a picture: 85 + 170 (platform.openai.com/docs/guides/images-vision).
PICTURE_TOKENS = 255
_LABEL = "\nImage:"  # before each picture


@dataclass(frozen=True, slots=True)
class Example:
    """One record as an example."""

    record: Record
    text: str
    picture: Path | None
    tokens: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record, or its picture, that the budget had no room for."""

    record: Record
    what: str  # "all of it", or "its picture"
    tokens: int


@dataclass(frozen=True, slots=True)
class ExampleContext:
    """The examples in their order, and what was left out."""

    examples: tuple[Example, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int  # of text and pictures together, without the question


def build(
    reader: Reader,
    addresses: Iterable[str],
    *,
    budget: int | None = None,
    model: str = "",
    pictures: bool = True,
) -> ExampleContext:
    """These records in this order, each whole, without its picture, or left out, as the budget allows.

    The budget goes to the texts of all records first, then to pictures. Tokens are those of `model` as
    litellm counts them, of cl100k_base without a model. Records that no longer exist are skipped.
    """
    left_out: list[LeftOut] = []
    room = float("inf") if budget is None else float(budget)
    texts: list[tuple[Record, str, int, int]] = []  # with the tokens of the text and of the picture
    for address in dict.fromkeys(addresses):
        try:
            record = reader.get(address)
        except UnknownRecord:
            continue
        text = _format(record, number=len(texts) + 1)
        words, seen = _tokens(text, model=model), 0
        if pictures and reader.picture(address).exists():
            seen = _tokens(f"{text}{_LABEL}", model=model) - words + PICTURE_TOKENS
        if words > room:
            left_out.append(LeftOut(record, "all of it", words + seen))
            continue
        texts.append((record, text, words, seen))
        room -= words
    examples: list[Example] = []
    for record, text, words, seen in texts:
        fits = bool(seen) and seen <= room
        if seen and not fits:
            left_out.append(LeftOut(record, "its picture", seen))
        shown = seen if fits else 0
        room -= shown
        path = reader.picture(record.address) if fits else None
        examples.append(Example(record, text, path, words + shown))
    return ExampleContext(tuple(examples), tuple(left_out), sum(example.tokens for example in examples))


def as_markdown(context: ExampleContext) -> str:
    """As Markdown, to read and to paste; pictures as data URLs."""
    return "\n\n".join(
        f"{example.text}{_LABEL} ![{example.record.address}]({_picture(example)})"
        if example.picture
        else example.text
        for example in context.examples
    )


def as_json(context: ExampleContext) -> str:
    """The examples by their fields."""
    rows = [
        {
            "token_address": example.record.address,
            "token_name": example.record.name,
            "ticker": example.record.ticker,
            "caption": dict(_caption(example.record)),
            "image": _picture(example) if example.picture else None,
        }
        for example in context.examples
    ]
    return json.dumps({"examples": rows, "tokens": context.tokens}, ensure_ascii=False, indent=2)


def as_messages(context: ExampleContext, prompt: str, *, system: str = "") -> list[dict[str, Any]]:
    """Chat messages in litellm's format; each picture follows its example."""
    parts: list[dict[str, Any]] = []
    for example in context.examples:
        words = f"{example.text}{_LABEL}" if example.picture else example.text
        parts.append({"type": "text", "text": words})
        if example.picture:
            parts.append({"type": "image_url", "image_url": {"url": _picture(example)}})
    parts.append({"type": "text", "text": prompt})
    first = [{"role": "system", "content": system}] if system else []
    return [*first, {"role": "user", "content": parts}]


def _format(record: Record, *, number: int) -> str:
    lines = [f"{facet.capitalize()}: {text}" for facet, text in _caption(record)]
    return "\n".join([f"Example {number}:", *lines])


def _caption(record: Record) -> Sequence[tuple[str, str]]:
    """The facets that have text, each on one line."""
    texts = [(facet, " ".join(record.caption.get(facet, "").split())) for facet in CAPTION_FACETS]
    return [(facet, text) for facet, text in texts if text]


def _picture(example: Example) -> str:
    assert example.picture is not None
    return data_url(example.picture.read_bytes())


def _tokens(text: str, *, model: str) -> int:
    if not model:
        return count_tokens(text)
    from store.llm.client import import_litellm

    return int(import_litellm().token_counter(model=model, text=text))


def nearest_examples(reader: Reader, line: str, *, top: int) -> list[str]:
    """The library's coins nearest to the line, which may filter. Raises InvalidRecord for none."""
    question = read(line, base=Filter(tier="library"), actor="")
    parts, faults = parts_of(reader, question, pictures=partial(picture, reader))
    if not parts:
        raise InvalidRecord("; ".join([*question.faults, *faults]) or "say what the coin should be about")
    query = Query(parts, top=top, filter=replace(question.filter, tier="library"))
    return [hit.address for hit in reader.search(query).hits]


def chosen_examples(reader: Reader, line: str, addresses: Sequence[str], *, top: int) -> list[str]:
    """The named coins, or without any the nearest to the line."""
    return list(addresses) or nearest_examples(reader, line, top=top)
