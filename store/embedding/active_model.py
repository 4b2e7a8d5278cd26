"""The embedding model in use: its name is in a database, its weights are loaded when they are needed.

    ActiveModel          the embedder in use, replaced when another model is named
    KeptVectors          a model whose vectors were adopted while its weights are not on this machine
    with_shared_models   opens each model once for several users
    version_name         a model whose name stands for other numbers already

Names are stored in the catalog, and in the databases of the text memory.
"""

import json
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.catalog.words import script_of
from store.disk.sqlite import SqliteFile
from store.embedding import open_embedder
from store.embedding.protocol import (
    MULTILINGUAL,
    MULTILINGUAL_READS,
    OFFLINE,
    OFFLINE_TEXT,
    Embedder,
    without_version,
)
from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from PIL import Image

KEPT_MODEL = "kept_model"  # in the catalog: the model and its dimensions, as JSON


class KeptVectors:
    """Replaces a model: its stored vectors can be compared, nothing new can be embedded."""

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


def kept_model_text(model: KeptVectors) -> str:
    """What the catalog stores of it."""
    return json.dumps({"name": model.name, "dimensions": model.dimensions})


def kept_model(text: str, *, name: str) -> KeptVectors | None:
    """The substitute that the catalog's text describes, if it is of this model."""
    if not text:
        return None
    found = json.loads(text)
    return KeptVectors(name, int(found["dimensions"])) if found["name"] == name else None


class ActiveModel:
    """The embedder in use, shared by all threads; replaced when another model is named."""

    def __init__(
        self,
        names: SqliteFile,
        given: Embedder | None = None,
        *,
        models: Callable[[str], Embedder] = lambda name: open_embedder(name),
    ) -> None:
        self._names = names
        self._models = models
        self._lock = threading.Lock()
        self._embedder = given

    @property
    def name(self) -> str:
        """The model's name, without its version; "" before any was chosen."""
        return without_version(self._names.meta("model"))

    @property
    def embedder(self) -> Embedder:
        """The embedder, whose weights load at first use. Raises ModelUnavailable if it is not here."""
        with self._lock:
            if self._embedder is None or self._embedder.name != self.name:
                self._embedder = self._opened(self.name)
            return self._embedder

    @property
    def status(self) -> str:
        """Its loading state, as text for a page."""
        try:
            return self.embedder.status
        except ModelUnavailable as error:
            return f"unavailable: {error}"

    def _opened(self, name: str) -> Embedder:
        kept = kept_model(self._names.meta(KEPT_MODEL), name=name)
        if kept is None:
            return self._models(name)
        try:
            found = self._models(name)
            _ = found.fingerprint  # asks for the weights, without loading them
        except ModelUnavailable:
            return kept
        return found

    def use(self, embedder: Embedder) -> None:
        """Use this embedder, which the database names already."""
        with self._lock:
            self._embedder = embedder


def with_shared_models(models: Callable[[str], Embedder]) -> Callable[[str], Embedder]:
    """Like `models`, which opens a model by its name, but each name is opened once; thread-safe."""
    opened: dict[str, Embedder] = {}
    lock = threading.Lock()

    def model(name: str) -> Embedder:
        with lock:
            if name not in opened:
                opened[name] = models(name)
            return opened[name]

    return model


_ENGLISH = ("sentence-transformers:all-MiniLM-L6-v2",)
_READ = dict.fromkeys((MULTILINGUAL, OFFLINE, OFFLINE_TEXT), MULTILINGUAL_READS)  # more than English


def unread_language(text: str, model: str) -> str:
    """The language of this text, if this model is known not to read it; "" otherwise.

    Nothing is known of models other than MiniLM, `offline` and the multilingual one.
    """
    known = set[str]() if model in _ENGLISH else _READ.get(model)
    language = "" if known is None else script_of(text)
    return "" if known is None or language in known else language


def not_read(text: str, model: str) -> str:
    """The sentence that says so, with the remedy; "" where the model reads the text, as far as is known."""
    language = unread_language(text, model)
    remedy = "" if language not in MULTILINGUAL_READS else (
        f"; {MULTILINGUAL} does (python -m store memory model {MULTILINGUAL})"
    )  # fmt: skip
    name = model.rpartition(":")[2]
    return f"{name} does not read {language}: words are found, meaning is not{remedy}" if language else ""
