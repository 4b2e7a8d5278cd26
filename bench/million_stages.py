"""The stages of `bench.million`, each in its own process: prints rows as JSON, name → [unit, values]."""

import json
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

os.environ |= {"MEMEDEX_EMBEDDER": "offline", "MEMEDEX_CHROMA": "off"}

from bench.corpus import Array, KnownQueryEmbedder
from bench.library import coins
from bench.measuring import forget, memory, milliseconds
from bench.million_library import MODEL
from bench.million_vectors import questions
from store.catalog.filters import Filter
from store.catalog.listing import SORTS
from store.embedding import open_embedder
from store.library import Library
from store.records import FACETS
from store.runtime import open_library
from store.search.query import Part, Query
from store.vectors.matrices import VectorSnapshot

_QUESTIONS = 30
_PAGE = 60
Rows = dict[str, tuple[str, list[float]]]


def opening(root: Path, kind: str) -> Rows:
    """From an imported program to the first page's coins; then the comparison of all files."""
    began = time.perf_counter()
    with _opened(root, kind) as library:
        library.status(), library.counts(), library.tag_counts(Filter(tier="library"))
        library.find(Filter(tier="library"), limit=_PAGE)
        opened = time.perf_counter() - began
        while library.status().comparing:
            time.sleep(0.1)
        compared = time.perf_counter() - began
        assert not library.status().faults, library.status().faults[:3]
    return {
        "opened, until the first page's coins are there": ("ms", [1_000 * opened]),
        "… until all files are compared, in the background": ("s", [compared]),
        "… memory of its own after that": ("MiB", [memory("RssAnon")]),
    }


def searching(root: Path, kind: str) -> Rows:
    """New questions and moved sliders, after one round that warms up; and whether the answers are right."""
    random = np.random.default_rng(5)
    for file in root.rglob("*.npy"):
        forget(file)
    with _opened(root, kind) as library:
        prepared, ready = milliseconds(library.prepare_search), milliseconds(partial(_ask, library, 0))
        first, moved, every, scored = [], [], [], []
        for turn in range(3):
            for number in range(_QUESTIONS):
                query = Query((Part(text=f"{number} {turn}"),))
                seconds = milliseconds(partial(library.search, query))
                steps = dict(query.sliders)
                for facet in FACETS[1:]:
                    steps = {**steps, facet: float(random.integers(1, 11))}
                    one = milliseconds(partial(library.search, Query(query.parts, weights=steps)))
                    if turn:
                        moved.append(one)
                steps = {facet: float(random.integers(0, 11)) for facet in FACETS}
                all_five = milliseconds(partial(library.search, Query(query.parts, weights=steps)))
                if turn:
                    first.append(seconds)
                    every.append(all_five)
        right = [_is_right(library, kind, number) for number in range(3)]
        scored = [float(_exact_rows(library, number)) for number in range(10)]
    return {
        "read before the first search, from the disk": ("ms", [prepared]),
        "first search after that": ("ms", [ready]),
        "first query, exact": ("ms", first),
        "… records compared in float32, all others excluded by a bound": ("", scored),
        "… answers equal to those of comparing all in float32, of 3": ("", [float(sum(right))]),
        "one weight changed, in the store": ("ms", moved),
        "all five weights changed, in the store": ("ms", every),
        "memory apart from mapped files, after all of this": ("MiB", [memory("RssAnon")]),
        "… of mapped files, which the system may take back": ("MiB", [memory("RssFile")]),
    }


def deciding(root: Path, kind: str) -> Rows:
    """Coins imported one by one, then approved one by one, each followed by a page."""
    with _opened(root, kind) as library:
        while library.status().comparing:
            time.sleep(0.1)
        start = library.count(Filter(tier="approved"))
        new = list(coins(start + 40))[start:]
        imported = [milliseconds(partial(library.add, [one])) for one in new]
        addresses = [one.address for one in library.find(Filter(tier="pending"), limit=len(new))]
        decided, pages = [], []
        for address in addresses:
            decided.append(milliseconds(partial(library.approve, [address])))
            pages.append(milliseconds(partial(_page, library, _FILTERS["a tag and a word"])))
        assert library.count(Filter(tier="approved")) == start + len(new)
        _ask(library, 0)
        changed = []
        for number, address in enumerate(library.addresses(Filter(tier="library"))[:10]):
            library.degrade([address])
            changed.append(milliseconds(partial(_ask, library, number)))
            library.undo()
    return {
        "decision, durable": ("ms", decided),
        "one coin imported": ("ms", imported),
        "page after a decision, and how many pass: a tag and a word": ("ms", pages[1:]),
        "first search after a coin of the library changed": ("ms", changed),
    }


