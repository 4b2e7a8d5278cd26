"""Made-up libraries for benchmarks: vectors, gaps, questions and their true answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.records import CAPTION_FACETS, FACETS, Facet
from store.vectors.weights import DEFAULT_WEIGHTS

OPTIONAL: tuple[Facet, ...] = ("visual", "emotions")
WEIGHTS = DEFAULT_WEIGHTS["text"]
Array = NDArray[np.float32]


@dataclass
class Corpus:
    """Made-up records, and questions with their true top ten."""

    kind: str
    addresses: list[str]
    vectors: dict[Facet, Array]
    present: dict[Facet, NDArray[np.bool_]]
    questions: Array
    truth: list[set[str]]

    def rows(self) -> Iterator[tuple[str, dict[Facet, bytes | None]]]:
        """The vectors in the form of the catalog."""
        for row, address in enumerate(self.addresses):
            yield address, {f: self.vectors[f][row].tobytes() for f in FACETS if self.present[f][row]}


class KnownQueryEmbedder:
    """An embedder that knows every query's vector, so that the figures include no model time."""

    name = fingerprint = status = "bench"
    token_limit = 77
    cross_modal_scale = 1.0

    def __init__(self, questions: Array) -> None:
        self._questions = questions
        self.dimensions = questions.shape[1]

    def warm(self) -> None: ...

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_texts(self, texts: Sequence[str]) -> Array:
        return self._questions[[int(text.split()[0]) for text in texts]]

    def embed_images(self, images: Sequence[Any]) -> Array:
        raise NotImplementedError


def make(kind: str, *, size: int, dimensions: int, questions: int) -> Corpus:
    """Records of unit vectors, a third of the optional facets missing.

    `random`: every facet of every record points anywhere. `clustered`: a record belongs to one of a hundred
    subjects, all its facets lie around that subject's direction, and so do the questions.
    """
    random = np.random.default_rng(size)
    centres = unit(random.standard_normal((100, dimensions), dtype=np.float32))
    subjects = random.integers(0, 100, size)

    def around(belongs: NDArray[np.int64]) -> Array:
        rows = random.standard_normal((len(belongs), dimensions), dtype=np.float32)
        return unit(rows) if kind == "random" else unit(unit(rows) + 0.7 * centres[belongs])

    vectors: dict[Facet, Array] = {facet: around(subjects) for facet in FACETS}
    present = {facet: random.random(size) > (1 / 3 if facet in OPTIONAL else 0) for facet in FACETS}
    addresses = [f"local-{number:032x}" for number in random.permutation(size)]
    queries = around(
        random.integers(0, 100, questions)
    )  # last: the rest is the same for any number of questions
    return Corpus(kind, addresses, vectors, present, queries, truth(addresses, vectors, present, queries))


def unit(rows: Array) -> Array:
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def truth(
    addresses: list[str], vectors: dict[Facet, Array], present: dict[Facet, NDArray[np.bool_]], queries: Array
) -> list[set[str]]:
    """The ten best by the score for each query, in double precision, by code independent of the program."""
    scores = np.zeros((len(addresses), len(queries)))
    for facet in CAPTION_FACETS:
        cosines = vectors[facet].astype(np.float64) @ queries.T.astype(np.float64)
        has = present[facet][:, None]
        scores += WEIGHTS[facet] * np.where(has, cosines, cosines.mean(axis=0, where=has))
    return [{addresses[row] for row in np.argsort(-column)[:10]} for column in scores.T]
