"""The matrices as memory-mapped files, so that opening a library reads none of them.

Derived. The catalog names the folder that belongs to it (`meta`, key NAMED); a folder that a restored or
rebuilt catalog does not name is ignored. It has the vectors of one generation; later changes are applied from
the catalog, in memory.
"""

import contextlib
import io
import json
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.catalog.catalog import Catalog
from store.disk.files import Disk
from store.disk.layout import Layout
from store.jobs.background_worker import Worker
from store.progress import Progress
from store.records import FACETS
from store.vectors.matrices import USUAL, Matrices, Segment, SegmentView, VectorSnapshot
from store.vectors.rows import Quantised, ReadAhead

NAMED = "matrices"
_LONGEST_REST = 3600.0  # seconds between two tries on a disk that has no room for gigabytes
_WORTH = 2048  # rows; fewer are read from the catalog in no time
_FORMAT = 2
_ROWS = 16_384  # of one block: enough that threads have few, large pieces


def save(
    snapshot: VectorSnapshot, folder: Path, *, fingerprint: str, progress: Progress | None = None
) -> str:
    """Write the snapshot to a new folder below `folder`; returns its name, for the catalog."""
    return write(
        snapshot.segments,
        folder,
        count=len(snapshot),
        dimensions=snapshot.dimensions,
        generation=snapshot.generation,
        fingerprint=fingerprint,
        progress=progress,
    )


