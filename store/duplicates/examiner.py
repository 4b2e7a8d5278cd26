"""Examine new records: the picture's fingerprint, similar records, and the resulting suspicion.

`inner_pictures` finds a picture inside a picture: what a screenshot shows in a window, or a photograph on a
phone's screen. Its four sides are straight edges that meet. Among the rows and columns of the picture with
the longest edges, those rectangles are tried whose sides are edges for the most part; the library's pictures
are square, so nearly square ones are.
"""

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.catalog import confusables
from store.catalog.catalog import Catalog, next_derived
from store.disk.files import content_hash
from store.disk.sqlite_values import marks
from store.duplicates import alignment, fingerprints
from store.duplicates.alignment import Confirmation
from store.duplicates.findings import weigh
from store.duplicates.fingerprints import NearPrint, Neighbours
from store.errors import BadPicture, MemedexError
from store.progress import Progress

if TYPE_CHECKING:
    from PIL import Image

_SIDE = 256  # pixels on which edges are looked for
_STEP = 14  # of 255: by how much neighbouring pixels differ at an edge
_LINES = 12  # rows, and columns, that are tried
_LEAST, _WHOLE = 0.3, 0.96  # of the picture's side: shorter ones show too little, longer ones all of it
_SQUARE = 0.93  # the shorter side, of the longer
_COVERED = 0.3  # of each side has to be an edge …
_WELL = 0.6  # … and of all four together
INNER_SCHEME = "inner v1"  # a new scheme compares every picture again
INNER_NEAR = 50  # of 256 bits: less than for whole pictures, as several parts of one are tried
_INNER_MOST = 5  # rectangles of one picture

Edges = NDArray[np.float64]


def inner_pictures(picture: bytes) -> list[bytes]:
    """The nearly square pictures inside one of the library's JPGs, best first, as JPGs; at most MOST.

    Raises BadPicture if the picture cannot be read.
    """
    from PIL import Image

    try:
        with Image.open(BytesIO(picture)) as image:
            whole = image.convert("RGB")
    except Exception as error:  # decoders raise anything at all on a damaged file
        raise BadPicture(f"the picture is damaged ({error})"[:200]) from error
    scale = whole.width / _SIDE
    small = np.asarray(whole.resize((_SIDE, _SIDE), 2), np.int16)
    boxes = np.rint(scale * np.array(_rectangles(small), float).reshape(-1, 4)).tolist()
    return [_jpg(whole.crop((left, top, right, bottom))) for left, top, right, bottom in boxes]


def _rectangles(pixels: NDArray[np.int16]) -> list[tuple[int, int, int, int]]:
    """Left, top, right, bottom of the best rectangles."""
    down, across = _edges(pixels), _edges(pixels.transpose(1, 0, 2))  # along rows, along columns
    rows, columns = _longest(down), _longest(across)
    # Sums along each line up to a place: how much of a side is an edge follows from two of them.
    by_row, by_column = (np.pad(edges.cumsum(axis=1), ((0, 0), (1, 0))) for edges in (down, across))
    found = []
    for left, right in _pairs(columns):
        for top, bottom in _pairs(rows):
            width, height = right - left, bottom - top
            if min(width, height) < _SQUARE * max(width, height):
                continue
            sides = [(by_row[at, right] - by_row[at, left]) / width for at in (top, bottom)]
            sides += [(by_column[at, bottom] - by_column[at, top]) / height for at in (left, right)]
            if min(sides) >= _COVERED and sum(sides) >= 4 * _WELL:
                found.append((sum(sides), (left, top, right, bottom)))
    best: list[tuple[int, int, int, int]] = []
    for _, box in sorted(found, reverse=True):
        if all(max(abs(a - b) for a, b in zip(box, other, strict=True)) > 4 for other in best):
            best.append(box)
    return best[:_INNER_MOST]


def _edges(pixels: NDArray[np.int16]) -> Edges:
    """(_SIDE + 1, _SIDE): 1 where a pixel differs from that of the row before, or of the one next to it."""
    steps = np.abs(np.diff(pixels, axis=0)).max(axis=2) > _STEP
    edges = np.zeros((_SIDE + 1, _SIDE), bool)
    edges[1:_SIDE] = steps
    wide = edges.copy()
    wide[1:] |= edges[:-1]
    wide[:-1] |= edges[1:]
    return wide.astype(np.float64)


