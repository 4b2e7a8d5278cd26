"""Weights that load at first use, once, whichever thread comes first."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Generic, TypeVar

from store.errors import ModelUnavailable

Loaded = TypeVar("Loaded")


class Lazy(Generic[Loaded]):
    """What `load` returns, made at the first `get`; `status` tells in plain words how far it is.

    A failed load is not remembered: what was missing can be installed while the program runs.
    """

    def __init__(self, what: str, load: Callable[[], Loaded]) -> None:
        self._what = what
        self._load = load
        self._lock = RLock()
        self._loaded: Loaded | None = None
        self.status = "not loaded"

    def get(self) -> Loaded:
        if self._loaded is not None:
            return self._loaded
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
            return self._loaded


def fingerprint(*parts: str) -> str:
    """A short name for everything that decides what a vector is."""
    return sha256("\n".join(parts).encode()).hexdigest()[:24]


def file_digest(path: Path) -> str:
    """The SHA-256 of a file of weights; from the cache's own file name where that already is it."""
    blob = path.resolve().name  # Hugging Face's cache names large files by their SHA-256
    if len(blob) == 64 and all(digit in "0123456789abcdef" for digit in blob):
        return blob
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def package_folder(package: str, *, install: str) -> Path:
    """Where an installed package lies, without importing it; ModelUnavailable says how to install it."""
    from importlib.util import find_spec

    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(f"the Python package {install} is not installed: pip install {install}")
    return Path(spec.submodule_search_locations[0])