def write(
    views: Iterable[SegmentView],
    folder: Path,
    *,
    count: int,
    dimensions: int,
    generation: int,
    fingerprint: str,
    progress: Progress | None = None,
) -> str:
    """Write the rows of these views, `count` in all, to a new folder below `folder`; returns its name.

    If it is cancelled, nothing is left and the name is "". Each view is asked for once and only then, so that
    they need not be in memory together.
    """
    name = f"{generation}-{token_hex(4)}"
    place = folder / name
    place.mkdir(parents=True)
    try:
        vectors = {
            facet: _made(place / f"{facet}.vectors.npy", np.float32, count, dimensions) for facet in FACETS
        }
        codes = {facet: _made(place / f"{facet}.codes.npy", np.int8, count, dimensions) for facet in FACETS}
        blend = _made(place / "blend.codes.npy", np.int8, count, dimensions)
        steps = np.zeros((len(FACETS) + 1, count), np.float32)  # the blend's in the last row
        errors = np.zeros((2, count), np.float32)
        present = np.zeros((len(FACETS), count), np.bool_)
        sums = np.zeros((max(1, -(-count // _ROWS)), len(FACETS), dimensions))
        addresses: list[str] = []
        end = 0
        for view in views:
            if progress and progress.cancelled:
                shutil.rmtree(place)
                return ""
            segment, living = view.segment, view.living
            start, end = end, end + view.size
            for facet in FACETS:
                vectors[facet][start:end] = segment.vectors[facet][living]
                codes[facet][start:end] = segment.codes[facet][living]
            blend[start:end] = segment.combined.codes[living]
            steps[:-1, start:end], steps[-1, start:end] = (
                view.of(segment.steps),
                view.of(segment.combined.steps),
            )
            errors[:, start:end] = view.of(segment.errors), view.of(segment.combined.errors)
            present[:, start:end] = view.of(segment.present)
            addresses += view.addresses
            for block in range(start // _ROWS, -(-end // _ROWS)):
                some = slice(max(start, block * _ROWS), min(end, (block + 1) * _ROWS))
                for number, facet in enumerate(FACETS):
                    sums[block, number] += vectors[facet][some].sum(axis=0, dtype=np.float64)
        for matrix in (*vectors.values(), *codes.values(), blend):
            matrix.flush()
        for what, array in (("steps", steps), ("errors", errors), ("present", present), ("sums", sums)):
            _write(place / f"{what}.npy", array)
        about = {
            "format": _FORMAT,
            "fingerprint": fingerprint,
            "dimensions": dimensions,
            "blend": USUAL.tolist(),
            "generation": generation,
            "addresses": addresses,
        }
        Disk().write(place / "about.json", json.dumps(about).encode())  # last: without it there is nothing
        Disk().fsync_folders([place, folder])
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return name


def load(place: Path, *, fingerprint: str) -> Matrices | None:
    """Map the matrices in this folder; None if they are broken or of another model or version."""
    try:
        about = json.loads((place / "about.json").read_bytes())
        if (about["format"], about["fingerprint"], about["blend"]) != (_FORMAT, fingerprint, USUAL.tolist()):
            return None
        blocks = list(_blocks(place, about["addresses"]))
        return Matrices(dimensions=about["dimensions"], blocks=blocks, generation=about["generation"])
    except Exception:  # noqa: BLE001  a damaged header makes NumPy raise errors of any class
        return None


def tidy(folder: Path, *, keep: str) -> None:
    """Delete what earlier generations left; files that another process has open are deleted the next time."""
    with contextlib.suppress(OSError):
        for place in folder.iterdir():
            if place.name != keep and _is_ours(place):
                shutil.rmtree(place, ignore_errors=True)


def _is_ours(place: Path) -> bool:
    """Whether the folder has a name that `save` gives, and only files that it writes."""
    files = {"about.json", "steps.npy", "errors.npy", "present.npy", "sums.npy", "blend.codes.npy"}
    files |= {f"{facet}.{what}.npy" for facet in FACETS for what in ("vectors", "codes")}
    named = re.fullmatch(r"\d+-[0-9a-f]{8}", place.name)
    return bool(named) and all(path.name in files for path in place.iterdir())


def is_worth_saving(snapshot: VectorSnapshot) -> bool:
    """Whether so much is in no file, or so much in the files is dead, that new ones pay."""
    added = sum(view.size for view in snapshot.segments if not view.segment.is_mapped)
    gone = sum(view.count - view.size for view in snapshot.segments if view.segment.is_mapped)
    return added + gone >= max(_WORTH, len(snapshot) // 10)


class MatrixSaver:
    """Saves the matrices of the writing process in the background, when that pays."""

    def __init__(self, catalog: Catalog, layout: Layout, *, saved: Callable[[], None]) -> None:
        self._catalog = catalog
        self._layout = layout
        self._saved = saved
        self._lock = threading.Lock()
        self._newest: tuple[VectorSnapshot, str] | None = None  # to be saved, with the model's fingerprint
        self.worker = Worker("saving the matrices", self._work, longest=_LONGEST_REST)

    def save_if_due(self, snapshot: VectorSnapshot, fingerprint: str) -> None:
        """Start to save this snapshot if that pays; returns at once."""
        if is_worth_saving(snapshot):
            with self._lock:
                is_known = self._newest is not None
                self._newest = snapshot, fingerprint
            if not is_known:
                self.worker.wake()

    def _work(self, progress: Progress) -> None:
        with self._lock:
            if self._newest is None:
                return
            snapshot, fingerprint = self._newest
        # What was killed in the middle of saving left gigabytes, of which this disk may have no more.
        tidy(self._layout.matrices, keep=self._catalog.meta(NAMED))
        name = save(snapshot, self._layout.matrices, fingerprint=fingerprint, progress=progress)
        if not name:
            return
        self._catalog.set_meta(NAMED, name)
        tidy(self._layout.matrices, keep=name)
        with self._lock:
            self._newest = None  # compare newer snapshots with what is saved now
        self._saved()


def _blocks(place: Path, addresses: list[str]) -> Iterator[Segment]:
    vectors = {facet: _mapped(place / f"{facet}.vectors.npy") for facet in FACETS}
    codes = {facet: _mapped(place / f"{facet}.codes.npy") for facet in FACETS}
    blend = _mapped(place / "blend.codes.npy")
    steps, errors, present = (_mapped(place / f"{name}.npy") for name in ("steps", "errors", "present"))
    sums = np.load(place / "sums.npy")
    ahead = {facet: ReadAhead(rows) for facet, rows in vectors.items()}
    lengths = {
        len(rows) for rows in (*vectors.values(), *codes.values(), blend, errors.T, steps.T, present.T)
    }
    if lengths != {len(addresses)}:
        raise ValueError(f"{place}: files of {sorted(lengths)} rows")
    for number, start in enumerate(range(0, len(addresses), _ROWS)):
        some = slice(start, min(start + _ROWS, len(addresses)))
        yield Segment(
            addresses=addresses[some],
            vectors={facet: rows[some] for facet, rows in vectors.items()},
            codes={facet: rows[some] for facet, rows in codes.items()},
            present=present[:, some],
            steps=steps[:-1, some],
            errors=errors[0, some],
            combined=Quantised(blend[some], steps[-1, some], errors[1, some]),
            sums=sums[number],
            sealed=some.stop - start,
            read_ahead=ahead,
            first=start,
        )


def _made(path: Path, kind: type[np.generic], count: int, dimensions: int) -> np.memmap[Any, Any]:
    made: np.memmap[Any, Any] = np.lib.format.open_memmap(
        path, mode="w+", dtype=kind, shape=(count, dimensions)
    )
    return made


def _write(path: Path, matrix: NDArray[Any]) -> None:
    """Write and fsync, so that a power cut cannot leave a named folder whose files are zeros."""
    file = io.BytesIO()
    np.save(file, matrix)
    Disk().write(path, file.getvalue())


def _mapped(path: Path) -> NDArray[Any]:
    return np.asarray(np.load(path, mmap_mode="r"))  # a plain array: slicing a memmap is slow
