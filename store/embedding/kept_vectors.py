"""A model whose vectors were adopted while its weights are not on this machine."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from PIL import Image

META = "kept_model"  # in the catalog: the model and its dimensions, as JSON


class KeptVectors:
    """Stands in for a model: its stored vectors can be compared, nothing new can be embedded."""

    token_limit = 77
    cross_modal_scale = 1.0

    def __init__(self, name: str, dimensions: int) -> None:
        self.name = name
        self.dimensions = dimensions
        self.fingerprint = f"kept:{name}"
        self._reason = (
            f"{name} is not on this machine, only its vectors are: coins can be compared with each other "
            "(more like this, similar pictures), but no text or new picture can be asked, and nothing can be "
            "added to the library. Put the model on this machine, or choose another: model NAME"
        )

    @property
    def status(self) -> str:
        return f"unavailable: {self._reason}"

    def warm(self) -> None:
        raise ModelUnavailable(self._reason)

    def count_tokens(self, text: str) -> int:
        """The number of words and signs, roughly."""
        return len(text.split()) + 2

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        raise ModelUnavailable(self._reason)

    def embed_images(self, images: Sequence["Image.Image"]) -> NDArray[np.float32]:
        if not images:
            return np.zeros((0, self.dimensions), np.float32)
        raise ModelUnavailable(self._reason)


def described(model: KeptVectors) -> str:
    """What the catalog stores of it."""
    return json.dumps({"name": model.name, "dimensions": model.dimensions})


def stored(text: str, *, name: str) -> KeptVectors | None:
    """The stand-in that the catalog's text describes, if it is of this model."""
    if not text:
        return None
    found = json.loads(text)
    return KeptVectors(name, int(found["dimensions"])) if found["name"] == name else None
