"""Search compared with four plain Chroma queries: time, recall and memory, as a Markdown table.

    python -m bench.search --sizes 1000 10000

Everything is measured in one process on the same vectors, the contenders taking turns; see bench/README.md.
"""

import argparse
import atexit
import ctypes
import gc
import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random

import numpy as np

from bench.corpus import Corpus, KnownQueryEmbedder, make
from bench.four_queries import FourQueries
from bench.measuring import machine, memory, milliseconds, print_head, print_row, spread
from store.catalog.words import MOST, WordShares
from store.records import FACETS
from store.search.query import Part, Query
from store.search.search import Search
from store.vectors import matrix_files
from store.vectors.matrices import Matrices, load

MOVES = 4  # changed weights in a row, like a slider that is dragged


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--data", nargs="+", choices=["random", "clustered"], default=["random", "clustered"])
    parser.add_argument("--dimensions", type=int, default=768)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-chroma", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder that keeps Chroma's indexes for the next run")
    options = parser.parse_args()
    sizes = f"{options.dimensions} dimensions, {options.questions} questions, {options.rounds} rounds"
    print(f"{machine()}; {sizes}\n")
    print_head(
        "records", "data", "contender", "first query, ms", "changed weight, ms", "recall@10", "memory, MiB",
        "ready in, s",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as passing:
        for size in options.sizes:
            for kind in options.data:
                folder = (options.keep or Path(passing)) / f"{kind}-{size}-{options.dimensions}"
                # A separate process for each: memory that one has not released would hide the next one's use.
                contest = multiprocessing.get_context("spawn").Process(
                    target=run,
                    args=(kind,),
                    kwargs={
                        "size": size,
                        "dimensions": options.dimensions,
                        "questions": options.questions,
                        "rounds": options.rounds,
                        "folder": None if options.without_chroma else folder,
                    },
                )
                contest.start()
                contest.join()


@dataclass
class Contender:
    """One way to search: a new query, and the same one with other weights."""

    label: str
    ask: Callable[[int], list[str]]
    change: Callable[[int], object]
    memory: float  # MiB
    ready_in: float
    is_by_cosines: bool = True  # otherwise the truth, which is based on cosines alone, does not apply
    first: list[float] = field(default_factory=list)  # milliseconds
    changed: list[float] = field(default_factory=list)

    def show(self, corpus: Corpus) -> None:
        found = [len(set(self.ask(number)[:10]) & true) / 10 for number, true in enumerate(corpus.truth)]
        recall = f"{np.mean(found):.3f}" if self.is_by_cosines else "–"
        times = spread(self.first), spread(self.changed)
        size = f"{len(corpus.addresses):,}"
        print_row(
            size, corpus.kind, self.label, *times, recall, f"{self.memory:,.0f}", f"{self.ready_in:.2f}"
        )


def run(kind: str, *, size: int, dimensions: int, questions: int, rounds: int, folder: Path | None) -> None:
    """Measure every contender on one corpus and print its rows; no folder, no Chroma."""
    corpus = make(kind, size=size, dimensions=dimensions, questions=questions)
    own, cost = mapped(corpus)
    contenders = [
        Contender("Memedex", own.first, own.again, *cost),
        Contender("Memedex, one slider", own.first, own.move_one, *cost),
        Contender("Memedex, words fused", own.first_fused, own.again_fused, *cost, is_by_cosines=False),
    ]
    if folder:
        before = resident()
        chroma = FourQueries(corpus, folder)
        cost = resident() - before, chroma.opened_in
        for name, way in (("fused by id", chroma.fused), ("rescored", chroma.rescored)):
            ask = partial(way, n=50)
            contenders.append(Contender(f"4 × Chroma, n = 50, {name}", ask, ask, *cost))
    measure(contenders, questions=len(corpus.truth), rounds=rounds)
    for contender in contenders:
        contender.show(corpus)


def mapped(corpus: Corpus) -> tuple["Memedex", tuple[float, float]]:
    """Memedex on files saved before, as a library opens; its MiB and the seconds to be ready.

    Its memory is the growth of the process, including the parts of the files that were read.
    """
    folder = Path(tempfile.mkdtemp(prefix="memedex-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    matrices = load(corpus.rows(), dimensions=corpus.questions.shape[1])
    place = folder / matrix_files.save(matrices.snapshot(), folder, fingerprint="bench")
    del matrices
    before, began = resident(), time.perf_counter()
    opened = matrix_files.load(place, fingerprint="bench")
    assert opened is not None
    own = Memedex(corpus, opened)
    own.first(0)
    ready = time.perf_counter() - began
    for number in range(len(corpus.truth)):
        own.first(number)
    return own, (resident() - before, ready)


def measure(contenders: Sequence[Contender], *, questions: int, rounds: int) -> None:
    """Time every question and a changed weight, the contenders taking turns in changing order."""
    order = list(contenders)
    random = Random(0)
    for turn in range(rounds + 1):
        for number in range(questions):
            random.shuffle(order)  # otherwise one contender would always profit from another's caches
            for contender in order:
                first = milliseconds(partial(contender.ask, number))
                changed = [milliseconds(partial(contender.change, number)) for _ in range(MOVES)]
                if turn:  # the first round warms up
                    contender.first.append(first)
                    contender.changed += changed


class Memedex:
    """This program's search, from the question to fifty explained hits."""

    def __init__(self, corpus: Corpus, matrices: Matrices) -> None:
        self._search = Search(matrices, embedder=KnownQueryEmbedder(corpus.questions))
        self._asked = 0
        steps = np.random.default_rng(9).integers(1, 11, (1_000, 4)).tolist()
        self._moves = cycle(dict(zip(FACETS, (0.0, *step), strict=True)) for step in steps)
        self._moved = cycle((FACETS[1 + at % 4], float(step[0])) for at, step in enumerate(steps))
        self._query = Query((Part(text="0"),))
        some = np.random.default_rng(7).permutation(len(corpus.addresses))[:MOST]
        self._with_words = {corpus.addresses[row]: 1 - at / MOST for at, row in enumerate(some.tolist())}

    def first(self, number: int) -> list[str]:
        self._asked += 1  # a new text
        self._query = Query((Part(text=f"{number} {self._asked}"),))
        return [hit.address for hit in self._search.search(self._query).hits]

    def again(self, number: int) -> list[str]:
        query = Query(self._query.parts, weights=next(self._moves))
        return [hit.address for hit in self._search.search(query).hits]

    def first_fused(self, number: int) -> list[str]:
        self._asked += 1
        self._fused = Query((Part(text=f"{number} {self._asked}"),), fused=True)
        self._words = WordShares(dict(self._with_words))  # different words, from the search's point of view
        return [hit.address for hit in self._search.search(self._fused, words=self._words).hits]

    def again_fused(self, number: int) -> list[str]:
        query = Query(self._fused.parts, weights=next(self._moves), fused=True)
        return [hit.address for hit in self._search.search(query, words=self._words).hits]

    def move_one(self, number: int) -> list[str]:
        facet, weight = next(self._moved)
        self._query = Query(self._query.parts, weights={**self._query.sliders, facet: weight})
        return [hit.address for hit in self._search.search(self._query).hits]


def resident() -> float:
    """MiB of memory that this process holds, mapped files that were read included."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # glibc keeps freed memory for later
    return memory("VmRSS")


if __name__ == "__main__":
    main()
