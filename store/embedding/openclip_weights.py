"""Find the weights of an open_clip model on this machine, and how they were trained.

A model is written `MODEL/TAG` (weights from the local cache), `MODEL/TAG@FILE` or `MODEL@FILE` (a checkpoint
file). OpenAI's weights were trained with QuickGELU, yet open_clip 3.3 builds them with plain GELU and only
warns. We switch QuickGELU on for the tag `openai`, for weights from every source, for every tag that
open_clip marks so, and for TorchScript files, which only OpenAI published.
"""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.disk.files import expanded
from store.embedding.huggingface_cache import cached_file, stay_offline
from store.embedding.lazy_weights import CLIP_EXTRA, package_folder
from store.embedding.torchvision_shim import define_missing_operators
from store.errors import ModelUnavailable

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
    """open_clip's entry for a tag: source of the weights, QuickGELU, mean and deviation.

    Empty for the tag of a file. Raises ModelUnavailable if open_clip does not know the tag, or is missing.
    """
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
    """open_clip's description of an architecture, read from its package without importing it.

    Raises ModelUnavailable if open_clip does not know it, or is missing.
    """
    folder = package_folder("open_clip", install=CLIP_EXTRA) / "model_configs"
    path = folder / f"{architecture}.json"
    if not path.is_file() or path.parent != folder:
        known = ", ".join(sorted(entry.stem for entry in folder.glob("ViT-[BL]-*.json")))
        raise ModelUnavailable(f"open_clip has no model {architecture!r}; among others it has: {known}")
    return dict(json.loads(path.read_text()))
