"""Exact search in memory, of vectors like captions' and of uncorrelated ones, as a Markdown table.

    python -m bench.uncorrelated --size 200000    # 4 GB of memory, some minutes for each kind of data

The vectors are those of `million_vectors`, without a catalog or files; each kind has its own process.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from bench.corpus import KnownQueryEmbedder
from bench.million_vectors import DIMENSIONS, pieces, questions
from bench.search import machine
from store.embedding.arrays import Vector
from store.records import FACETS, Facet
from store.search.query import Part, Query
from store.search.search import Results, Search
from store.vectors.matrices import load

_QUESTIONS = 30
_KINDS = ("captions", "random")
Figures = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=200_000)
    parser.add_argument("--kind", choices=_KINDS, help="this one alone, in this process")
    options = parser.parse_args()
    if options.kind:
        _show(options.kind, options.size)
        return
    print(f"{machine()}; {options.size:,} coins\n")
    print(
        "| data | what | median | 95 % | most | load |\n| --- | --- | ---: | ---: | ---: | ---: |", flush=True
    )
    for kind in _KINDS:
        command = [sys.executable, "-m", "bench.uncorrelated", "--size", str(options.size), "--kind", kind]
        subprocess.run(command, check=True)


def _show(kind: str, size: int) -> None:
    asked = KnownQueryEmbedder(questions(kind, count=_QUESTIONS))
    search = Search(load(_rows(kind, size), dimensions=DIMENSIONS), embedder=asked)
    for what, values in _figures(search).items():
        texts = (f"{value:,.1f}" for value in (np.median(values), np.quantile(values, 0.95), max(values)))
        print(f"| {kind} | {what} | {' | '.join(texts)} | {os.getloadavg()[0]:.0f} |", flush=True)


def _rows(kind: str, size: int) -> Iterator[tuple[str, dict[Facet, Vector]]]:
    number = 0
    for piece in pieces(kind, size=size):
        for at in range(len(piece.vectors["image"])):
            yield f"0x{number:040x}", {f: piece.vectors[f][at] for f in FACETS if piece.present[f][at]}
            number += 1


def _figures(search: Search) -> Figures:
    """New questions and moved weights, after one round that warms up."""
    random = np.random.default_rng(5)
    found: Figures = {}
    for turn in range(3):
        for number in range(_QUESTIONS):
            query = Query((Part(text=f"{number} {turn}"),))
            own = {"first query": [_ask(search, query)], "one weight changed": []}
            steps = dict(query.sliders)
            for facet in FACETS[1:]:
                steps = {**steps, facet: float(random.integers(1, 11))}
                own["one weight changed"].append(_ask(search, Query(query.parts, weights=steps)))
            steps = {facet: float(random.integers(0, 11)) for facet in FACETS}
            own["all weights changed"] = [_ask(search, Query(query.parts, weights=steps))]
            if turn:
                for what, asked in own.items():
                    for results, elapsed, processor in asked:
                        found.setdefault(f"{what}, ms", []).append(elapsed)
                        found.setdefault(f"{what}, ms of processor", []).append(processor)
                        if what == "first query":
                            compared = found.setdefault("… coins compared in float32", [])
                            compared.append(float(results.certainty.candidates))
    return found


def _ask(search: Search, query: Query) -> tuple[Results, float, float]:
    """The answer, and the milliseconds it took: elapsed, and of the processor."""
    elapsed, processor = time.perf_counter(), time.process_time()
    results = search.search(query)
    return results, 1_000 * (time.perf_counter() - elapsed), 1_000 * (time.process_time() - processor)


if __name__ == "__main__":
    main()
