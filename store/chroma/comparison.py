"""Compare Chroma with SQLite, in a separate process, because a broken index can crash its reader."""

import random
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from store.chroma.collections import Collections, Point
from store.chroma.place import describe_place
from store.chroma.process import ChildProcess, ChromaFailed, ChromaSilent, ServerAway

_SAMPLE = 500  # ids of each collection whose vector and metadata are compared: a small one wholly
_SELF_QUERIES = 10  # of these, as many are looked up through the index itself


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected content of one collection."""

    name: str
    model: str
    noun: str  # what its ids mean, in the plural
    ids: AbstractSet[str]
    waiting: AbstractSet[str]  # ids that wait for Chroma; its answers about them do not count
    point: Callable[[str], Point | None]  # None: it is gone by now


def compare(collections: Collections, expected: Expected) -> list[str]:
    """Compare model, ids, and metadata and vectors of a sample, and look each sampled vector up."""
    name, noun, faults = expected.name, expected.noun, []
    if not collections.has(name):
        return [f"{name} does not exist"]
    if (model := collections.model(name)) != expected.model:
        faults.append(f"{name} was made with {model}, not {expected.model}")
    found, ids = collections.ids(name) - expected.waiting, expected.ids - expected.waiting
    if missing := ids - found:
        faults.append(f"{name} lacks {len(missing):,} {noun}, such as {min(missing)}")
    if extra := found - ids:
        faults.append(f"{name} holds {len(extra):,} {noun} too many, such as {min(extra)}")
    both = sorted(ids & found)
    return faults + _compare_sample(collections, expected, random.sample(both, min(_SAMPLE, len(both))))


def _compare_sample(collections: Collections, expected: Expected, ids: list[str]) -> list[str]:
    name = expected.name
    vectors, fields = collections.vectors(name, ids), collections.metadata(name, ids)
    wrong, other, lost = [], [], []
    for number, id in enumerate(ids):
        point = expected.point(id)
        if point is None:
            continue
        vector = np.frombuffer(point.vector, np.float32)
        if (
            id not in vectors
            or vectors[id].shape != vector.shape
            or not np.allclose(vectors[id], vector, atol=1e-4)
        ):
            wrong.append(id)
        elif fields.get(id) != point.metadata:
            other.append(id)
        elif number < _SELF_QUERIES and not _finds_itself(collections, name, vector):
            lost.append(id)
    return [
        f"{name} has {what} for {len(some):,} of {len(ids):,} sampled {expected.noun}, such as {some[0]}"
        for some, what in ((wrong, "another vector"), (other, "other metadata"), (lost, "no way to find"))
        if some
    ]


def _finds_itself(collections: Collections, name: str, vector: np.ndarray) -> bool:
    """Whether the index finds a vector equal to this one (copies may come first)."""
    found = collections.vectors(name, collections.nearest(name, vector))
    return any(float(row @ vector) > 0.999 for row in found.values())


@dataclass(frozen=True, slots=True)
class _Comparison:
    """In the process of its own."""

    faults: Callable[[], list[str]]

    def answer(self) -> list[str]:
        return self.faults()

    def close(self) -> None:
        """Nothing is kept open."""


def ask(faults: Callable[[], list[str]], *, begun: Callable[[ChildProcess[Any]], None]) -> list[str]:
    """The faults that this call finds in a child process, which `begun` receives. Raises ServerAway."""
    process = ChildProcess(_Comparison, faults)
    begun(process)
    try:
        with closing(process):
            return process.call(_Comparison.answer)
    except ServerAway:
        raise
    except ChromaFailed as error:
        if isinstance(error, ChromaSilent) and (server := describe_place()):
            raise ServerAway(f"{server}: {error}") from error
        return [f"Chroma cannot be opened: {error}"]
