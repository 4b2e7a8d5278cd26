"""Long texts are embedded to their end; a vector counts if it is float32 numbers of unit length."""

from itertools import pairwise

import numpy as np
import pytest

from store.embedding import open_embedder
from store.embedding.protocol import OFFLINE, Embedder, are_usable, embed_in_windows, spans


@pytest.fixture(scope="module")
def offline() -> Embedder:
    return open_embedder(OFFLINE)


@pytest.mark.slow
def test_the_end_of_a_long_text_affects_its_vector(offline: Embedder) -> None:
    start = "the annual report of the harbour authority. " * 80
    assert offline.count_tokens(start) > 2 * offline.token_limit
    plain, dog, wanted = offline.embed_texts(
        [start, start + "a shiba dog on the moon. " * 60, "a shiba dog on the moon"]
    )
    assert dog @ wanted > plain @ wanted + 0.2


def test_a_text_at_the_token_limit_is_one_window(offline: Embedder) -> None:
    words = "dog " * (offline.token_limit - 2)
    assert offline.count_tokens(words) == offline.token_limit
    assert len(spans(offline.token_limit - 2, size=offline.token_limit - 2)) == 1


@pytest.mark.parametrize("length", [1, 9, 10, 11, 13, 50, 997])
def test_windows_cover_every_token_and_overlap(length: int) -> None:
    windows = spans(length, size=10)
    assert {index for window in windows for index in range(length)[window]} == set(range(length))
    assert all(window.stop - window.start <= 10 for window in windows)
    overlaps = [before.stop - after.start for before, after in pairwise(windows)]
    assert all(overlap >= 2 for overlap in overlaps)


def test_window_vectors_are_averaged_and_normalised() -> None:
    (row,) = embed_in_windows(
        [[0] * 10 + [1] * 10],
        size=10,
        batch=2,
        embed=lambda windows: np.array([[7.0, 0.0] if 1 not in window else [0.0, 2.0] for window in windows]),
    )
    assert row == pytest.approx([1 / 5**0.5, 2 / 5**0.5])  # three windows: the last two contain a 1


UNIT = np.array([0.6, 0.8, 0.0], "<f4").tobytes()


def test_each_of_many_vectors_is_judged_by_itself() -> None:
    longer = np.array([0.0, 1.0, 0.0, 0.0], "<f4").tobytes()
    broken = np.array([np.nan, 1.0, 0.0], "<f4").tobytes()
    stored = [UNIT, UNIT[:-1], longer, b"", broken, bytes(12), UNIT]
    assert are_usable(stored).tolist() == [True, False, True, False, False, False, True]


def test_none_are_none() -> None:
    assert are_usable([]).tolist() == []
