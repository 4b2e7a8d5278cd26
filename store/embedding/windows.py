"""Embed texts longer than a model reads: cut into overlapping windows, embed and average; never truncate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from store.embedding.protocol import Embedder

VERSION = "windows-1"  # part of every fingerprint: another splitting gives another vector

Matrix = NDArray[np.float32]


def spans(length: int, *, size: int) -> list[slice]:
    """The fewest windows of `size` tokens that cover `length`, evenly spread, a quarter or more shared.

    All windows of a long text have the same length, so that each token counts about the same in their
    average.
    """
    if length <= size:
        return [slice(0, length)]
    step = max(1, size - size // 4)
    count = 1 + -(-(length - size) // step)
    starts = np.linspace(0, length - size, count).round().astype(int)
    return [slice(int(start), int(start) + size) for start in starts]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model reads a text: at once, or in how many windows whose vectors are averaged."""

    tokens: int
    limit: int
    windows: int
    first: int  # characters that are read at once, all of them where there is one window


def reading(text: str, embedder: "Embedder") -> Reading:
    """Count a text's tokens, and find where it exceeds what the model reads at once."""
    tokens, limit = embedder.count_tokens(text), embedder.token_limit
    if tokens <= limit:
        return Reading(tokens, limit, 1, len(text))
    marks = embedder.count_tokens("")
    low, high = 0, len(text)  # the most characters that still fit; more text never has fewer tokens
    while high - low > 1:
        middle = (low + high) // 2
        if embedder.count_tokens(text[:middle]) <= limit:
            low = middle
        else:
            high = middle
    whole = text[:low].rstrip() if text[low].isspace() else text[:low].rpartition(" ")[0]
    return Reading(tokens, limit, len(spans(tokens - marks, size=limit - marks)), len(whole) or low)


def embed_in_windows(
    texts: Sequence[list[int]], *, size: int, batch: int, embed: Callable[[Sequence[list[int]]], Matrix]
) -> Matrix:
    """One unit row for each text, given as tokens; `embed` gets windows of at most `size`, `batch` at a time.

    Windows of similar length go together, which saves padding.
    """
    windows = [(row, text[span]) for row, text in enumerate(texts) for span in spans(len(text), size=size)]
    windows.sort(key=lambda window: len(window[1]))
    sums: Matrix | None = None
    for start in range(0, len(windows), batch):
        part = windows[start : start + batch]
        rows = unit(embed([tokens for _, tokens in part]))
        if sums is None:
            sums = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        np.add.at(sums, [row for row, _ in part], rows)
    return unit(sums) if sums is not None else np.zeros((0, 0), dtype=np.float32)


def unit(rows: Matrix) -> Matrix:
    """(n, d): rows scaled to length one, so that cosine is a dot product; a row of zeros stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)
