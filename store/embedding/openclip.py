"""CLIP through open_clip: texts and pictures in one space. The reference model is OpenAI's ViT-L-14."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
from PIL import Image

from store.embedding.huggingface_cache import stay_offline
from store.embedding.lazy_weights import Lazy, file_digest, fingerprint
from store.embedding.openclip_weights import (
    REFERENCE,
    Choice,
    configuration,
    is_torchscript,
    published,
    quick_gelu,
    weights,
)
from store.embedding.torchvision_shim import define_missing_operators
from store.embedding.windows import VERSION, Matrix, embed_in_windows, unit
from store.errors import ModelUnavailable

BATCH = 16


@dataclass(frozen=True, slots=True)
class _OpenClipParts:
    model: Any
    preprocess: Callable[[Image.Image], Any]
    encode: Callable[[str], list[int]]
    assemble: Callable[[Sequence[list[int]]], Any]
    device: Any


class OpenClipEmbedder:
    """Any open_clip model; its weights are loaded at first use."""

    cross_modal_scale = 1.0

    def __init__(self, model: str) -> None:
        self.name = f"openclip:{model}"
        self._choice = Choice.parse(model)
        self._config = configuration(self._choice.architecture)
        self.dimensions = int(self._config["embed_dim"])
        self.token_limit = int(self._config["text_cfg"].get("context_length", 77))
        if self._choice.file is not None or model == REFERENCE:
            weights(self._choice)  # other tags need open_clip's own list, and with it torch
        self._parts = Lazy(f"CLIP ({model})", self._load)

    @property
    def status(self) -> str:
        return self._parts.status

    @cached_property
    def fingerprint(self) -> str:
        path = weights(self._choice)
        return fingerprint(
            self._choice.architecture,
            self._choice.tag,
            file_digest(path),
            str(quick_gelu(self._choice, path)),
            VERSION,
        )

    def warm(self) -> None:
        self.embed_texts(["ready"])

    def count_tokens(self, text: str) -> int:
        return len(self._parts.get().encode(text)) + 2

    def embed_texts(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        parts = self._parts.get()
        tokens = [parts.encode(text) for text in texts]
        return embed_in_windows(tokens, size=self.token_limit - 2, batch=BATCH, embed=self._run_texts)

    def embed_images(self, images: Sequence[Image.Image]) -> Matrix:
        import torch

        parts = self._parts.get()
        rows = [np.zeros((0, self.dimensions), dtype=np.float32)]
        for start in range(0, len(images), BATCH):
            pixels = torch.stack([parts.preprocess(image) for image in images[start : start + BATCH]])
            with torch.inference_mode():
                rows.append(parts.model.encode_image(pixels.to(parts.device)).float().cpu().numpy())
        return unit(np.concatenate(rows))

    def _run_texts(self, windows: Sequence[list[int]]) -> Matrix:
        import torch

        parts = self._parts.get()
        with torch.inference_mode():
            rows = parts.model.encode_text(parts.assemble(windows).to(parts.device)).float().cpu().numpy()
        return np.asarray(rows, dtype=np.float32)

    def _load(self) -> _OpenClipParts:
        stay_offline()
        define_missing_operators()
        import open_clip
        import torch

        path = weights(self._choice)
        shape = {key: value for key, value in published(self._choice).items() if key in ("mean", "std")}
        scripted = is_torchscript(path)
        try:
            model, _, preprocess = open_clip.create_model_and_transforms(
                self._choice.architecture,
                pretrained=None if scripted else str(path.absolute()),
                force_quick_gelu=quick_gelu(self._choice, path),
                image_mean=shape.get("mean"),
                image_std=shape.get("std"),
            )
        except UnpicklingError as error:  # torch's own message advises to load it unsafely
            raise ModelUnavailable(
                f"{path} is not a file of weights for {self._choice.architecture}"
            ) from error
        if scripted:
            _load_torchscript(model, path)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        encode, assemble = _tokens(open_clip.get_tokenizer(self._choice.architecture), limit=self.token_limit)
        return _OpenClipParts(model.eval().to(device), preprocess, encode, assemble, device)


def _load_torchscript(model: Any, path: Path) -> None:
    import torch

    state = torch.jit.load(str(path), map_location="cpu").state_dict()  # type: ignore[no-untyped-call]  # torch leaves its types out
    own = model.state_dict()  # the archive holds more: its resolution, context length and the attention mask
    if missing := own.keys() - state.keys():
        raise ModelUnavailable(
            f"{path} holds another model: {len(missing)} of {len(own)} weights are missing"
        )
    model.load_state_dict({name: state[name].float() for name in own})


def _tokens(
    tokenizer: Any, *, limit: int
) -> tuple[Callable[[str], list[int]], Callable[[Sequence[list[int]]], Any]]:
    """A function that tokenises a text without special tokens, and one that makes model input of windows."""
    import torch

    if hasattr(tokenizer, "sot_token_id"):  # CLIP's own

        def assemble(windows: Sequence[list[int]]) -> Any:
            ids = torch.zeros(len(windows), limit, dtype=torch.long)
            for row, window in enumerate(windows):
                marked = [tokenizer.sot_token_id, *window, tokenizer.eot_token_id]
                ids[row, : len(marked)] = torch.tensor(marked)
            return ids

        return tokenizer.encode, assemble

    inner = tokenizer.tokenizer  # a Hugging Face tokenizer; it puts its own marks around a text

    def encode(text: str) -> list[int]:
        return list(inner.encode(text, add_special_tokens=False))

    return encode, lambda windows: tokenizer([inner.decode(window) for window in windows])
