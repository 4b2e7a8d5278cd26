"""Pictures that the embedding model considers the same, by the distance of their vectors."""

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
    least = _CLOSE.get(looks.embedder.name, _CLOSE_ELSEWHERE)
    near = looks.near(vector, least=least)
    closest = sorted(near.items(), key=lambda pair: -pair[1])[:_KEPT]
    steep = (_MOST - _LEAST) / (1 - least)
    return {
        other: min(_MOST, _LEAST + steep * (cosine - least)) for other, cosine in closest if other != address
    }
