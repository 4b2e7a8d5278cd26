"""CLIP through open_clip: texts and pictures in one space. The reference model is OpenAI's ViT-L-14.

    Choice, weights    a model's name, and its weights on this machine
    published          how they were trained, and where they are published
    OpenClipEmbedder   the model

A model is written `MODEL/TAG` (weights from the local cache), `MODEL/TAG@FILE` or `MODEL@FILE` (a checkpoint
file). OpenAI's weights were trained with QuickGELU, yet open_clip 3.3 builds them with plain GELU and only
warns. We switch QuickGELU on for the tag `openai`, for weights from every source, for every tag that
open_clip marks so, and for TorchScript files, which only OpenAI published.
"""

import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

import numpy as np

from store.disk.files import expanded
from store.embedding.local_weights import cached_file, define_missing_operators, stay_offline
from store.embedding.protocol import (
    CLIP_EXTRA,
    WINDOWS_VERSION,
    Lazy,
    Matrix,
    embed_in_windows,
    file_digest,
    fingerprint,
    package_folder,
    unit,
)
from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from PIL import Image

REFERENCE = "ViT-L-14/openai"
REFERENCE_REPOSITORY = "timm/vit_large_patch14_clip_224.openai"
WEIGHT_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")


@dataclass(frozen=True, slots=True)
class Choice:
    """A model's name, parsed: the architecture, the tag of its weights, and the file if one is named."""

    architecture: str
    tag: str
    file: Path | None

    @classmethod
    def parse(cls, model: str) -> "Choice":
        """The parts of ARCHITECTURE[/TAG][@FILE]. Raises ModelUnavailable if it names no weights."""
        named, _, file = model.partition("@")
        architecture, _, tag = named.partition("/")
        if not architecture or not (tag or file):
            raise ModelUnavailable(
                f"openclip:{model} names no weights: write openclip:MODEL/TAG, "
                "openclip:MODEL/TAG@FILE or openclip:MODEL@FILE"
            )
        return cls(architecture, tag, expanded(file) if file else None)


def has_weights(model: str) -> bool:
    """Whether the model's weights and open_clip are on this machine; loads nothing."""
    choice = Choice.parse(model)
    try:
        configuration(choice.architecture)
        return weights(choice).is_file()
    except ModelUnavailable:
        return False


def weights(choice: Choice) -> Path:
    """The file of weights. Raises ModelUnavailable with the command that downloads it."""
    if choice.file is not None:
        if choice.file.is_file():
            return choice.file
        raise ModelUnavailable(
            f"there is no file {choice.file}, named as the weights of {choice.architecture}"
        )
    entry = published(choice)
    repository, _, name = str(entry.get("hf_hub", "")).rpartition("/")
    names = (name,) if name else WEIGHT_FILES
    found = cached_file(repository, *names) if repository else None
    if found is not None:
        return found
    # Where open_clip keeps what it downloaded by plain address.
    plain = Path("~/.cache/clip").expanduser() / str(entry.get("url") or "none").rpartition("/")[2]
    if plain.is_file():
        return plain
    named = f"openclip:{choice.architecture}/{choice.tag}"
    command = f"hf download {repository} {names[0]}" if repository else f"download {entry.get('url')}"
    raise ModelUnavailable(
        f"the weights of {named} are not on this machine, and Memedex downloads nothing by itself. "
        f"With internet: python -m store model --download {named}, or {command}. "
        f"Or name a file: {named}@FILE. Or use offline"
    )


def quick_gelu(choice: Choice, path: Path) -> bool:
    """Whether these weights were trained with QuickGELU instead of GELU."""
    return choice.tag == "openai" or bool(published(choice).get("quick_gelu")) or is_torchscript(path)


def is_torchscript(path: Path) -> bool:
    """Whether a file is a TorchScript archive, the format of OpenAI's CLIP."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


def published(choice: Choice) -> dict[str, Any]:
    """open_clip's entry for a tag: source, QuickGELU, mean and deviation. Raises ModelUnavailable."""
    if (choice.architecture, choice.tag) == (
        "ViT-L-14",
        "openai",
    ):  # known here, so that `auto` need not import torch
        return {"hf_hub": f"{REFERENCE_REPOSITORY}/", "url": "ViT-L-14.pt", "quick_gelu": True}
    if not choice.tag:
        return {}
    stay_offline()
    define_missing_operators()
    import open_clip

    entry = open_clip.get_pretrained_cfg(choice.architecture, choice.tag)
    if not entry and choice.file is None:
        tags = open_clip.list_pretrained_tags_by_model(choice.architecture)
        raise ModelUnavailable(
            f"open_clip knows no weights {choice.tag!r} for {choice.architecture}; "
            f"it has: {', '.join(tags) or 'none'}"
        )
    return dict(entry)


def configuration(architecture: str) -> dict[str, Any]:
    """open_clip's description of an architecture, without importing it. Raises ModelUnavailable."""
    folder = package_folder("open_clip", install=CLIP_EXTRA) / "model_configs"
    path = folder / f"{architecture}.json"
    if not path.is_file() or path.parent != folder:
        known = ", ".join(sorted(entry.stem for entry in folder.glob("ViT-[BL]-*.json")))
        raise ModelUnavailable(f"open_clip has no model {architecture!r}; among others it has: {known}")
    return dict(json.loads(path.read_text()))


_BATCH = 16


@dataclass(frozen=True, slots=True)
class _OpenClipParts:
    model: Any
    preprocess: Callable[["Image.Image"], Any]
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
            WINDOWS_VERSION,
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
        return embed_in_windows(tokens, size=self.token_limit - 2, batch=_BATCH, embed=self._run_texts)

    def embed_images(self, images: Sequence["Image.Image"]) -> Matrix:
        import torch

        parts = self._parts.get()
        rows = [np.zeros((0, self.dimensions), dtype=np.float32)]
        for start in range(0, len(images), _BATCH):
            pixels = torch.stack([parts.preprocess(image) for image in images[start : start + _BATCH]])
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
