"""The matrices as files that are mapped, not read: opening costs nothing, what is not used stays on the disk.

Derived. The catalog names the folder that is its own (`meta`, key NAMED): one that a restored or remade
catalog does not name is not looked at. It holds what was there at one generation; what changed since is
brought up to date from the catalog, in memory.
"""

import contextlib
import io
import json
import logging
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.catalog import Catalog
from store.errors import MemedexError
from store.files import Disk
from store.layout import Layout
from store.records import FACETS
from store.search.blocks import USUAL, Block, Snapshot
from store.search.quantised import Quantised
from store.search.vectors import Matrices

log = logging.getLogger(__name__)

NAMED = "matrices"
_WORTH = 2048  # rows; fewer are read from the catalog in no time
_FORMAT = 2
_ROWS = 16_384  # of one block: enough that threads have few, large pieces


def save(snapshot: Snapshot, folder: Path, *, fingerprint: str) -> str:
    """Write the snapshot to a new folder below `folder`; returns its name, for the catalog to keep."""
    name = f"{snapshot.generation}-{token_hex(4)}"
    place = folder / name
    place.mkdir(parents=True)
    try:
        about = {
            "format": _FORMAT,
            "fingerprint": fingerprint,
            "dimensions": snapshot.dimensions,
            "blend": USUAL.tolist(),
            "generation": snapshot.generation,
            "addresses": snapshot.addresses,
        }
        starts = range(0, max(1, len(snapshot)), _ROWS)
        sums = np.zeros((len(starts), len(FACETS), snapshot.dimensions))
        blocks = [slab.block for slab in snapshot.slabs]
        for number, facet in enumerate(FACETS):
            rows = _fill(place / f"{facet}.vectors.npy", snapshot, [block.vectors[facet] for block in blocks])
            _fill(place / f"{facet}.codes.npy", snapshot, [block.codes[facet] for block in blocks])
            for at, first in enumerate(starts):
                sums[at, number] = rows[first : first + _ROWS].sum(axis=0, dtype=np.float64)
        _fill(place / "blend.codes.npy", snapshot, [block.blend.codes for block in blocks])
        steps = [
            np.vstack([slab.of(slab.block.steps), slab.of(slab.block.blend.steps)]) for slab in snapshot.slabs
        ]
        none = np.empty((len(FACETS) + 1, 0), np.float32)
        _write(place / "steps.npy", np.concatenate([none, *steps], axis=1))  # the blend's in the last row
        _write(place / "errors.npy", np.vstack([snapshot.errors, snapshot.blend_errors]))
        _write(place / "present.npy", snapshot.present)
        _write(place / "sums.npy", sums)
        Disk().write(place / "about.json", json.dumps(about).encode())  # last: without it there is nothing
        Disk().fsync_folders([place, folder])
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return name


def load(place: Path, *, fingerprint: str) -> Matrices | None:
    """The matrices in this folder, mapped; None for another model's, another version's or a broken one."""
    try:
        about = json.loads((place / "about.json").read_bytes())
        if (about["format"], about["fingerprint"], about["blend"]) != (_FORMAT, fingerprint, USUAL.tolist()):
            return None
        blocks = list(_blocks(place, about["addresses"]))
        return Matrices(dimensions=about["dimensions"], blocks=blocks, generation=about["generation"])
    except Exception:  # noqa: BLE001  NumPy raises whatever a damaged header leads it to
        return None


def tidy(folder: Path, *, keep: str) -> None:
    """Remove what earlier generations left; what another process still has open goes the next time."""
    with contextlib.suppress(OSError):
        for place in folder.iterdir():
            if place.name != keep:
                shutil.rmtree(place, ignore_errors=True)


