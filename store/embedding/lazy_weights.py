"""Weights that are loaded once, at first use, by whichever thread needs them first."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Generic, TypeVar

from store.errors import ModelUnavailable

Loaded = TypeVar("Loaded")


class Lazy(Generic[Loaded]):
    """Returns what `load` makes, at the first `get`; `status` describes the progress for people.

    A failed load is not remembered: what was missing can be installed while the program runs.
    """

    def __init__(self, what: str, load: Callable[[], Loaded]) -> None:
        self._what = what
        self._load = load
        self._lock = RLock()
        self._loaded: Loaded | None = None
        self.status = "not loaded"

    def get(self) -> Loaded:
        """The weights, loaded by the first caller; others wait for it. Raises ModelUnavailable."""
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
    """A short hash of everything that determines a model's vectors."""
    return sha256("\n".join(parts).encode()).hexdigest()[:24]


def file_digest(path: Path) -> str:
    """The SHA-256 of a weights file; taken from the cache's file name if that is the hash."""
    blob = path.resolve().name  # Hugging Face's cache names large files by their SHA-256
    if len(blob) == 64 and all(digit in "0123456789abcdef" for digit in blob):
        return blob
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


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
