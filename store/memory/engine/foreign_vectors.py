"""Vectors and models as other programs write them."""

import contextlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import OFFLINE
from store.memory.engine.vectors import UNKNOWN

_LOCAL = ("all-", "paraphrase-", "multi-qa-", "msmarco-", "sentence-transformers/")
_FAMILIES = ("litellm", "sentence-transformers", "openclip")


def as_vector(value: Any) -> bytes | None:
    """Float32 bytes of a list, of a JSON or pgvector text such as "[0.1,0.2]", or of float32 bytes.

    None for an empty value. Raises ValueError for anything else, zeros and infinite numbers included.
    """
    if value is None or (isinstance(value, str | bytes) and not value.strip()):
        return None
    if isinstance(value, bytes | bytearray | memoryview):
        numbers = _of_bytes(bytes(value))
    else:
        numbers = _of_list(_parsed(value) if isinstance(value, str) else value)
    if not numbers.size:
        return None
    if not np.isfinite(numbers).all() or not numbers.any():
        raise ValueError("its vector is not made of finite numbers, one of them other than 0")
    return bytes(numbers.tobytes())


def _of_bytes(value: bytes) -> NDArray[np.float32]:
    if value[:1] == b"[" and value.rstrip()[-1:] == b"]":  # JSON as bytes, unless they only look like it
        with contextlib.suppress(ValueError):
            return _of_list(_parsed(value.decode("utf-8")))
    if len(value) % 4:
        raise ValueError(f"its vector has {len(value):,} bytes, which are no float32 numbers")
    return np.frombuffer(value, np.float32)


def _of_list(value: Any) -> NDArray[np.float32]:
    try:
        numbers = np.asarray(value)
    except ValueError:
        numbers = np.zeros(0, np.str_)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iuf"):
        raise ValueError("its vector is not a list of numbers")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(numbers, "<f4")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("its vector is not a list of numbers") from error


def model_name(name: str | None) -> str:
    """The full name of a model that another program names; "unknown" for none.

    `X` and `litellm:X` are one model; the names of sentence-transformers' own models are known.
    """
    given = (name or "").strip()
    if given in ("", UNKNOWN):
        return UNKNOWN
    if given == OFFLINE or given.partition(":")[0] in _FAMILIES:
        return given
    if given.startswith(_LOCAL):
        return f"sentence-transformers:{given.removeprefix('sentence-transformers/')}"
    return f"litellm:{given}"
