"""Search by four Chroma queries, fused by id or rescored, measured by `bench.search`."""

import multiprocessing
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpus import WEIGHTS, Corpus, make
from store.records import CAPTION_FACETS, Facet

BATCH = 5_000  # records that are added at once


class FourQueries:
    """Four collections, queried one after the other and fused by id."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        self._corpus = corpus
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            # Built in another process, so that only the memory of queries counts here; a new one,
            # which makes the same vectors again, since Chroma's threads do not survive a fork.
            size, dimensions = corpus.vectors["entity"].shape
            how = {"kind": corpus.kind, "size": size, "dimensions": dimensions, "folder": folder}
            builder = multiprocessing.get_context("spawn").Process(target=build, kwargs=how)
            builder.start()
            builder.join()
        began = time.perf_counter()
        client = open_chroma(folder)
        self._collections = {
            facet: client.get_collection(f"{facet}_caption_embeddings") for facet in CAPTION_FACETS
        }
        self.ask(0, n=10)
        self.opened_in = time.perf_counter() - began
        self._row_of = {address: row for row, address in enumerate(corpus.addresses)}
        self._means = {
            facet: corpus.vectors[facet][corpus.present[facet]].mean(axis=0, dtype=np.float64)
            for facet in CAPTION_FACETS
        }

    def ask(self, number: int, *, n: int) -> dict[Facet, dict[str, float]]:
        found: dict[Facet, dict[str, float]] = {}
        for facet, collection in self._collections.items():
            answer = collection.query(
                query_embeddings=self._corpus.questions[number : number + 1],
                n_results=n,
                include=["distances"],
            )
            found[facet] = {
                address: 1 - distance
                for address, distance in zip(answer["ids"][0], answer["distances"][0], strict=True)
            }
        return found

    def fused(self, number: int, *, n: int) -> list[str]:
        """The weighted sum over the four lists."""
        scores: dict[str, float] = {}
        for facet, found in self.ask(number, n=n).items():
            for address, similarity in found.items():
                scores[address] = scores.get(address, 0.0) + WEIGHTS[facet] * similarity
        return sorted(scores, key=lambda address: (-scores[address], address))[:50]

    def rescored(self, number: int, *, n: int) -> list[str]:
        """The candidates of the four lists, every similarity computed exactly from vectors held in memory."""
        found = self.ask(number, n=n)
        addresses = list({address for of in found.values() for address in of})
        rows = np.array([self._row_of[address] for address in addresses])
        question = self._corpus.questions[number]
        scores = np.zeros(len(rows))
        for facet in CAPTION_FACETS:
            exact = self._corpus.vectors[facet][rows] @ question
            neutral = self._means[facet] @ question
            scores += WEIGHTS[facet] * np.where(self._corpus.present[facet][rows], exact, neutral)
        return [addresses[place] for place in np.argsort(-scores, kind="stable")[:50]]


def build(*, kind: str, size: int, dimensions: int, folder: Path) -> None:
    """Write the four collections, in batches, with Chroma's own settings."""
    corpus = make(kind, size=size, dimensions=dimensions, questions=0)
    client = open_chroma(folder)
    for facet in CAPTION_FACETS:
        collection = client.create_collection(
            f"{facet}_caption_embeddings", metadata={"hnsw:space": "cosine"}
        )
        rows = np.flatnonzero(corpus.present[facet])
        for start in range(0, len(rows), BATCH):
            some = rows[start : start + BATCH]
            collection.add([corpus.addresses[row] for row in some], embeddings=corpus.vectors[facet][some])
    (folder / "complete").touch()


def open_chroma(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