def _longest(edges: Edges) -> list[int]:
    """The lines with the most edges, no two adjacent."""
    lengths = edges.sum(axis=1)
    chosen: list[int] = []
    for line in np.argsort(-lengths, kind="stable").tolist():
        if lengths[line] < _COVERED * _LEAST * _SIDE or len(chosen) == _LINES:
            break
        if all(abs(line - other) > 3 for other in chosen):
            chosen.append(line)
    return sorted(chosen)


def _pairs(lines: list[int]) -> list[tuple[int, int]]:
    return [
        (first, last)
        for first, last in combinations(lines, 2)
        if _LEAST * _SIDE <= last - first <= _WHOLE * _SIDE
    ]


def _jpg(image: "Image.Image") -> bytes:
    file = BytesIO()
    image.save(file, "JPEG", quality=90)
    return file.getvalue()


SCHEME = f"{fingerprints.SCHEME}, {confusables.SCHEME}, {INNER_SCHEME}, {alignment.SCHEME}"
_BATCH = 16  # records of one transaction: a person's decision never waits for more than that
_SPELT = 100  # names that are stored in one transaction
_WITHOUT_PRINT = (
    "SELECT address, id, image_hash FROM records WHERE id NOT IN (SELECT record FROM unexamined) "
    "AND image_hash NOT IN (SELECT image_hash FROM fingerprints)"
)
_TOLD = 10.0  # seconds between two notices to open pages about what was found


