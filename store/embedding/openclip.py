"""CLIP through open_clip: texts and pictures in one space; the reference model is ViT-L-14 with OpenAI's
weights.

Written `MODEL/TAG` (weights from the cache on this machine) or `MODEL/TAG@FILE` or `MODEL@FILE` (a
checkpoint file). OpenAI's weights were trained with QuickGELU, and open_clip 3.3 builds them with plain
GELU and no more than a warning. It is switched on here for the tag `openai`, whatever the weights come
from, for every tag that open_clip itself marks so, and for TorchScript files, which only OpenAI published.
"""

import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
from PIL import Image

from store.embedding.loading import Lazy, file_digest, fingerprint, package_folder
from store.embedding.local_hub import cached_file, stay_offline
from store.embedding.torchvision_operators import define_missing_operators
from store.embedding.windows import VERSION, Matrix, embed_in_windows, unit
from store.errors import ModelUnavailable

REFERENCE = "ViT-L-14/openai"
REFERENCE_REPOSITORY = "timm/vit_large_patch14_clip_224.openai"
WEIGHT_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
BATCH = 16


@dataclass(frozen=True, slots=True)
class Choice:
    """What a model's name says: the architecture, the tag of its weights, and the file if one is named."""

    architecture: str
    tag: str
    file: Path | None

    @classmethod
    def parse(cls, model: str) -> "Choice":
        named, _, file = model.partition("@")
        architecture, _, tag = named.partition("/")
        if not architecture or not (tag or file):
            raise ModelUnavailable(
                f"openclip:{model} names no weights: write openclip:MODEL/TAG, "
                "openclip:MODEL/TAG@FILE or openclip:MODEL@FILE"
            )
        return cls(architecture, tag, Path(file).expanduser() if file else None)


@dataclass(frozen=True, slots=True)
class _Parts:
    model: Any
    preprocess: Callable[[Image.Image], Any]
    encode: Callable[[str], list[int]]
    assemble: Callable[[Sequence[list[int]]], Any]
    device: Any


def has_weights(model: str) -> bool:
    """Whether a model's weights are on this machine, told without loading anything."""
    try:
        return weights(Choice.parse(model)).is_file()
    except ModelUnavailable:
        return False


def weights(choice: Choice) -> Path:
    """The file of weights; ModelUnavailable names the command that downloads it."""
    if choice.file is not None:
        if choice.file.is_file():
            return choice.file
        raise ModelUnavailable(
            f"there is no file {choice.file}, named as the weights of {choice.architecture}"
        )
    entry = _published(choice)
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
        f"With internet: {command}. Or name a file: {named}@FILE. Or use offline"
    )


class OpenClipEmbedder:
    """Any open_clip model; its weights load at first use."""

    cross_modal_scale = 1.0

    def __init__(self, model: str) -> None:
        self.name = f"openclip:{model}"
        self._choice = Choice.parse(model)
        self._config = _configuration(self._choice.architecture)
        self.dimensions = int(self._config["embed_dim"])
        self.token_limit = int(self._config["text_cfg"].get("context_length", 77))
        if self._choice.file is not None or model == REFERENCE:
            weights(self._choice)  # other tags need open_clip's own list, and with it torch
        self._parts = Lazy(f"CLIP ({model})", self._load)

    @property
    def status(self) -> str:
        return self._parts.status

    @property
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

    def _load(self) -> _Parts:
        stay_offline()
        define_missing_operators()
        import open_clip
        import torch

        path = weights(self._choice)
        shape = {key: value for key, value in _published(self._choice).items() if key in ("mean", "std")}
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
        return _Parts(model.eval().to(device), preprocess, encode, assemble, device)


def quick_gelu(choice: Choice, path: Path) -> bool:
    """Whether these weights were trained with QuickGELU instead of GELU."""
    return choice.tag == "openai" or bool(_published(choice).get("quick_gelu")) or is_torchscript(path)


def is_torchscript(path: Path) -> bool:
    """Whether a file is a TorchScript archive, the form in which OpenAI published CLIP."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


def _load_torchscript(model: Any, path: Path) -> None:
    import torch

    state = torch.jit.load(str(path), map_location="cpu").state_dict()  # type: ignore[no-untyped-call]
    own = model.state_dict()  # the archive holds more: its resolution, context length and the attention mask
    if missing := own.keys() - state.keys():
        raise ModelUnavailable(
            f"{path} holds another model: {len(missing)} of {len(own)} weights are missing"
        )
    model.load_state_dict({name: state[name].float() for name in own})


def _published(choice: Choice) -> dict[str, Any]:
    """What open_clip knows about a tag: where its weights are, QuickGELU, mean and deviation; {} for a
    file's own tag."""
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


def _configuration(architecture: str) -> dict[str, Any]:
    """open_clip's description of an architecture, read from its package without importing it."""
    folder = package_folder("open_clip", install="open-clip-torch") / "model_configs"
    path = folder / f"{architecture}.json"
    if not path.is_file() or path.parent != folder:
        known = ", ".join(sorted(entry.stem for entry in folder.glob("ViT-[BL]-*.json")))
        raise ModelUnavailable(f"open_clip has no model {architecture!r}; among others it has: {known}")
    return dict(json.loads(path.read_text()))


def _tokens(
    tokenizer: Any, *, limit: int
) -> tuple[Callable[[str], list[int]], Callable[[Sequence[list[int]]], Any]]:
    """How a text becomes tokens without the marks around it, and windows of tokens become the model's
    input."""
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
