"""Pictures whose embeddings lie close together, where there are any: what a model takes for the same."""

from store.appearance import Appearance
from store.embedding import OFFLINE
from store.errors import MemedexError

# Measured for the offline model (docs/duplicates.md); others are given more distance until they are.
_CLOSE = {OFFLINE: 0.90}
_CLOSE_ELSEWHERE = 0.95
_LEAST, _MOST = 0.6, 0.95  # how sure the furthest and the closest are
_KEPT = 50


def similar(appearance: Appearance, address: str) -> dict[str, float]:
    """Other records whose picture's embedding is close to this one's, and how sure that makes each.

    Nothing where the library has no model that it could ask, or nothing to compare.
    """
    try:
        looks = appearance.looks()
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
