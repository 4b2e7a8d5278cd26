"""The interface of every embedding model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import Image

REFERENCE = "openclip:ViT-L-14/openai"
OFFLINE = "offline"


def described(name: str) -> str:
    """A model within a sentence: "the built-in model", or another one by its name."""
    return "the built-in model" if name == OFFLINE else name


class Embedder(Protocol):
    """An embedding model: float32 rows of unit length, thread-safe."""

    @property
    def name(self) -> str:
        """The name that `model` shows and `open_embedder` accepts."""

    @property
    def fingerprint(self) -> str:
        """A hash of everything that determines a vector: weights, preprocessing, splitting of long texts.

        Read from the files once for each Embedder, whose weights do not change either.
        """

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    def token_limit(self) -> int:
        """How many tokens the model reads at once; longer texts are embedded in windows and averaged."""

    @property
    def cross_modal_scale(self) -> float:
        """Factor that turns the dot product of a text and a picture into their cosine."""

    @property
    def status(self) -> str:
        """ "not loaded", "loading …", "ready" or "unavailable: …", for a page."""

    def warm(self) -> None:
        """Load everything now, so that the first search is fast.

        Raises ModelUnavailable if it cannot be loaded.
        """

    def count_tokens(self, text: str) -> int:
        """The number of tokens of this text, special tokens included."""

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: an array of shape (n, dimensions)."""

    def embed_images(self, images: Sequence["Image.Image"]) -> NDArray[np.float32]:
        """Embed pictures: an array of shape (n, dimensions).

        Raises ModelUnavailable for a text-only model.
        """


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedding model that also has a vector for each word in its context."""

    @property
    def name(self) -> str:
        """The name that `open_embedder` accepts."""

    def embed_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """For each text unit rows of shape (tokens, an even number of dimensions)."""
