"""The model that works without internet: MiniLM for texts, EfficientNet-Lite0 for pictures, one space.

A text is `[t; 0]`, a picture `[a·m; b·l]` with a² + b² = 1, where m is its meaning in the sentence space and
l its looks. The dot product of two texts is t·t', of a text and a picture a·(t·m), of two pictures a²·m·m' +
b²·l·l'.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from PIL import Image

from store.embedding.image_tower import Vision
from store.embedding.lazy_weights import fingerprint
from store.embedding.text_tower import TOKEN_LIMIT, MiniLM
from store.embedding.windows import Matrix

HALF = 384
MEANING = 0.5  # a; measured: docs/models.md
LOOKS = (1 - MEANING**2) ** 0.5  # b


class OfflineEmbedder:
    """Embeds texts and pictures in 768 dimensions; each half is loaded at first use."""

    name = "offline"
    dimensions = 2 * HALF
    token_limit = TOKEN_LIMIT
    cross_modal_scale = 1 / MEANING

    def __init__(self) -> None:
        self._text = MiniLM()
        self._vision = Vision()
        self.embed_tokens = self._text.embed_tokens

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.name, self._text.fingerprint, self._vision.fingerprint, str(MEANING))

    @property
    def status(self) -> str:
        statuses = (self._text.status, self._vision.status)
        unfinished = [status for status in statuses if status not in ("ready", "not loaded")]
        return unfinished[0] if unfinished else min(statuses)  # "not loaded" before "ready"

    def warm(self) -> None:
        self._text.warm()
        self._vision.warm()

    def count_tokens(self, text: str) -> int:
        return self._text.count_tokens(text)

    def embed_texts(self, texts: Sequence[str]) -> Matrix:
        rows = self._text.embed(texts)
        return np.concatenate([rows, np.zeros_like(rows)], axis=1)

    def embed_images(self, images: Sequence[Image.Image]) -> Matrix:
        meaning, looks = self._vision.embed(images)
        return np.concatenate([MEANING * meaning, LOOKS * looks], axis=1, dtype=np.float32)
