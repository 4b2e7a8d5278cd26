"""Check vectors from a model before they are stored or compared."""

from collections.abc import Sequence

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
