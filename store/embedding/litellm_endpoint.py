"""Embeddings from an endpoint, by litellm; pictures too, where its list says that the model reads them.

The key comes from the provider's usual environment variable (OPENAI_API_KEY …), another address from
MEMEDEX_EMBEDDING_API_BASE.
"""

import base64
import io
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from PIL import Image

from store.embedding.lazy_weights import Lazy, fingerprint
from store.embedding.windows import VERSION, Matrix, embed_in_windows, unit
from store.errors import ModelUnavailable
from store.llm.client import import_litellm, readable
from store.settings import settings

BATCH = 64
TIMEOUT = 60.0  # seconds
TOKENIZER = "text-embedding-ada-002"  # cl100k_base, inside litellm; other names would be fetched from outside
COUNTED_EXACTLY = ("openai", "azure")  # the others count otherwise, and get a quarter to spare
_SIDE = 512  # px
UNKNOWN_LIMIT = 512  # tokens; small enough for every embeddings model that litellm's price list does not know


class EndpointEmbedder:
    """Any embeddings model that litellm supports; sends nothing before the first text."""

    cross_modal_scale = 1.0

    def __init__(self, model: str) -> None:
        self.name = f"litellm:{model}"
        self._model = model
        self._litellm: Lazy[Any] = Lazy("litellm", import_litellm)
        self._dimensions: int | None = None

    @property
    def status(self) -> str:
        return self._litellm.status

    @cached_property
    def fingerprint(self) -> str:
        """The model's name, because nothing else is known of a model behind an endpoint."""
        return fingerprint(self.name, settings().embedding_api_base, VERSION)

    @property
    def dimensions(self) -> int:
        """From litellm's list of models, else from one answer."""
        if self._dimensions is None:
            known = self._known().get("output_vector_size")
            self._dimensions = int(known) if known else self._run([self._tokens("dimensions")]).shape[1]
        return self._dimensions

    @property
    def token_limit(self) -> int:
        known = self._known()
        limit = int(known.get("max_input_tokens") or UNKNOWN_LIMIT)
        return limit if known.get("litellm_provider") in COUNTED_EXACTLY else limit * 3 // 4

    def warm(self) -> None:
        self._litellm.get()

    def count_tokens(self, text: str) -> int:
        return len(self._tokens(text))

    def embed_texts(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        tokens = [self._tokens(text) or self._tokens(" ") for text in texts]  # endpoints refuse an empty text
        return embed_in_windows(tokens, size=self.token_limit, batch=BATCH, embed=self._run)

    def embed_images(self, images: Sequence[Image.Image]) -> Matrix:
        if not self._known().get("supports_embedding_image_input"):
            raise ModelUnavailable(
                f"{self.name} reads texts only: choose offline or openclip:ViT-L-14/openai for pictures"
            )
        # One at a time: some of these models take no more.
        rows = [self._ask([data_url(image)]) for image in images]
        return unit(np.concatenate([np.zeros((0, self.dimensions), dtype=np.float32), *rows]))

    def _run(self, windows: Sequence[list[int]]) -> Matrix:
        litellm = self._litellm.get()
        # A window may begin or end inside a character; the halves are dropped.
        return self._ask([litellm.decode(TOKENIZER, window).strip("\ufffd") for window in windows])

    def _ask(self, texts: Sequence[str]) -> Matrix:
        """The vectors of texts, or of pictures as data URLs."""
        litellm = self._litellm.get()
        try:
            answer = litellm.embedding(
                model=self._model,
                input=list(texts),
                timeout=TIMEOUT,
                api_base=settings().embedding_api_base or None,
            )
        except Exception as error:  # providers raise errors of any class; they become one readable error
            raise ModelUnavailable(readable(error, model=self._model)) from error
        rows = sorted(answer.data, key=lambda row: int(row["index"]))
        if len(rows) != len(texts):
            raise ModelUnavailable(f"{self._model} answered {len(rows)} embeddings for {len(texts)} texts")
        return np.asarray([row["embedding"] for row in rows], dtype=np.float32)

    def _tokens(self, text: str) -> list[int]:
        return list(self._litellm.get().encode(TOKENIZER, text))

    def _known(self) -> dict[str, Any]:
        return dict(self._litellm.get().model_cost.get(self._model) or {})


def data_url(image: Image.Image) -> str:
    """The picture as a PNG of at most 512 px, as the library keeps them, in a data URL (RFC 2397)."""
    shown = image.convert("RGB")
    shown.thumbnail((_SIDE, _SIDE))
    content = io.BytesIO()
    shown.save(content, "PNG")
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"
