"""Pictures whose embeddings lie close together, where there are any: what a model takes for the same."""

from store.blocks import Vector
from store.embedding import OFFLINE
from store.looks import Looks

# Measured for the offline model (docs/duplicates.md); others are given more distance until they are.
_CLOSE = {OFFLINE: 0.90}
_CLOSE_ELSEWHERE = 0.95
_LEAST, _MOST = 0.6, 0.95  # how sure the furthest and the closest are
_KEPT = 50


def similar(looks: Looks, vector: Vector, *, model: str) -> dict[str, float]:
    """Records whose picture's embedding is close to this one, and how sure that makes each."""
    least = _CLOSE.get(model, _CLOSE_ELSEWHERE)
    near = looks.near(vector, least=least)
    closest = sorted(near.items(), key=lambda pair: -pair[1])[:_KEPT]
    steep = (_MOST - _LEAST) / (1 - least)
    return {address: min(_MOST, _LEAST + steep * (cosine - least)) for address, cosine in closest}
