"""Lore is split at line breaks as in the story engine, and no text is lost."""

from hypothesis import given
from hypothesis import strategies as st

from store.memory.text.line_chunks import LONGEST, split_lines

texts = st.text(st.sampled_from("ab  \n\n\t\r é界𝔘"), max_size=400) | st.text(max_size=200)


def split(text: str, longest: int = LONGEST) -> list[str]:
    return [text[start:end] for start, end in split_lines(text, longest=longest)]


def reference(text: str, longest: int) -> list[str]:
    """The story engine's loop, but with the last chunk and without empty chunks."""
    chunks, current = [], ""
    for line in text.split("\n"):
        if len(current) + len(line) > longest and current:
            chunks.append(current.strip())
            current = ""
        current += line + "\n"
    return [chunk for chunk in [*chunks, current.strip()] if chunk]


@given(texts, st.integers(1, 60))
def test_only_white_space_at_chunk_edges_is_lost(text: str, longest: int) -> None:
    spans = split_lines(text, longest=longest)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    assert not "".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)).strip()


@given(texts, st.integers(1, 60))
def test_no_chunk_is_empty_too_long_or_has_white_space_at_its_edges(text: str, longest: int) -> None:
    for chunk in split(text, longest):
        assert 0 < len(chunk) <= longest
        assert chunk == chunk.strip()


@given(texts, st.integers(1, 60))
def test_chunks_match_the_reference_when_every_line_fits(text: str, longest: int) -> None:
    if all(len(line) <= longest for line in text.split("\n")):
        assert split(text, longest) == reference(text, longest)


def test_800_characters_are_one_chunk_and_801_are_two() -> None:
    assert [len(chunk) for chunk in split("a" * 400 + "\n" + "b" * 399)] == [800]
    assert [len(chunk) for chunk in split("a" * 400 + "\n" + "b" * 400)] == [400, 400]


def test_the_last_chunk_is_not_lost() -> None:
    assert split("\n".join(["x" * 500] * 3)) == ["x" * 500] * 3
    assert split("only one line") == ["only one line"]


def test_no_empty_chunks_are_created() -> None:
    assert split("") == split(" \n\n \t") == []
    assert split("\n" * 900 + "text" + "\n" * 900) == ["text"]


def test_a_single_line_longer_than_800_is_cut_between_words() -> None:
    line = "word " * 400
    chunks = split(f"before\n{line}\nafter")
    assert chunks[0] == "before"
    assert max(map(len, chunks)) <= 800
    assert " ".join(chunks).split() == ["before", *["word"] * 400, "after"]
    assert chunks[-1].endswith("\nafter"), "its last piece goes on with the next line"


def test_a_word_longer_than_800_is_cut_in_the_middle() -> None:
    assert [len(chunk) for chunk in split("x" * 2000)] == [800, 800, 400]
