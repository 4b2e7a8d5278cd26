"""What every embedding model does, what it is made of, and what holds for its vectors.

    Embedder, TokenEmbedder   the interface of every model
    Lazy, give_back_memory    weights that whichever thread needs them first loads, and let go
    fingerprint, file_digest  the hash of all that determines a model's vectors
    version_name, content_key the names of a model's versions, and the keys of their vectors
    embed_in_windows          texts longer than a model reads: cut into overlapping windows, embedded and
                              averaged; never truncated
    checked, are_usable       vectors are checked before they are stored or compared

All vectors are float32 numbers of unit length, so that a dot product is a cosine.
"""

import contextlib
import ctypes
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import file_digest as digest_of
from hashlib import sha256
from pathlib import Path
from threading import RLock, Timer
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from PIL import Image

Vector = NDArray[np.float32]


REFERENCE = "openclip:ViT-L-14/openai"
OFFLINE = "offline"
OFFLINE_TEXT = f"{OFFLINE}:text"
MULTILINGUAL = "universal:multilingual-v3"
MULTILINGUAL_READS = {"Chinese", "Japanese", "Korean", "Cyrillic script", "Arabic script", "Thai"}


def described(name: str) -> str:
    """A model within a sentence: "the built-in model", or another one by its name."""
    return {OFFLINE: "the built-in model", OFFLINE_TEXT: "the built-in text model"}.get(name, name)


class Embedder(Protocol):
    """An embedding model: float32 rows of unit length, thread-safe."""

    @property
    def name(self) -> str:
        """The name that `model` shows and `open_embedder` accepts."""

    @property
    def fingerprint(self) -> str:
        """A hash of everything that determines a vector: weights, preprocessing, splitting of long texts.

        Read from the files once for each Embedder, whose weights do not change either.
        """

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    def token_limit(self) -> int:
        """How many tokens the model reads at once; longer texts are embedded in windows and averaged."""

    @property
    def cross_modal_scale(self) -> "float | Vector":
        """What a text's numbers times this have with a picture as dot product is their cosine."""

    @property
    def status(self) -> str:
        """ "not loaded", "loading …", "ready" or "unavailable: …", for a page."""

    def warm(self) -> None:
        """Load everything now, so that the first search is fast. Raises ModelUnavailable."""

    def count_tokens(self, text: str) -> int:
        """The number of tokens of this text, special tokens included."""

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: an array of shape (n, dimensions)."""

    def embed_images(self, images: Sequence["Image.Image"]) -> NDArray[np.float32]:
        """Embed pictures: an array of shape (n, dimensions). Raises ModelUnavailable without them."""


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedding model that also has a vector for each word in its context."""

    @property
    def name(self) -> str:
        """The name that `open_embedder` accepts."""

    def embed_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """For each text unit rows of shape (tokens, an even number of dimensions)."""


@runtime_checkable
class ForeignReader(Protocol):
    """An embedding model that also knows which texts are in another language than English."""

    def is_foreign(self, text: str) -> bool:
        """Whether the text is in another language that the model reads."""


class TextOnly:
    """The base of models that read no pictures."""

    name: str
    cross_modal_scale = 1.0

    def embed_images(self, images: Sequence["Image.Image"]) -> NDArray[np.float32]:
        """Raises ModelUnavailable, with the remedy."""
        raise reads_no_pictures(self.name)


def reads_no_pictures(name: str) -> ModelUnavailable:
    """The error of a model that reads texts only, with the remedy."""
    return ModelUnavailable(
        f"{name} reads texts only: choose offline or openclip:ViT-L-14/openai for pictures"
    )


WINDOWS_VERSION = "windows-1"  # part of every fingerprint: another splitting gives another vector

Matrix = NDArray[np.float32]


