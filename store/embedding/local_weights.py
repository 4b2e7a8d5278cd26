"""Weights in the local Hugging Face cache, found without the network.

    cached_file, snapshot      weights in the cache
    stay_offline               keeps Hugging Face's libraries off the network
    define_missing_operators   lets transformers, sentence_transformers and open_clip import with any pairing
                               of torch and torchvision

All three import torchvision, which registers shapes for its compiled operators. If its binary does not fit
the torch build (PyPI's torchvision needs PyPI's CUDA torch, so they are missing with the CPU build), that
fails: "operator torchvision::nms does not exist". None of the three calls these operators here; they only
have to exist. If the binary fits, its own definitions are left alone.
"""

import os
from pathlib import Path
from threading import Lock
from typing import Any


def stay_offline() -> None:
    """Keep Hugging Face libraries off the network; call it before importing them."""
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE"):
        os.environ[variable] = "1"
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from huggingface_hub import constants

    constants.HF_HUB_OFFLINE = True  # it may have read the environment before


def cache_folder() -> Path:
    """The folder of huggingface_hub's cache."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def snapshot(repository: str) -> Path | None:
    """The folder of a repository's download ("owner/name"); None if there is none, or only a part of it."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def cached_file(repository: str, *names: str) -> Path | None:
    """The first of these files that the cache has for a repository; None if it has none."""
    if not any(cache_folder().glob("models--*")):
        return None  # the import below takes a fifth of a second
    from huggingface_hub import try_to_load_from_cache

    found = (try_to_load_from_cache(repository, name) for name in names)
    return next((Path(path) for path in found if isinstance(path, str)), None)


SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
OPERATORS = ("nms", "qnms")

_lock = Lock()
_library: list[Any] = []  # the definitions live as long as this object


def define_missing_operators() -> None:
    """Make `import torchvision` succeed; call it before importing anything that might do so."""
    with _lock:
        if _library or _binary_fits():
            return
        from torch.library import Library

        library: Any = Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]  # torch leaves its types out
        for operator in OPERATORS:
            if not _exists(operator):
                library.define(f"{operator}{SCHEMA}")
        _library.append(library)


def _exists(operator: str) -> bool:
    import torch

    try:
        getattr(torch.ops.torchvision, operator)
    except AttributeError:
        return False
    return True


def _binary_fits() -> bool:
    """Load torchvision's compiled operators like torchvision itself; returns whether they exist then."""
    from importlib.util import find_spec
    from pathlib import Path

    import torch

    spec = find_spec("torchvision")
    if spec is None or spec.origin is None:
        return True  # nothing to mend
    for binary in sorted(Path(spec.origin).parent.glob("_C.*")):
        try:
            torch.ops.load_library(str(binary))  # type: ignore[no-untyped-call]  # torch leaves its types out
        except OSError:  # built for another torch: symbols or CUDA libraries are missing
            return False
    return all(_exists(operator) for operator in OPERATORS)
