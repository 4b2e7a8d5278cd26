"""Models that turn texts and pictures into vectors; which one a library uses is said by name.

    openclip:ViT-L-14/openai                    OpenAI's CLIP, the reference; any open_clip model and tag
    openclip:ViT-L-14/openai@/path/to/file.pt   the same from a checkpoint file
    offline                                     works without internet, in the repository
    sentence-transformers:all-MiniLM-L6-v2      texts only; any sentence-transformers model on this machine
    litellm:text-embedding-3-small              texts only; any embeddings endpoint
    auto                                        CLIP when its weights are on this machine, else offline

Nothing heavy is imported before a model is first used, and nothing is ever downloaded.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from PIL import Image

REFERENCE = "openclip:ViT-L-14/openai"
OFFLINE = "offline"


class Embedder(Protocol):
    """What makes vectors; float32 rows of unit length, safe to share between threads."""

    @property
    def name(self) -> str:
        """What `model` shows, and `open_embedder` takes."""

    @property
    def fingerprint(self) -> str:
        """Identifies everything that decides what a vector is: weights, preprocessing, text splitting.

        Read from the files once for each Embedder, whose weights stay the same too.
        """

    @property
    def dimensions(self) -> int: ...

    @property
    def token_limit(self) -> int:
        """Tokens the model reads at once; longer texts are embedded in windows and averaged."""

    @property
    def cross_modal_scale(self) -> float:
        """Times the dot product of a text and a picture this is their cosine (design section 6)."""

    @property
    def status(self) -> str:
        """One of "not loaded", "loading …", "ready" or "unavailable: …", as text for a page."""

    def warm(self) -> None:
        """Load everything now, so that the first search need not wait; ModelUnavailable."""

    def count_tokens(self, text: str) -> int:
        """Tokens of this text, the marks around it included."""

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, dimensions)."""

    def embed_images(self, images: Sequence["Image.Image"]) -> NDArray[np.float32]:
        """(n, dimensions); ModelUnavailable where the model cannot see."""


def resolve(name: str) -> str:
    """A model's full name: `auto` becomes CLIP when its weights are on this machine, else `offline`."""
    if name != "auto":
        return name
    from store.embedding.openclip_weights import has_weights

    return REFERENCE if has_weights(REFERENCE.partition(":")[2]) else OFFLINE


def open_embedder(name: str) -> Embedder:
    """The model of this name, its weights not loaded yet; ModelUnavailable says what to install or set.

    What can be told without loading is told here: an unknown name, a package or a file of weights that is
    missing.
    """
    family, _, model = resolve(name).partition(":")
    if family == OFFLINE and not model:
        from store.embedding.offline import OfflineEmbedder

        return OfflineEmbedder()
    if family == "openclip" and model:
        from store.embedding.openclip import OpenClipEmbedder

        return OpenClipEmbedder(model)
    if family == "sentence-transformers" and model:
        from store.embedding.sentence_transformer import open_sentence_transformer

        return open_sentence_transformer(model)
    if family == "litellm" and model:
        from store.embedding.litellm_endpoint import EndpointEmbedder

        return EndpointEmbedder(model)
    raise ModelUnavailable(
        f"no model is called {name!r}: use auto, offline, openclip:MODEL/TAG, sentence-transformers:NAME "
        "or litellm:NAME (MEMEDEX_EMBEDDER)"
    )
