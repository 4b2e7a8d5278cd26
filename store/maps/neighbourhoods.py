"""Named neighbourhoods of a map: dense places, named by the words that set their coins apart.

Places are density clusters (HDBSCAN: Campello, Moulavi and Sander 2013) of the positions. A name has the
terms with the highest class-based tf-idf (Grootendorst 2022, BERTopic, formula 1).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from store.maps.chart import Map
from store.maps.terms import alike, terms_of
from store.records import Record

LEVELS = (18, 60, 200)  # a place of each level has at least one coin in so many: continents, regions, towns
SAMPLE = 15_000  # coins that places are found from: HDBSCAN takes seconds for these, minutes for 100,000
_FEWEST = 5  # coins of a place
_TERMS = 2  # of a name
_TAG = 3  # how much more a tag says than a word of the caption
_SHARED = 0.12  # of a place's coins have each term of its name
_SAME = 0.7  # of the coins of two places (Jaccard), from which they are one


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A named place of a map: its middle in the map's units, its level from 0, and how many coins it has."""

    name: str
    x: float
    y: float
    level: int
    coins: int


def sample(chart: Map) -> list[int]:
    """Evenly spaced rows of a map, as many as places are found from."""
    count = len(chart.addresses)
    spaced = np.linspace(0, count - 1, min(count, SAMPLE))
    return [int(row) for row in spaced]


def neighbourhoods(chart: Map, rows: Sequence[int], records: Mapping[str, Record]) -> list[Neighbourhood]:
    """The places of these rows of a map, widest first; `records` by address, for their words."""
    points = chart.points[list(rows)]
    terms = [_terms(records.get(chart.addresses[row])) for row in rows]
    found: list[Neighbourhood] = []
    known: list[tuple[NDArray[np.bool_], str]] = []
    for level, part in enumerate(LEVELS):
        groups = [
            group
            for group in _dense(points, least=max(_FEWEST, len(points) // part))
            if not any(_overlap(group, earlier) > _SAME for earlier, _ in known)
        ]
        taken = [{name for earlier, name in known if (group & earlier).any()} for group in groups]
        for group, name in zip(groups, _names(groups, terms, taken), strict=True):
            if name:
                x, y = np.median(points[group], axis=0).tolist()
                coins = round(int(group.sum()) * len(chart.addresses) / len(points))
                found.append(Neighbourhood(name, x, y, level, coins))
                known.append((group, name))
    return found


def _dense(points: NDArray[np.float32], *, least: int) -> list[NDArray[np.bool_]]:
    """The members of each dense place with at least so many."""
    from sklearn.cluster import HDBSCAN  # scikit-learn and SciPy: a second

    if len(points) < 2 * least:
        return []
    found = HDBSCAN(
        min_cluster_size=least, min_samples=min(5, least), cluster_selection_method="leaf", copy=True
    ).fit(points.astype(np.float64))
    return [found.labels_ == label for label in range(found.labels_.max() + 1)]


def _terms(record: Record | None) -> Counter[str]:
    """What a coin is about, each term once, a tag with more weight."""
    return (
        Counter()
        if record is None
        else Counter(terms_of(record) | {tag.casefold(): _TAG for tag in record.tags})
    )


def _names(
    groups: Sequence[NDArray[np.bool_]], terms: Sequence[Counter[str]], taken: Sequence[set[str]]
) -> list[str]:
    """A name for each group, other than those `taken` around it; "" where nothing sets it apart."""
    counts = [_sum(terms, group) for group in groups]
    total = _sum(terms, np.ones(len(terms), np.bool_))
    average = sum(total.values()) / max(1, len(groups))
    names: list[str] = []
    for group, count, others in zip(groups, counts, taken, strict=True):
        least = max(2, _SHARED * int(group.sum()))
        size = sum(count.values())
        weights = {
            term: number / size * log(1 + average / total[term])
            for term, number in count.items()
            if number >= least
        }
        used = {term for name in (*others, *names) for term in name.split(" · ")}
        names.append(_name(sorted(weights, key=lambda term: (-weights[term], term)), used))
    return names


def _name(terms: Sequence[str], used: set[str]) -> str:
    """The first terms that are not forms of each other; one of them at least is not `used` already."""
    chosen: list[str] = []
    for term in terms:
        if len(chosen) < _TERMS and not any(alike(term, other) for other in (*chosen, *used)):
            chosen.append(term)
    return " · ".join(chosen)


def _sum(terms: Sequence[Counter[str]], group: NDArray[np.bool_]) -> Counter[str]:
    total: Counter[str] = Counter()
    for row in np.flatnonzero(group).tolist():
        total.update(terms[row])
    return total


def _overlap(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    return float((one & other).sum() / max(1, (one | other).sum()))
