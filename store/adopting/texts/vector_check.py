"""Whether vectors that came along are those of this kind's own model: a sample is embedded again."""

from collections.abc import Sequence

import numpy as np

from store.errors import ModelUnavailable
from store.memory.engine.foreign_vectors import model_name, unit
from store.memory.engine.passages import Passages
from store.memory.engine.vector_cache import UNKNOWN

SAMPLE = 8  # texts
TOLERANCE = 1e-3  # for each number of two unit vectors
_SHORT = 500  # characters: longer texts may be cut by one program and not by another

Sample = Sequence[tuple[str, bytes | None]]  # texts with their vectors


def model_of(passages: Passages, sample: Sample, *, named: str = "") -> tuple[str, str]:
    """The model of these vectors, and a sentence if there is something to know about it.

    `named` is what the source or a person says. The kind's own model is only believed if a sample agrees,
    or if it is named and not at hand.
    """
    own, claim = passages.model, model_name(named)
    if claim not in (UNKNOWN, own):
        return claim, ""
    chosen = _chosen(sample)
    if not chosen:
        return claim, ""
    try:
        texts = [text for text, _ in chosen]
        embedder = passages.embedder
        if embedder.dimensions != len(chosen[0][1]) // 4:
            return UNKNOWN, f"the vectors have {len(chosen[0][1]) // 4:,} numbers and name no model"
        again, _ = passages.embed(texts)
    except ModelUnavailable as error:
        if claim == own:
            return own, f"the vectors are taken as those of {own}, unchecked: {error}"
        return UNKNOWN, f"the vectors name no model, and {own} is not at hand: {error}"
    worst = max(
        float(np.abs(unit(mine) - unit(theirs)).max())
        for mine, (_, theirs) in zip(again, chosen, strict=True)
    )
    if worst <= TOLERANCE:
        return own, ""
    return UNKNOWN, f"the vectors are not those of {own} (a sample differs by {worst:.3f})"


def _chosen(sample: Sample) -> list[tuple[str, bytes]]:
    whole = [(text, vector) for text, vector in sample if vector and text.strip()]
    short = [one for one in whole if len(one[0]) <= _SHORT] or whole
    return short[:: max(1, len(short) // SAMPLE)][:SAMPLE]
