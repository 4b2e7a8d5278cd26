"""What every embedding model does, and what holds for its vectors.

    Embedder, TokenEmbedder   the interface of every model
    embed_in_windows          texts longer than a model reads: cut into overlapping windows, embedded and
                              averaged; never truncated
    checked, are_usable       vectors are checked before they are stored or compared

All vectors are float32 numbers of unit length, so that a dot product is a cosine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from PIL import Image

Vector = NDArray[np.float32]


REFERENCE = "openclip:ViT-L-14/openai"
OFFLINE = "offline"
OFFLINE_TEXT = f"{OFFLINE}:text"


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
        """What a text, or each of its numbers, is multiplied with to be compared with pictures.

        Its dot product with a picture is their cosine then.
        """

    @property
    def status(self) -> str:
        """ "not loaded", "loading …", "ready" or "unavailable: …", for a page."""

    def warm(self) -> None:
        """Load everything now, so that the first search is fast.

        Raises ModelUnavailable if it cannot be loaded.
        """

    def count_tokens(self, text: str) -> int:
        """The number of tokens of this text, special tokens included."""

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: an array of shape (n, dimensions)."""

    def embed_images(self, images: Sequence["Image.Image"]) -> NDArray[np.float32]:
        """Embed pictures: an array of shape (n, dimensions).

        Raises ModelUnavailable for a text-only model.
        """


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
    """The fewest windows of `size` tokens that cover `length`, evenly spread, a quarter or more shared.

    All windows of a long text have the same length, so that each token counts about the same in their
    average.
    """
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
    """The rows. Raises ModelUnavailable if one of them could not be searched with.

    An endpoint may answer nulls, zeros or another length, and one such vector would break the order of
    results.
    """
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    if rows.shape[1:] != (embedder.dimensions,) or not are_unit(rows).all():
        raise ModelUnavailable(
            f"{embedder.name} gave what is not {embedder.dimensions} finite numbers of unit length; "
            "try again, or choose another model"
        )
    return rows
