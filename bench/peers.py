"""Memedex compared with Chroma, LanceDB, Qdrant's local mode and Milvus Lite, on the same vectors.

    pip install --no-deps --require-hashes -r requirements-bench.txt
    python -m bench.peers                                          # 10,000 records, all of them: some minutes
    python -m bench.peers --size 100000 --keep /folder --peers     # Memedex and Chroma alone

Each peer is queried once for each of the four caption facets and the lists are fused by id, but for Milvus,
whose own `hybrid_search` with a `WeightedRanker` does that. Truth is the score of `store/search/ranking.py`.
"""

import argparse
import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bench.corpus import WEIGHTS, Corpus, best, make
from bench.four_queries import FourQueries
from bench.search import figures, machine, mapped, resident, timed
from store.records import CAPTION_FACETS, Facet

PEERS = {"lancedb": ("lancedb",), "qdrant": ("qdrant_client",), "milvus": ("pymilvus", "milvus_lite")}
BATCH = 2_000
HEAD = """\
| records | data | system | first query, ms | changed weight, ms | recall@10 | recall@50 | MB | load, s |
| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"""

Ask = Callable[[int], list[str]]


class Peer(Protocol):
    """A system that finds the nearest of one facet."""

    def nearest(self, facet: Facet, number: int, *, n: int) -> dict[str, float]: ...


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--data", choices=["random", "clustered"], default="random")
    parser.add_argument("--dimensions", type=int, default=768)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--keep", type=Path, help="a folder that keeps Chroma's indexes for the next run")
    options = parser.parse_args()
    if missing := [peer for peer in options.peers if not all(map(find_spec, PEERS[peer]))]:
        parser.exit(2, f"not installed: {', '.join(missing)}; install requirements-bench.txt\n")
    print(f"{machine()}; {options.dimensions} dimensions, {options.questions} questions\n")
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as passing:
        # A separate process for each: the memory of one system must not count for another.
        for system in ("memedex", "chroma", *options.peers):
            how = {**vars(options), "passing": Path(passing)}
            contest = multiprocessing.get_context("spawn").Process(target=run, args=(system,), kwargs=how)
            contest.start()
            contest.join()


def run(system: str, **arguments: Any) -> None:
    """Measure one system and print its rows."""
    size, kind, dimensions = arguments["size"], arguments["data"], arguments["dimensions"]
    corpus = make(kind, size=size, dimensions=dimensions, questions=arguments["questions"])
    truth = best(corpus, count=50)
    show = partial(row, corpus, truth, rounds=arguments["rounds"])
    if system == "memedex":
        own, (megabytes, load) = mapped(corpus)
        show("Memedex", own.first, own.again, megabytes, load)
        return
    before, began = resident(), time.perf_counter()
    if system == "chroma":
        folder = (arguments["keep"] or arguments["passing"]) / f"{kind}-{size}-{dimensions}"
        chroma = FourQueries(corpus, folder)
        cost = resident() - before, chroma.opened_in
        for n in (10, 50, 200):
            show(f"4 × Chroma, n = {n}", partial(chroma.fused, n=n), partial(chroma.fused, n=n), *cost)
        return
    with OPEN[system](corpus, arguments["passing"] / system) as peer:
        load = time.perf_counter() - began
        ask: Ask = peer.hybrid if system == "milvus" else partial(fused, peer, n=50)
        ask(0)
        show(NAMES[system], ask, ask, resident() - before, load)


def row(
    corpus: Corpus, truth: list[list[str]], label: str, ask: Ask, again: Callable[[int], object],
    megabytes: float, load: float, *, rounds: int,
) -> None:  # fmt: skip
    """Time every question, count what it finds, print."""
    first, changed, ten, fifty = [], [], [], []
    for turn in range(rounds + 1):
        for number, right in enumerate(truth):
            taken, moved = timed(partial(ask, number)), timed(partial(again, number))
            if turn:  # the first round warms up
                first.append(taken)
                changed.append(moved)
            else:
                found = ask(number)
                ten.append(len(set(found[:10]) & set(right[:10])) / 10)
                fifty.append(len(set(found[:50]) & set(right)) / 50)
    print(
        f"| {len(corpus.addresses):,} | {corpus.kind} | {label} | {figures(first)} | {figures(changed)} | "
        f"{np.mean(ten):.3f} | {np.mean(fifty):.3f} | {megabytes:,.0f} | {load:.1f} |",
        flush=True,
    )


def fused(peer: Peer, number: int, *, n: int) -> list[str]:
    """The weighted sum over four lists."""
    scores: dict[str, float] = {}
    for facet in CAPTION_FACETS:
        for address, cosine in peer.nearest(facet, number, n=n).items():
            scores[address] = scores.get(address, 0.0) + WEIGHTS[facet] * cosine
    return sorted(scores, key=lambda address: (-scores[address], address))[:50]


