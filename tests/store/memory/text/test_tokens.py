"""Long texts of transcripts in chunks: the documented figures, spans that are exact, any Unicode."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.memory.text.extraction import CONTENT_TYPES, ContentType
from store.memory.text.tokens import Sizes, chunk_text, count_tokens

SMALL = Sizes(limit=120, target=40, overlap=12, least_overlap=6)
CODE = "```py\ncode = 1\n```\n"
pieces = st.sampled_from(
    ["word ", "Sentence. ", "\n", "\n\n", "# Head\n", CODE, "```", "é界𝔘🐕‍🦺 ", "xxxxxxxxxxxxxxxx", " " * 9]
)
texts = st.lists(pieces, max_size=150).map("".join) | st.text(max_size=300)
types = st.sampled_from(CONTENT_TYPES)


@pytest.mark.parametrize("text", ["", "\n", "   \n\n  "])
def test_a_text_without_words_is_one_chunk(text: str) -> None:
    (only,) = chunk_text(text, "user_query")
    assert (only.start, only.end, only.tokens) == (0, len(text), count_tokens(text))


@settings(max_examples=60, deadline=None)
@given(texts, types)
def test_chunks_cover_the_text_in_order_with_their_token_counts(text: str, content_type: ContentType) -> None:
    chunks = chunk_text(text, content_type, sizes=SMALL)
    assert (chunks[0].start, chunks[-1].end) == (0, len(text))
    for before, after in pairwise(chunks):
        assert before.start < after.start < before.end < after.end, "each overlaps the one before and goes on"
    for chunk in chunks:
        assert chunk.tokens == count_tokens(text[chunk.start : chunk.end])
        assert chunk.tokens <= SMALL.limit


@settings(max_examples=60, deadline=None)
@given(texts, st.sampled_from(("user_query", "tool_output")))
def test_chunks_without_code_respect_the_target_size_and_the_overlap(
    text: str, content_type: ContentType
) -> None:
    chunks = chunk_text(text, content_type, sizes=SMALL)
    if len(chunks) < 2:
        return
    assert all(chunk.tokens <= SMALL.target + 4 for chunk in chunks), "put together a few tokens more"
    for before, after in pairwise(chunks):
        assert count_tokens(text[after.start : before.end]) >= SMALL.least_overlap


@pytest.mark.parametrize("text", ["word " * 1_600, "🐸" * 50 + "a" * 7_000, "帽子" * 1_200])
def test_tokens_of_a_text_that_is_one_chunk_in_any_case_are_estimated(text: str) -> None:
    (only,) = chunk_text(text, "tool_output")
    assert (only.start, only.end) == (0, len(text))
    assert only.tokens <= 8192, "a text is never said to be longer than a model can read"
    (short,) = chunk_text(text[:200], "tool_output")
    assert short.tokens == count_tokens(text[:200])


def of_tokens(n: int, end: str = "\n") -> str:
    """Lines of about ten tokens each."""
    return "".join(f"line number {number} says that it is so{end}" for number in range(n // 10))


def test_8192_tokens_are_one_chunk_and_one_more_is_split() -> None:
    text = "a" + " a" * 8191
    (only,) = chunk_text(text, "user_query")
    assert (only.start, only.end, only.tokens) == (0, len(text), 8192)
    assert len(chunk_text(text + " one more", "user_query")) > 1


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_chunks_have_about_1024_tokens_with_64_to_128_of_overlap(content_type: ContentType) -> None:
    text = of_tokens(20_000, "\n\n" if content_type.startswith("assistant") else "\n")
    chunks = chunk_text(text, content_type)
    assert all(800 <= chunk.tokens <= 1024 for chunk in chunks[:-1])
    for before, after in pairwise(chunks):
        assert 64 <= count_tokens(text[after.start : before.end]) <= 140


def test_code_blocks_of_assistants_stay_whole() -> None:
    code = "```python\n" + of_tokens(3_000) + "```\n"
    text = of_tokens(5_000, "\n\n") + "# Heading\n\n" + code + "\n" + of_tokens(5_000, "\n\n")
    chunks = chunk_text(text, "assistant_response")
    place = text.index(code)
    assert any(chunk.start <= place and place + len(code) <= chunk.end for chunk in chunks)
    assert max(chunk.tokens for chunk in chunks) <= 8192


def test_tool_output_is_cut_between_lines() -> None:
    text = of_tokens(10_000)
    for chunk in chunk_text(text, "tool_output"):
        assert chunk.start == 0 or text[chunk.start - 1] == "\n"
        assert text[chunk.end - 1] == "\n"


def test_user_text_is_cut_between_sentences() -> None:
    text = of_tokens(10_000, ". ")
    for chunk in chunk_text(text, "user_query")[:-1]:
        assert text[chunk.end - 2 : chunk.end] == ". "


def test_very_long_words_and_special_tokens_are_also_split() -> None:
    for text in ("x" * 80_000, "🐕" * 12_000, "<|endoftext|>" * 3_000):
        chunks = chunk_text(text, "user_query")
        assert (chunks[0].start, chunks[-1].end) == (0, len(text))
        assert all(chunk.tokens <= 1040 for chunk in chunks)
