"""A model without weights whose cosines can be worked out by hand: a text is the set of its words."""

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray
from PIL import Image


class Bags:
    """Two texts with m and n different words, k of them in common, have the cosine k / √(m·n)."""

    fingerprint = "ba65" * 16
    token_limit = 256
    cross_modal_scale = 1.0
    status = "ready"

    def __init__(self, *, name: str = "bags", dimensions: int = 384) -> None:
        self.name = name
        self.dimensions = dimensions
        self.requests: list[str] = []  # texts embedded so far
        self.fails = False

    def warm(self) -> None:
        pass

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fails:
            raise OSError("the model is on fire")
        self.requests += texts
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in {word.strip(".,:?!").lower() for word in text.split()}:
                digest = sha256(f"{self.name} {word}".encode()).digest()
                # Several signed places for each word: sums of different words are nearly orthogonal.
                for number in range(0, 16, 2):
                    place = int.from_bytes(digest[number : number + 2], "big")
                    row[place % self.dimensions] += 1 if digest[16 + number // 2] & 1 else -1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)

    def embed_images(self, images: Sequence[Image.Image]) -> NDArray[np.float32]:
        raise NotImplementedError