def spans(length: int, *, size: int) -> list[slice]:
    """The fewest equal windows of `size` tokens over `length`, evenly spread, a quarter or more shared."""
    if length <= size:
        return [slice(0, length)]
    step = max(1, size - size // 4)
    count = 1 + -(-(length - size) // step)
    starts = np.linspace(0, length - size, count).round().astype(int)
    return [slice(int(start), int(start) + size) for start in starts]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model reads a text: at once, or in how many windows whose vectors are averaged."""

    tokens: int
    limit: int
    windows: int
    first: int  # characters that are read at once, all of them where there is one window


def reading(text: str, embedder: "Embedder") -> Reading:
    """Count a text's tokens, and find where it exceeds what the model reads at once."""
    tokens, limit = embedder.count_tokens(text), embedder.token_limit
    if tokens <= limit:
        return Reading(tokens, limit, 1, len(text))
    marks = embedder.count_tokens("")
    low, high = 0, len(text)  # the most characters that still fit; more text never has fewer tokens
    while high - low > 1:
        middle = (low + high) // 2
        if embedder.count_tokens(text[:middle]) <= limit:
            low = middle
        else:
            high = middle
    whole = text[:low].rstrip() if text[low].isspace() else text[:low].rpartition(" ")[0]
    return Reading(tokens, limit, len(spans(tokens - marks, size=limit - marks)), len(whole) or low)


def embed_in_windows(
    texts: Sequence[list[int]], *, size: int, batch: int, embed: Callable[[Sequence[list[int]]], Matrix]
) -> Matrix:
    """One unit row for each text, given as tokens; `embed` gets windows of at most `size`, `batch` at a time.

    Windows of similar length go together, which saves padding.
    """
    windows = [(row, text[span]) for row, text in enumerate(texts) for span in spans(len(text), size=size)]
    windows.sort(key=lambda window: len(window[1]))
    sums: Matrix | None = None
    for start in range(0, len(windows), batch):
        part = windows[start : start + batch]
        rows = unit(embed([tokens for _, tokens in part]))
        if sums is None:
            sums = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        np.add.at(sums, [row for row, _ in part], rows)
    return unit(sums) if sums is not None else np.zeros((0, 0), dtype=np.float32)


def unit(rows: Matrix) -> Matrix:
    """(n, d): rows scaled to length one, so that cosine is a dot product; a row of zeros stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


Rows = NDArray[np.float32]

_UNIT = 1e-3  # how far a squared length may be from 1


def are_unit(rows: Rows) -> NDArray[np.bool_]:
    """For each row, whether it is finite and of unit length."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.abs(np.vecdot(rows, rows) - 1) < _UNIT)


def are_usable(contents: Sequence[bytes]) -> NDArray[np.bool_]:
    """For each of these stored bytes, whether they are the float32 numbers of a unit vector."""
    found = np.zeros(len(contents), np.bool_)
    lengths = np.fromiter(map(len, contents), np.intp, len(contents))
    for length in set(lengths.tolist()):
        if length % 4 == 0:
            alike = np.flatnonzero(lengths == length).tolist()
            rows = np.frombuffer(b"".join(contents[at] for at in alike), "<f4")
            found[alike] = are_unit(rows.reshape(len(alike), length // 4))
    return found


def checked(rows: Rows, embedder: Embedder) -> Rows:
    """The rows that a model or an endpoint answered. Raises ModelUnavailable if one cannot be searched."""
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    if rows.shape[1:] != (embedder.dimensions,) or not are_unit(rows).all():
        raise ModelUnavailable(
            f"{embedder.name} gave what is not {embedder.dimensions} finite numbers of unit length; "
            "try again, or choose another model"
        )
    return rows


def content_key(fingerprint: str, kind: str, content: str) -> str:
    """The key of a vector: of which model, which kind of content, and which content."""
    return sha256(f"{fingerprint}\0{kind}\0{content}".encode()).hexdigest()


_FINGERPRINT = re.compile("#[0-9a-f]{12}$")


def version_name(embedder: Embedder) -> str:
    """The name of this version of a model, where the model's own name stands for an earlier one."""
    return f"{embedder.name}#{embedder.fingerprint[:12]}"


def without_version(name: str) -> str:
    """The model's own name, which `open_embedder` accepts."""
    return _FINGERPRINT.sub("", name)


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
    return sha256("\n".join(parts).encode()).hexdigest()[:24]


def file_digest(path: Path) -> str:
    """The SHA-256 of a weights file; taken from the cache's file name if that is the hash."""
    blob = path.resolve().name  # Hugging Face's cache names large files by their SHA-256
    if len(blob) == 64 and all(digit in "0123456789abcdef" for digit in blob):
        return blob
    with path.open("rb") as file:
        return digest_of(file, "sha256").hexdigest()


CLIP_EXTRA = "`make clip`, or pip install 'memedex[clip]'"  # what needs PyTorch is not installed by default


def package_folder(package: str, *, install: str) -> Path:
    """The folder of an installed package, not imported. Raises ModelUnavailable with the command."""
    from importlib.util import find_spec

    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(f"the Python package {package} is not installed: {install}")
    return Path(spec.submodule_search_locations[0])