_FILTERS = {
    "none": Filter(tier="library"),
    "a tag": Filter(tier="library", tags=("moon",)),
    "a word": Filter(tier="library", words="babble"),
    "two words": Filter(tier="library", words="babble bector"),
    "suspected copies": Filter(tier="library", suspicious=True),
    "a caption": Filter(tier="library", captioned=True),
    "no caption": Filter(tier="library", captioned=False),
    "a tag and a word": Filter(tier="library", tags=("moon",), words="babble"),
}


def paging(root: Path, kind: str) -> Rows:
    """Pages in every order, with every kind of filter, at the beginning, middle and end.

    Of the library's coins, since not as many are pending; the queries differ in the tier's name alone.
    """
    library = Library(root)
    rows: Rows = {}
    firsts = [
        milliseconds(partial(library.find, Filter(tier="library"), sort=sort, limit=_PAGE))
        for sort in SORTS[:-1]
    ]
    rows["… an order's first page since the start"] = ("ms", firsts)
    every: list[float] = []
    for name, filter in _FILTERS.items():
        counting = [milliseconds(partial(library.count, filter)) for _ in range(2)]
        total = library.count(filter)
        rows[f"… filter: {name}, counted for the first time"] = ("ms", counting[:1])
        rows[f"… filter: {name}, counted"] = ("ms", counting[1:])
        own = []
        for sort in SORTS:
            for offset in sorted({0, total // 2, max(0, total - _PAGE)}):
                page = partial(library.find, filter, sort=sort, offset=offset, limit=_PAGE)
                own.append(sorted(milliseconds(page) for _ in range(3))[1])
        rows[f"… filter: {name} ({total:,}), any order, first, middle and last page"] = ("ms", own)
        every += own
    rows["memory apart from mapped files, with all of these lists"] = ("MiB", [memory("RssAnon")])
    library.close()
    return {"page of coins, any order, any filter": ("ms", every), **rows}


def _page(library: Library, filter: Filter) -> None:
    library.count(filter), library.find(filter, limit=_PAGE)


class _KnownWords(KnownQueryEmbedder):
    """Knows the vectors of the questions, and has the name of the library's model."""

    def __init__(self, kind: str) -> None:
        super().__init__(questions(kind, count=_QUESTIONS))
        self.name, self.fingerprint = MODEL, open_embedder(MODEL).fingerprint
        self._nonsense = np.random.default_rng(1).standard_normal((1, self.dimensions), dtype=np.float32)
        self._nonsense /= np.linalg.norm(self._nonsense)

    def embed_texts(self, texts: Sequence[str]) -> Array:
        rows = [
            super(_KnownWords, self).embed_texts([text]) if text[0].isdigit() else self._nonsense
            for text in texts
        ]
        return np.concatenate(rows)


def _opened(root: Path, kind: str) -> Library:
    return open_library(root, embedder=_KnownWords(kind), files_later=True)


def _ask(library: Library, number: int) -> list[str]:
    return [hit.address for hit in library.search(Query((Part(text=f"{number} again"),))).hits]


def _is_right(library: Library, kind: str, number: int) -> bool:
    """Whether the first ten are those that float32 products with every record give."""
    query = Query((Part(text=f"{number} again"),), top=10)
    asked = library.search(query)
    snapshot, vector = library._resident.snapshot(), questions(kind, count=_QUESTIONS)[number]
    scores = _all_scores(snapshot, vector, [query.sliders[facet] for facet in FACETS])
    best = np.argsort(-scores)[:10]
    found = [asked.answer.addresses.index(hit.address) for hit in asked.hits]
    return bool(np.allclose(scores[best], scores[found], atol=1e-5))


def _all_scores(snapshot: VectorSnapshot, vector: np.ndarray, weights: list[float]) -> np.ndarray:
    scores = np.zeros(len(snapshot))
    for number, (facet, weight) in enumerate(zip(FACETS, weights, strict=True)):
        if weight:
            own = np.empty(len(snapshot), np.float32)
            snapshot.products(facet, vector, out=own)
            has = snapshot.present[number]
            scores += weight / sum(weights) * np.where(has, own, own[has].mean())
    return scores


def _exact_rows(library: Library, number: int) -> int:
    return library.search(Query((Part(text=f"{number} counted"),))).certainty.candidates


if __name__ == "__main__":
    stage, root, kind = sys.argv[1:]
    print(json.dumps(globals()[stage](Path(root), kind)))
