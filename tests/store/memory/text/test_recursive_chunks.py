"""Papers are split recursively at 1,000 characters with 100 of overlap."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from store.memory.text.recursive_chunks import LONGEST, OVERLAP, split_recursively

texts = st.text(st.sampled_from("ab   \n\n\t\ré界𝔘"), max_size=400) | st.text(max_size=200)
sizes = st.tuples(st.integers(1, 60), st.integers(0, 30))


@given(texts, sizes)
def test_only_white_space_at_chunk_edges_is_lost(text: str, sizes: tuple[int, int]) -> None:
    end = 0
    for start, stop in split_recursively(text, longest=sizes[0], overlap=sizes[1]):
        assert not text[end : max(end, start)].strip(), "what lies between two chunks is white space"
        assert stop > end, "every chunk goes on"
        end = stop
    assert not text[end:].strip()


@given(texts, sizes)
def test_no_chunk_is_empty_or_too_long_or_overlaps_too_much(text: str, sizes: tuple[int, int]) -> None:
    spans = split_recursively(text, longest=sizes[0], overlap=sizes[1])
    for start, stop in spans:
        assert 0 < stop - start <= sizes[0]
        assert text[start:stop] == text[start:stop].strip()
    for (_, before), (after, _) in pairwise(spans):
        assert before - after <= sizes[1]


def test_paragraphs_that_fit_stay_whole() -> None:
    paragraphs = ["a" * 600, "b" * 500, "c" * 300]
    text = "\n\n".join(paragraphs)
    assert [text[s:e] for s, e in split_recursively(text)] == ["a" * 600, "b" * 500 + "\n\n" + "c" * 300]


def test_chunks_of_prose_overlap_by_nearly_100_characters() -> None:
    text = " ".join(f"word{number:04}" for number in range(1000))
    spans = split_recursively(text)
    assert all(900 < end - start <= LONGEST for start, end in spans[:-1])
    overlaps = [before - after for (_, before), (after, _) in pairwise(spans)]
    assert all(OVERLAP - 9 <= overlap <= OVERLAP for overlap in overlaps)


def test_a_very_long_word_is_cut_at_1000_with_100_of_overlap() -> None:
    assert split_recursively("x" * 2500) == [(0, 1000), (900, 1900), (1800, 2500)]


def test_1000_characters_are_one_chunk() -> None:
    assert split_recursively("x" * 1000) == [(0, 1000)]
    assert split_recursively("") == split_recursively(" \n\n ") == []