def is_worth_saving(snapshot: Snapshot) -> bool:
    """Whether so much lies in no file, or so much in the files is gone, that new ones pay."""
    added = sum(slab.size for slab in snapshot.slabs if not slab.block.is_mapped)
    gone = sum(slab.count - slab.size for slab in snapshot.slabs if slab.block.is_mapped)
    return added + gone >= max(_WORTH, len(snapshot) // 10)


class MatrixSaver:
    """Saves the matrices of the one writing process in the background, when much of them lies in no file."""

    def __init__(self, catalog: Catalog, layout: Layout, *, saved: Callable[[], None]) -> None:
        self._catalog = catalog
        self._layout = layout
        self._saved = saved
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ended = False

    def look(self, snapshot: Snapshot, fingerprint: str) -> None:
        """Begin to save this snapshot if that pays; returns at once."""
        if is_worth_saving(snapshot):
            with self._lock:
                if not self._ended and (self._thread is None or not self._thread.is_alive()):
                    work = partial(self._save, snapshot, fingerprint)
                    self._thread = threading.Thread(target=work, name="memedex-matrices", daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Wait for what is under way; nothing begins any more."""
        with self._lock:
            self._ended = True
        if self._thread:
            self._thread.join()

    def _save(self, snapshot: Snapshot, fingerprint: str) -> None:
        try:
            # What was killed in the middle of saving left gigabytes, of which this disk may have no more.
            tidy(self._layout.matrices, keep=self._catalog.meta(NAMED))
            name = save(snapshot, self._layout.matrices, fingerprint=fingerprint)
            self._catalog.set_meta(NAMED, name)
        except (OSError, sqlite3.Error, MemedexError) as error:  # no room: it is searched from memory
            log.warning("the matrices could not be saved: %s", error)
            self._ended = True
        else:
            tidy(self._layout.matrices, keep=name)
            self._saved()


def _blocks(place: Path, addresses: list[str]) -> Iterator[Block]:
    vectors = {facet: _mapped(place / f"{facet}.vectors.npy") for facet in FACETS}
    codes = {facet: _mapped(place / f"{facet}.codes.npy") for facet in FACETS}
    blend = _mapped(place / "blend.codes.npy")
    steps, errors, present = (_mapped(place / f"{name}.npy") for name in ("steps", "errors", "present"))
    sums = np.load(place / "sums.npy")
    lengths = {
        len(rows) for rows in (*vectors.values(), *codes.values(), blend, errors.T, steps.T, present.T)
    }
    if lengths != {len(addresses)}:
        raise ValueError(f"{place}: files of {sorted(lengths)} rows")
    for number, start in enumerate(range(0, len(addresses), _ROWS)):
        some = slice(start, min(start + _ROWS, len(addresses)))
        yield Block(
            addresses=addresses[some],
            vectors={facet: rows[some] for facet, rows in vectors.items()},
            codes={facet: rows[some] for facet, rows in codes.items()},
            present=present[:, some],
            steps=steps[:-1, some],
            errors=errors[0, some],
            blend=Quantised(blend[some], steps[-1, some], errors[1, some]),
            sums=sums[number],
            settled=some.stop - start,
            is_mapped=True,
        )


def _fill(path: Path, snapshot: Snapshot, matrices: list[NDArray[Any]]) -> np.memmap[Any, Any]:
    """A new file of one row for each record, taken from the matrix of each slab's block."""
    kind = matrices[0].dtype if matrices else np.float32
    shape = (len(snapshot), snapshot.dimensions)
    made: np.memmap[Any, Any] = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)
    end = 0
    for slab, matrix in zip(snapshot.slabs, matrices, strict=True):
        start, end = end, end + slab.size
        made[start:end] = matrix[slab.living]
    made.flush()
    return made


def _write(path: Path, matrix: NDArray[Any]) -> None:
    """Through to the disk: a power cut must not leave a named folder whose bounds are zeros."""
    file = io.BytesIO()
    np.save(file, matrix)
    Disk().write(path, file.getvalue())


def _mapped(path: Path) -> NDArray[Any]:
    return np.asarray(np.load(path, mmap_mode="r"))  # a plain array: slicing a memmap is slow