class Lance:
    """One table for each facet, searched without an index, as LanceDB does below its own threshold."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        import lancedb
        import pyarrow as pa

        self._corpus = corpus
        db = lancedb.connect(str(folder))
        self._tables = {}
        for facet in CAPTION_FACETS:
            rows = np.flatnonzero(corpus.present[facet])
            flat = pa.array(corpus.vectors[facet][rows].ravel(), pa.float32())
            columns = {
                "address": pa.array([corpus.addresses[at] for at in rows]),
                "vector": pa.FixedSizeListArray.from_arrays(flat, corpus.questions.shape[1]),
            }
            self._tables[facet] = db.create_table(facet, pa.table(columns))

    def nearest(self, facet: Facet, number: int, *, n: int) -> dict[str, float]:
        question = self._corpus.questions[number]
        found = self._tables[facet].search(question).distance_type("cosine").limit(n).to_list()
        return {one["address"]: 1 - one["_distance"] for one in found}


class Qdrant:
    """The client's local mode: named vectors in this process."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        from qdrant_client import QdrantClient, models

        self._corpus = corpus
        self.client = QdrantClient(path=str(folder))
        size = corpus.questions.shape[1]
        self.client.create_collection(
            "coins",
            vectors_config={
                facet: models.VectorParams(size=size, distance=models.Distance.COSINE)
                for facet in CAPTION_FACETS
            },
        )
        for start in range(0, len(corpus.addresses), BATCH):
            self.client.upsert(
                "coins",
                [
                    models.PointStruct(id=at, vector=_own(corpus, at), payload={})
                    for at in range(start, min(start + BATCH, len(corpus.addresses)))
                ],
            )

    def nearest(self, facet: Facet, number: int, *, n: int) -> dict[str, float]:
        question = self._corpus.questions[number].tolist()
        found = self.client.query_points("coins", query=question, using=facet, limit=n).points
        return {self._corpus.addresses[int(one.id)]: one.score for one in found}


class Milvus:
    """Milvus Lite with its own weighted ranker; a missing facet has to be a zero vector there."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        from pymilvus import DataType, MilvusClient

        self._corpus = corpus
        folder.mkdir(parents=True, exist_ok=True)
        self.client = MilvusClient(str(folder / "coins.db"))
        schema = self.client.create_schema(auto_id=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        index = self.client.prepare_index_params()
        for facet in CAPTION_FACETS:
            schema.add_field(facet, DataType.FLOAT_VECTOR, dim=corpus.questions.shape[1])
            index.add_index(facet, index_type="FLAT", metric_type="COSINE")
        self.client.create_collection("coins", schema=schema, index_params=index)
        zeros = np.zeros(corpus.questions.shape[1], np.float32)
        for start in range(0, len(corpus.addresses), BATCH):
            rows = [
                {
                    "id": at,
                    **{
                        facet: corpus.vectors[facet][at] if corpus.present[facet][at] else zeros
                        for facet in CAPTION_FACETS
                    },
                }
                for at in range(start, min(start + BATCH, len(corpus.addresses)))
            ]
            self.client.insert("coins", rows)

    def hybrid(self, number: int) -> list[str]:
        from pymilvus import AnnSearchRequest, WeightedRanker

        question = self._corpus.questions[number].tolist()
        queries = [
            AnnSearchRequest([question], facet, {"metric_type": "COSINE"}, limit=50)
            for facet in CAPTION_FACETS
        ]
        ranker = WeightedRanker(*(WEIGHTS[facet] / 10 for facet in CAPTION_FACETS))
        found = self.client.hybrid_search("coins", queries, ranker, limit=50)[0]
        return [self._corpus.addresses[int(one["id"])] for one in found]


@contextmanager
def opened(made: Callable[[Corpus, Path], Any], corpus: Corpus, folder: Path) -> Iterator[Any]:
    """A peer and its folder, for the duration of the block."""
    peer = made(corpus, folder)
    try:
        yield peer
    finally:
        if client := getattr(peer, "client", None):
            client.close()
        shutil.rmtree(folder, ignore_errors=True)


def _own(corpus: Corpus, at: int) -> dict[str, list[float]]:
    return {
        facet: corpus.vectors[facet][at].tolist() for facet in CAPTION_FACETS if corpus.present[facet][at]
    }


OPEN = {
    "lancedb": partial(opened, Lance),
    "qdrant": partial(opened, Qdrant),
    "milvus": partial(opened, Milvus),
}
NAMES = {
    "lancedb": "LanceDB, 4 searches, n = 50",
    "qdrant": "Qdrant local, 4 searches, n = 50",
    "milvus": "Milvus Lite, hybrid_search, n = 50",
}


if __name__ == "__main__":
    main()
