"""The score in plain Python, with a model of five words and random libraries and queries."""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st
from PIL import Image

from store.embedding.protocol import Vector
from store.records import FACETS, Facet
from store.search.query import Part, Query
from store.search.ranking import RAW, Scale
from store.search.search import Results, Search
from store.vectors.matrices import load

DIMENSIONS = 6


SCALE = 1.25  # not 1, so that a missing scale is noticed


Library = dict[str, dict[Facet, Vector]]


def unit(*numbers: float) -> Vector:
    vector = np.array([*numbers, *[0.0] * (DIMENSIONS - len(numbers))], np.float32)
    return vector / np.linalg.norm(vector)


WORDS = {
    "frog": unit(1),
    "dog": unit(0, 1),
    "moon": unit(2, -1, 1),
    "rocket": unit(1, 2, 3, -4, 5, -6),
    "cat": unit(0, 0, 1, 0, 1, 0.5),
}


COLOURS: dict[str, Vector] = {"red": unit(0, 1, 0, 2), "lime": unit(3, 1, 1), "blue": unit(0, 0, -1, 1, 1)}


def picture(colour: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(file, "PNG")
    return file.getvalue()


PICTURES = {colour: picture(colour) for colour in COLOURS}


@dataclass
class FiveWordEmbedder:
    """An embedder that knows five words and three colours."""

    name: str = "five_words"
    fingerprint: str = "five_words 1"
    dimensions: int = DIMENSIONS
    token_limit: int = 77
    cross_modal_scale: float = SCALE
    status: str = "ready"
    requests: list[str] = field(default_factory=list)

    def warm(self) -> None:
        pass

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_texts(self, texts: Sequence[str]) -> Vector:
        self.requests += texts
        return np.stack([WORDS[text] for text in texts])

    def embed_images(self, images: Sequence[Image.Image]) -> Vector:
        colours = [list(COLOURS)[int(np.argmax(np.asarray(image)[256, 256]))] for image in images]
        self.requests += colours
        return np.stack([COLOURS[colour] for colour in colours])


def search(library: Library, query: Query, *, among: Sequence[str] | None = None) -> Results:
    return Search(
        load(library.items(), dimensions=DIMENSIONS, block_rows=4), embedder=FiveWordEmbedder()
    ).search(query, among=among)


# The oracle: the score in plain Python.


def dot(one: Vector, other: Vector) -> float:
    return math.fsum(float(a) * float(b) for a, b in zip(one, other, strict=True))


def cosine(library: Library, part: Part, facet: Facet, vector: Vector) -> float | None:
    """s_(p,f), or None where the part does not speak about the facet."""
    if facet not in part.facets:
        return None
    if part.like is not None:
        return dot(library[part.like][facet], vector) if facet in library[part.like] else None
    if part.text is not None:
        return dot(WORDS[part.text], vector) * (SCALE if facet == "image" else 1)
    colour = next(colour for colour, content in PICTURES.items() if content == part.image)
    return dot(COLOURS[colour], vector) * (1 if facet == "image" else SCALE)


def similarity(library: Library, query: Query, address: str, facet: Facet) -> float | None:
    """s_f = Σ c_p · s_(p,f) / Σ |c_p|."""
    if facet not in library[address]:
        return None
    cosines = [(part.weight, cosine(library, part, facet, library[address][facet])) for part in query.parts]
    spoken = [(weight, value) for weight, value in cosines if value is not None and weight]
    if not spoken:
        return None
    return sum(weight * value for weight, value in spoken) / sum(abs(weight) for weight, _ in spoken)


def oracle(
    library: Library, query: Query, *, among: Sequence[str] | None = None, scale: Scale = RAW
) -> dict[str, float]:
    """The score of every record that can be a hit."""
    cosines = {
        facet: {address: similarity(library, query, address, facet) for address in library}
        for facet in FACETS
    }
    means = {}
    for facet, of in cosines.items():
        known = [value for value in of.values() if value is not None]
        if known and query.sliders[facet] > 0:
            means[facet] = sum(known) / len(known)
    scores = {}
    for address in library:
        is_example = any(part.like == address for part in query.parts)
        if is_example or (among is not None and address not in among):
            continue
        own = {facet: cosines[facet][address] for facet in means}
        if any(value is not None for value in own.values()):
            values = {facet: means[facet] if value is None else value for facet, value in own.items()}
            total = sum(query.sliders[facet] for facet in means)
            scores[address] = (
                sum(query.sliders[facet] * on(scale, facet, values[facet]) for facet in means) / total
            )
    return scores


def on(scale: Scale, facet: Facet, value: float) -> float:
    centre, spread = (figures[FACETS.index(facet)] for figures in scale)
    return (value - centre) / spread


# Random libraries and queries.


EXAMPLES = [f"local-example-{number}" for number in range(3)]


numbers = st.integers(-3, 3)


vectors = st.tuples(*[numbers] * DIMENSIONS).filter(any).map(lambda given: unit(*given))


records = st.dictionaries(st.sampled_from(FACETS), vectors | st.sampled_from([*WORDS.values()]), max_size=5)


libraries = st.builds(
    lambda examples, others: {**dict(zip(EXAMPLES, examples, strict=True)), **others},
    st.lists(records, min_size=3, max_size=3),
    st.dictionaries(st.integers(0, 40).map("local-{:02}".format), records, max_size=25),
)


copies = st.lists(
    st.tuples(st.sampled_from(EXAMPLES), st.integers(50, 99).map("local-{}".format)), max_size=6
)


part_weights = st.sampled_from([1.0, 2.0, 0.3, 0.0, -1.0, -0.5]) | st.floats(0.01, 5) | st.floats(-5, -0.01)


parts = st.builds(
    lambda given, weight, facets: Part(**given, weight=weight, facets=facets),
    st.sampled_from(
        [
            *({"text": word} for word in WORDS),
            *({"image": content} for content in PICTURES.values()),
            *({"like": address} for address in EXAMPLES),
        ]
    ),
    part_weights,
    st.just(FACETS) | st.just(FACETS) | st.sets(st.sampled_from(FACETS), min_size=1).map(tuple),
)


weights = st.none() | st.dictionaries(
    st.sampled_from(FACETS), st.sampled_from([0.0, 1.0, 4.0]) | st.floats(0.01, 10), max_size=5
)


queries = st.builds(
    Query,
    st.lists(parts, min_size=1, max_size=4)
    .filter(lambda given: any(part.weight for part in given))
    .map(tuple),
    weights=weights,
    top=st.integers(1, 40),
)


def with_copies(library: Library, pairs: Sequence[tuple[str, str]]) -> Library:
    return library | {copy: library[original] for original, copy in pairs}


scales = st.builds(
    Scale,
    st.tuples(*[st.sampled_from([-0.7, 0.0, 0.4])] * 5),
    st.tuples(*[st.sampled_from([0.1, 1.0, 3.0])] * 5),
)


def pairs_of(results: Results) -> list[tuple[str, float]]:
    return [(hit.address, hit.score) for hit in results.hits]
