"""The coins whose pictures speak in place of captions that say nothing (the formula: ranking.py)."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from store.records import FACETS
from store.search.query import Query
from store.search.similarities import Floats, Rows, Similarities
from store.vectors.blocks import Mask

PICTURE = FACETS.index("image")
_ENOUGH = 20  # captions that tell how far apart captions lie
_ALIKE = 1e-6  # captions that are no further apart are the same
_SAMPLE = 256  # rows of a large library that do


@dataclass(frozen=True, slots=True, eq=False)
class StandIn:
    """Whose picture speaks, and how far apart the cosines of captions and pictures lie."""

    rows: Rows  # ascending; all have pictures
    means: Floats  # (5,): of each facet over the coins whose captions say something …
    deviations: Floats  # … and the deviations
    picture: tuple[float, float]  # mean and deviation of the pictures' cosines


def may_stand_in(query: Query) -> bool:
    """Whether a query compares nothing but texts, with all facets."""
    return all(part.kind == "text" and part.facets == FACETS for part in query.parts)


def is_usual(query: Query) -> bool:
    """Whether its weights are those that such a query has if the user does not move them."""
    return query.sliders == Query(query.parts).sliders


def stand_in(similarities: Similarities, silent: Collection[str]) -> StandIn | None:
    """The pictures that speak for the captions of these records, and for missing ones; None without any."""
    if not silent and all(np.delete(similarities.complete, PICTURE)):
        return None
    says_nothing: Mask = np.asarray(~np.delete(similarities.present, PICTURE, axis=0).any(axis=0))
    says_nothing[similarities.rows_of(silent)] = True
    rows = np.flatnonzero(says_nothing & similarities.present[PICTURE])
    if not len(rows):
        return None
    picture = float(similarities.means[PICTURE]), float(similarities.deviations[PICTURE])
    means, deviations = _captions(similarities, np.flatnonzero(~says_nothing))
    if not (deviations > _ALIKE).any():
        means, deviations = _captions(similarities, rows)
    unknown = ~(deviations > _ALIKE)  # or NaN
    means[unknown], deviations[unknown] = picture
    return StandIn(rows, means, deviations, picture)


def _captions(similarities: Similarities, rows: Rows) -> tuple[Floats, Floats]:
    """(5,) each: mean and deviation over these rows; NaN for a facet that too few of them have."""
    if len(rows) > _SAMPLE and similarities.everything is None:
        rows = rows[np.linspace(0, len(rows) - 1, _SAMPLE).astype(np.intp)]
    with similarities.lock:
        similarities.rescore(rows)
        filled = similarities.rescored(rows)
    means, deviations = np.full((2, len(FACETS)), np.nan)
    for number, has in enumerate(similarities.present[:, rows]):
        if np.count_nonzero(has) >= _ENOUGH:
            means[number], deviations[number] = filled[number, has].mean(), filled[number, has].std()
    return means, deviations
