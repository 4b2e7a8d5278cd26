"""Weights on this machine: found without the network, hashed, and loaded once at first use.

    Lazy, file_digest, fingerprint   weights that whichever thread needs them first loads, and their hash
    give_back_memory                 what models and other work in batches have freed
    cached_file, snapshot            weights in the local Hugging Face cache
    stay_offline                     keeps Hugging Face's libraries off the network
    define_missing_operators         lets transformers, sentence_transformers and open_clip import with any
                                     pairing of torch and torchvision

All three import torchvision, which registers shapes for its compiled operators. If its binary does not fit
the torch build (PyPI's torchvision needs PyPI's CUDA torch, so they are missing with the CPU build), that
fails: "operator torchvision::nms does not exist". None of the three calls these operators here; they only
have to exist. If the binary fits, its own definitions are left alone.
"""

import contextlib
import ctypes
import hashlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock, RLock, Timer
from typing import Any, Generic, TypeVar

from store.errors import ModelUnavailable

Loaded = TypeVar("Loaded")
REST = 20.0  # seconds without use, after which weights go that load in a fifth of a second


class Lazy(Generic[Loaded]):
    """Returns what `load` makes, at the first `get`; `status` describes the progress for people.

    A failed load is not remembered: what was missing can be installed while the program runs.
    With `rest`, the weights go once no `get` has asked for them for so many seconds, and count as ready.
    """

    def __init__(self, what: str, load: Callable[[], Loaded], *, rest: float | None = None) -> None:
        self._what = what
        self._load = load
        self._rest = rest
        self._used_at = 0.0
        self._lock = RLock()
        self._loaded: Loaded | None = None
        self.status = "not loaded"

    def get(self) -> Loaded:
        """The weights, loaded by the first caller; others wait for it. Raises ModelUnavailable."""
        self._used_at = time.monotonic()
        if (loaded := self._loaded) is not None:
            return loaded
        with self._lock:
            if self._loaded is None:
                self.status = f"loading {self._what} …"
                try:
                    self._loaded = self._load()
                except ModelUnavailable as error:
                    self.status = f"unavailable: {error}"
                    raise
                except (ImportError, OSError, RuntimeError, ValueError, LookupError) as error:
                    # What libraries raise for broken or half-downloaded weights and unsuitable versions.
                    self.status = f"unavailable: {error}"
                    raise ModelUnavailable(f"{self._what} could not be loaded: {error}") from error
                self.status = "ready"
                if self._rest is not None:
                    self._release_later(self._rest)
            return self._loaded

    def release(self) -> None:
        """Let the weights go, and their memory with them; the next `get` loads them again."""
        with self._lock:
            if self._loaded is None:
                return
            self._loaded, self.status = None, "not loaded" if self._rest is None else "ready"
        give_back_memory()

    def _release_unused(self) -> None:
        left = self._used_at + (self._rest or 0.0) - time.monotonic()
        if left <= 0:
            self.release()
        else:
            self._release_later(left)

    def _release_later(self, seconds: float) -> None:
        timer = Timer(seconds, self._release_unused)
        timer.daemon = True
        timer.start()


def give_back_memory() -> None:
    """Give the system what was freed, which glibc keeps: 170 MB while 36 new pictures are looked at."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


def fingerprint(*parts: str) -> str:
    """A short hash of everything that determines a model's vectors."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def file_digest(path: Path) -> str:
    """The SHA-256 of a weights file; taken from the cache's file name if that is the hash."""
    blob = path.resolve().name  # Hugging Face's cache names large files by their SHA-256
    if len(blob) == 64 and all(digit in "0123456789abcdef" for digit in blob):
        return blob
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


CLIP_EXTRA = "`make clip`, or pip install 'memedex[clip]'"  # what needs PyTorch is not installed by default


def package_folder(package: str, *, install: str) -> Path:
    """The folder of an installed package, without importing it.

    Raises ModelUnavailable with the install command.
    """
    from importlib.util import find_spec

    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(f"the Python package {package} is not installed: {install}")
    return Path(spec.submodule_search_locations[0])


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