class Examiner:
    """Compares records that were not compared yet."""

    def __init__(
        self,
        catalog: Catalog,
        neighbours: Neighbours,
        confirmation: Confirmation,
        *,
        picture: Callable[[str], Path],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._catalog = catalog
        self._clock = clock
        self._told = -_TOLD
        self._is_untold = False  # whether something was found without a notice to pages
        self._neighbours = neighbours
        self._confirmation = confirmation
        self._picture = picture  # where the picture of an address lies at this moment
        self._one_at_a_time = threading.Lock()
        self._is_caught_up = False  # whether all records were gone through once since opening
        self._missing: set[str] = set()  # hashes of the pictures of examined records that could not be read

    def examine(self, *, progress: Progress | None = None) -> int:
        """Compare everything new with everything; returns how many records. Finished ones stay."""
        progress = progress or Progress()
        progress.what = "looking for duplicates"
        with self._one_at_a_time:
            self._catch_up(progress)
            while not progress.cancelled and (batch := self._next(progress)):
                if not self._examine(batch, progress):
                    break
                progress.done += len(batch)
                self._is_untold = True
                if self._clock() - self._told >= _TOLD:
                    self._tell()
            if self._is_untold:
                self._tell()
        return progress.done

    def _tell(self) -> None:
        with self._catalog.writing() as db:
            next_derived(db)
        self._told, self._is_untold = self._clock(), False

    def _catch_up(self, progress: Progress) -> None:
        """Add rows that an older catalog or an older comparison lacks; look for pictures that came back.

        Every record is gone through only once: for 100,000 that takes a quarter of a second.
        """
        if self._catalog.meta("duplicates") != SCHEME:
            self._is_caught_up = False
            with self._catalog.writing() as db:
                for table in ("fingerprints", "lookalikes", "spellings", "suspicions", "unexamined"):
                    db.execute(f"DELETE FROM {table}")
                db.execute("INSERT OR REPLACE INTO meta VALUES ('duplicates', ?)", [SCHEME])
            self._neighbours.clear()
        if not self._is_caught_up:
            self._add_spellings(progress)
            with self._catalog.reading() as db:
                self._missing.update(row["image_hash"] for row in db.execute(_WITHOUT_PRINT))
            self._is_caught_up = not progress.cancelled
        self._come_back()

    def _add_spellings(self, progress: Progress) -> None:
        unspelt = self._catalog.rows("SELECT id FROM records WHERE id NOT IN (SELECT record FROM spellings)")
        for start in range(0, len(unspelt), _SPELT):
            if progress.cancelled:
                return
            with self._catalog.writing() as db:
                for (number,) in unspelt[start : start + _SPELT]:
                    row = db.execute("SELECT * FROM records WHERE id = ?", [number]).fetchone()
                    if row:
                        confusables.store_spelling(
                            db, number, name=row["name"], ticker=row["ticker"], image_hash=row["image_hash"]
                        )

    def _come_back(self) -> None:
        """Examine those again whose pictures could not be read and can be now."""
        if not self._missing:
            return
        rows = self._catalog.rows(
            f"{_WITHOUT_PRINT} AND image_hash IN (SELECT value FROM json_each(?))",
            [json.dumps([*self._missing])],
        )
        back = [row for row in rows if self._content(row["address"], row["image_hash"])]
        self._missing = {row["image_hash"] for row in rows} - {row["image_hash"] for row in back}
        if back:
            with self._catalog.writing() as db:
                db.executemany("INSERT OR IGNORE INTO unexamined VALUES (?)", [(row["id"],) for row in back])

    def _next(self, progress: Progress) -> list[sqlite3.Row]:
        with self._catalog.reading() as db:
            (left,) = db.execute("SELECT count(*) FROM unexamined").fetchone()
            progress.total = progress.done + left
            return db.execute(
                "SELECT u.record, r.address, r.image_hash FROM unexamined u LEFT JOIN records r "
                f"ON r.id = u.record ORDER BY u.record DESC LIMIT {_BATCH}"  # the newest are looked at first
            ).fetchall()

    def _examine(self, batch: Sequence[sqlite3.Row], progress: Progress) -> bool:
        """Compare these records with all others; False, and nothing stored, if it was cancelled."""
        pictures = {row["image_hash"]: row["address"] for row in batch if row["address"]}
        prints = self._prints(pictures)
        with self._catalog.writing() as db:
            db.executemany(
                "INSERT OR IGNORE INTO fingerprints (image_hash, print) VALUES (?, ?)", prints.items()
            )
        with self._catalog.reading() as db:
            self._neighbours.refresh(db)
            new = db.execute(
                "SELECT image_hash, print FROM fingerprints "
                f"WHERE NOT compared AND image_hash IN ({marks(pictures)})",
                list(pictures),
            ).fetchall()
        near = {}
        for row in new:
            if progress.cancelled:
                return False
            image_hash = row["image_hash"]
            near[image_hash] = self.near(pictures[image_hash], image_hash, row["print"])
        with self._catalog.writing() as db:
            for image_hash, found in near.items():
                _note(db, image_hash, found)
            for row in batch:  # as they are now: they may have changed meanwhile
                db.execute("DELETE FROM unexamined WHERE record = ?", [row["record"]])
                now = db.execute("SELECT address FROM records WHERE id = ?", [row["record"]]).fetchone()
                if now:
                    weigh(db, now["address"])
        return True

    def near(self, address: str, image_hash: str, print_: bytes) -> list[NearPrint]:
        """The pictures that are the same as this record's, or shown inside it, in a window or on a screen."""
        found = self._neighbours.near(print_)
        content = self._content(address, image_hash)
        if content is None:
            return found
        inside: list[NearPrint] = []
        with contextlib.suppress(BadPicture):
            for inner in inner_pictures(content):
                alike = self._neighbours.near(fingerprints.fingerprint(inner))
                near = [one for one in alike if one.distance <= INNER_NEAR]
                inside += self._confirmation.near(inner, near)
        return inside + self._confirmation.near(content, found)

    def _prints(self, pictures: dict[str, str]) -> dict[str, bytes]:
        """Fingerprints that the catalog does not have; missing files are skipped."""
        with self._catalog.reading() as db:
            known = {
                image_hash
                for image_hash in pictures
                if db.execute("SELECT 1 FROM fingerprints WHERE image_hash = ?", [image_hash]).fetchone()
            }
        found = {}
        for image_hash, address in pictures.items():
            if image_hash in known:
                continue
            if content := self._content(address, image_hash):
                try:
                    found[image_hash] = fingerprints.fingerprint(content)
                except BadPicture:
                    found[image_hash] = fingerprints.NOTHING
            else:
                self._missing.add(image_hash)
        return found

    def _content(self, address: str, image_hash: str) -> bytes | None:
        try:
            content = self._picture(address).read_bytes()
        except (OSError, MemedexError):
            return None
        return content if content_hash(content) == image_hash else None  # changed outside: taken in first


def _note(db: sqlite3.Connection, image_hash: str, found: Sequence[NearPrint]) -> None:
    for near in found:
        if near.image_hash != image_hash:
            shared = (near.distance, near.is_mirrored)
            db.executemany(
                "INSERT OR REPLACE INTO lookalikes VALUES (?, ?, ?, ?)",
                [(image_hash, near.image_hash, *shared), (near.image_hash, image_hash, *shared)],
            )
    db.execute("UPDATE fingerprints SET compared = 1 WHERE image_hash = ?", [image_hash])
