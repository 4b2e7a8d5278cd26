"""Named neighbourhoods of a map, and what the coins of a selection have in common.

Places are density clusters (HDBSCAN: Campello, Moulavi and Sander 2013) of the positions. A name has the
terms with the highest class-based tf-idf (Grootendorst 2022, BERTopic, formula 1). Terms are tags, and the
words of captions (`terms_of`); `common_terms` are those that the rest of the library has not.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from store.maps.layout import Map
from store.records import Record

_WORD = re.compile(r"[^\W\d_]{3,}")
_EMPTY = frozenset(  # what drafting models say of any coin; English stop words come from scikit-learn
    {"meme", "memes", "coin", "coins", "token", "tokens", "crypto"}
    | {"picture", "image", "shows", "showing", "features", "depicts", "style"}
)


def terms_of(record: Record) -> dict[str, int]:
    """Each term once, with the number 1; case does not count."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # scikit-learn takes a second to import

    words = _WORD.findall(" ".join(record.caption.values()).casefold())
    found = dict.fromkeys(sorted(set(words) - ENGLISH_STOP_WORDS - _EMPTY), 1)
    return found | dict.fromkeys((tag.casefold() for tag in record.tags), 1)


def alike(one: str, other: str) -> bool:
    """Whether two terms are forms of one word, such as frog, frogs and frog king."""
    return one in other or other in one or (len(one) > 4 and one[:5] == other[:5])


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


MOST_TERMS = 6
COMPARED = 2_000  # coins of either side that are looked at
_SHARED_BY = 0.2  # of the selection has each term
_FEWEST_WITH = 2  # coins
_APART = 1.5  # times as frequent as elsewhere


@dataclass(frozen=True, slots=True)
class CommonTerm:
    """A tag or word of captions, and which share of the selection and of all coins has it, 0 to 1."""

    term: str
    share: float
    usual: float


def common_terms(chosen: Sequence[Record], everything: Sequence[Record]) -> list[CommonTerm]:
    """The terms that set the chosen coins apart, the most telling first.

    They are ranked by their share of the information gained (a term of the Kullback–Leibler divergence):
    share · log(share / usual share).
    """
    here, usual = _shares(chosen), _shares(everything)
    gains = {
        term: share * log(share / usual[term])
        for term, share in here.items()
        if term in usual
        and share * len(chosen) >= _FEWEST_WITH
        and share >= max(_SHARED_BY, _APART * usual[term])
    }
    found: list[str] = []
    for term in sorted(gains, key=lambda term: (-gains[term], term)):
        if len(found) < MOST_TERMS and not any(alike(term, other) for other in found):
            found.append(term)
    return [CommonTerm(term, here[term], usual[term]) for term in found]


def has_term(record: Record, term: str) -> bool:
    """Whether a coin has the tag or word."""
    return term in terms_of(record)


def _shares(records: Sequence[Record]) -> dict[str, float]:
    counts = Counter(term for record in records for term in terms_of(record))
    return {term: count / len(records) for term, count in counts.items()}
