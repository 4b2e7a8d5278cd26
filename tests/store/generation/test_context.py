"""The context of examples: formats, tokens and what a budget leaves out."""

import json
import re

import pytest

from store.generation import context
from store.generation.context import PICTURE_TOKENS
from store.library import Library
from store.llm.client import import_litellm
from store.memory.text.tokens import count_tokens

pytestmark = pytest.mark.usefixtures("without_chroma")


PICTURE = re.compile(r" !\[.*\]\(data:.*\)")


def test_the_context_is_a_list_of_examples_without_empty_facets(
    library: Library, three_addresses: list[str]
) -> None:
    made = context.build(library, reversed(three_addresses))
    assert [example.text for example in made.examples] == [
        f"Example {place}:\nEntity: text {number} entity\nContext: text {number} context\n"
        f"Visual: text {number} visual"
        for place, number in enumerate((3, 2, 1), start=1)
    ]
    assert all(example.picture for example in made.examples)
    sections = PICTURE.sub("", context.as_markdown(made)).split("\n\n")  # exactly the text sent to the model
    assert made.tokens == sum(map(count_tokens, sections)) + 3 * PICTURE_TOKENS
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
    words = [count_tokens(example.text) for example in whole.examples]
    seen = whole.examples[0].tokens - words[0]
    made = context.build(library, three_addresses, budget=sum(words) + seen + 3)
    assert [(left.record.address, left.what) for left in made.left_out] == [
        (three_addresses[1], "its picture"),
        (three_addresses[2], "its picture"),
    ], "texts come before pictures"
    assert made.tokens == sum(words) + seen
    assert [bool(example.picture) for example in made.examples] == [True, False, False]
    (left,) = context.build(library, three_addresses, budget=sum(words) - 1, pictures=False).left_out
    assert (left.record.address, left.what) == (three_addresses[2], "all of it")
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
