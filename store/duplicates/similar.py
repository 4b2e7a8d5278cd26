"""Pictures that the embedding model considers the same, by the distance of their vectors."""

from collections.abc import Mapping

from store.embedding.protocol import OFFLINE
from store.errors import MemedexError
from store.search.picture_similarity import PictureSimilarity

# Measured for the offline model (docs/duplicates.md); others are given more distance until they are.
_CLOSE = {OFFLINE: 0.90}
_CLOSE_ELSEWHERE = 0.95
_LEAST, _MOST = 0.6, 0.95  # how sure the furthest and the closest are
_KEPT = 50


def similar(pictures: PictureSimilarity, address: str) -> dict[str, float]:
    """Other records whose pictures' vectors are close to this one's, with a confidence for each.

    Empty if the library has no usable model, or nothing to compare.
    """
    try:
        looks = pictures.looks()
    except MemedexError:
        return {}
    vector = looks.vector(address)
    if vector is None:
        return {}
    name = looks.embedder.name
    near = certainties(looks.near(vector, least=least_cosine(name)), name)
    return {other: sure for other, sure in near.items() if other != address}


def least_cosine(model: str) -> float:
    """The cosine from which this model's pictures count as alike."""
    return _CLOSE.get(model, _CLOSE_ELSEWHERE)


def certainties(near: Mapping[str, float], model: str) -> dict[str, float]:
    """How sure each of these cosines is, 0 to 1; of the closest alone."""
    least = least_cosine(model)
    closest = sorted(near.items(), key=lambda pair: -pair[1])[:_KEPT]
    steep = (_MOST - _LEAST) / (1 - least)
    return {other: min(_MOST, _LEAST + steep * (cosine - least)) for other, cosine in closest}
