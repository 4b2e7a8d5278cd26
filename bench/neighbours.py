"""The waiting time while typing a caption: neighbours and the rank of its own picture, as a table.

    python -m bench.neighbours --sizes 10000 100000

The work of the editor's server after one pause: the library's part alone, and with the model's part,
which counts the tokens of a new text and embeds it.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from bench.search import machine
from store.embedding import open_embedder
from store.embedding.arrays import Vector
from store.embedding.protocol import OFFLINE, Embedder
from store.embedding.windows import reading
from store.records import CAPTION_FACETS, FACETS, Facet
from store.search.text_neighbours import neighbours
from store.vectors.blocks import VectorSnapshot
from store.vectors.matrices import load

TYPED = "A frog in a raincoat on a lily pad, holding a tiny umbrella; a coin lies in the water beside it."
HEAD = """\
| records | library alone, ms | slowest | with the model, ms | slowest |
| ---: | ---: | ---: | ---: | ---: |"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--model", default=OFFLINE)
    options = parser.parse_args()
    embedder = open_embedder(options.model)
    embedder.warm()
    print(f"{machine()}; {options.model}, {embedder.dimensions} dimensions, {options.rounds} rounds\n")
    print(HEAD)
    for size in options.sizes:
        snapshot = load(rows(size, embedder.dimensions), dimensions=embedder.dimensions).snapshot()
        vector = embedder.embed_texts([TYPED])[0]
        alone = timed(options.rounds, partial(look, snapshot, embedder, vector))
        whole = timed(options.rounds, partial(typed, snapshot, embedder))
        figures = " | ".join(f"{figure:.0f}" for each in (alone, whole) for figure in each)
        print(f"| {size:,} | {figures} |")


def typed(snapshot: VectorSnapshot, embedder: Embedder, number: int) -> None:
    text = f"{TYPED} {number}"
    reading(text, embedder)
    look(snapshot, embedder, embedder.embed_texts([text])[0], number)


def look(snapshot: VectorSnapshot, embedder: Embedder, vector: Vector, number: int) -> None:
    facet: Facet = CAPTION_FACETS[number % len(CAPTION_FACETS)]
    own = snapshot.addresses[number]
    picture = snapshot.vectors(own)["image"]
    neighbours(snapshot, facet, vector, own=own, picture=picture, scale=embedder.cross_modal_scale)


def timed(rounds: int, work: Callable[[int], None]) -> tuple[float, float]:
    """Milliseconds: the median, and the slowest, after one round that does not count."""
    work(0)
    taken = []
    for number in range(rounds):
        began = time.perf_counter()
        work(number)
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken), max(taken)


def rows(size: int, dimensions: int) -> Iterator[tuple[str, dict[Facet, Vector | bytes | None]]]:
    """Made-up records, a third of `visual` and `emotions` missing; never all of them in memory twice."""
    random = np.random.default_rng(size)
    for number in range(size):
        vectors = random.standard_normal((len(FACETS), dimensions), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        gone = {facet for facet in FACETS[3:] if random.random() < 1 / 3}
        yield (
            f"local-{number:032x}",
            {facet: vector for facet, vector in zip(FACETS, vectors, strict=True) if facet not in gone},
        )


if __name__ == "__main__":
    main()
