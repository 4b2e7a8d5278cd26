"""Check vectors from a model before they are stored or compared."""

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Embedder
from store.errors import ModelUnavailable

Rows = NDArray[np.float32]

_UNIT = 1e-3  # how far a squared length may be from 1


def are_unit(rows: Rows) -> NDArray[np.bool_]:
    """For each row, whether it is finite and of unit length."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.abs(np.vecdot(rows, rows) - 1) < _UNIT)


def is_usable(content: bytes) -> bool:
    """Whether stored bytes are the float32 numbers of a unit vector."""
    return len(content) % 4 == 0 and bool(are_unit(np.frombuffer(content, "<f4")))


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
