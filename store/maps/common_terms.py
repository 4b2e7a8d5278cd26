"""What the coins of a selection have in common, and the rest of the library has not."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from store.maps.terms import alike, terms_of
from store.records import Record

MOST = 6
SAMPLE = 2_000  # coins of either side that are looked at
_SHARED = 0.2  # of the selection has each term
_FEWEST = 2  # coins
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
        if term in usual and share * len(chosen) >= _FEWEST and share >= max(_SHARED, _APART * usual[term])
    }
    found: list[str] = []
    for term in sorted(gains, key=lambda term: (-gains[term], term)):
        if len(found) < MOST and not any(alike(term, other) for other in found):
            found.append(term)
    return [CommonTerm(term, here[term], usual[term]) for term in found]


def has_term(record: Record, term: str) -> bool:
    """Whether a coin has the tag or word."""
    return term in terms_of(record)


def _shares(records: Sequence[Record]) -> dict[str, float]:
    counts = Counter(term for record in records for term in terms_of(record))
    return {term: count / len(records) for term, count in counts.items()}
