"""Pictures that the embedding model finds close by their vectors, and that are confirmed to be the same."""

from collections.abc import Mapping

from store.duplicates.confirmation import Confirmation
from store.embedding.protocol import OFFLINE
from store.errors import MemedexError
from store.search.picture_similarity import PictureSimilarity

# Measured for the offline model (docs/duplicates.md); of others only what needs no confirmation counts.
_CLOSE = {OFFLINE: 0.80}
_CLOSE_ELSEWHERE = 0.95
_LEAST, _MOST = 0.6, 0.95  # how sure the furthest and the closest are
_KEPT = 50


def similar(pictures: PictureSimilarity, confirmation: Confirmation, address: str) -> dict[str, float]:
    """Other records whose pictures' vectors are close to this one's, with a confidence for each.

    Empty if the library has no usable model, or nothing to compare.
    """
    try:
        index = pictures.index()
    except MemedexError:
        return {}
    vector = index.vector(address)
    if vector is None:
        return {}
    name = index.embedder.name
    near = index.near(vector, least=least_cosine(name))
    near.pop(address, None)
    return certainties(confirmation.similar(address, near), name)


def least_cosine(model: str) -> float:
    """The cosine from which this model's pictures count as alike."""
    return _CLOSE.get(model, _CLOSE_ELSEWHERE)


def certainties(near: Mapping[str, float], model: str) -> dict[str, float]:
    """How sure each of these cosines is, 0 to 1; of the closest alone."""
    least = least_cosine(model)
    closest = sorted(near.items(), key=lambda pair: -pair[1])[:_KEPT]
    steep = (_MOST - _LEAST) / (1 - least)
    return {other: min(_MOST, _LEAST + steep * (cosine - least)) for other, cosine in closest}
