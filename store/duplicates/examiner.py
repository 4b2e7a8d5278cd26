"""Examine new records: the picture's fingerprint and details, similar records, and the suspicion."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from store.catalog import confusables
from store.catalog.catalog import Catalog, next_derived
from store.disk.files import content_hash
from store.disk.sqlite import marks
from store.duplicates import alignment, details, fingerprints
from store.duplicates.alignment import Confirmation
from store.duplicates.details import DetailIndex, Details
from store.duplicates.findings import weigh
from store.duplicates.fingerprints import NearPrint, Neighbours
from store.errors import BadPicture, MemedexError
from store.progress import Progress

SCHEME = f"{fingerprints.SCHEME}, {confusables.SCHEME}, {details.SCHEME}, {alignment.SCHEME}"
_DERIVED = ("fingerprints", "picture_details", "lookalikes", "spellings", "suspicions", "unexamined")
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
        index: DetailIndex,
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
        self._index = index
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
                for table in _DERIVED:
                    db.execute(f"DELETE FROM {table}")
                db.execute("INSERT OR REPLACE INTO meta VALUES ('duplicates', ?)", [SCHEME])
            self._neighbours.clear()
            self._index.clear()
        if not self._is_caught_up:
            self._add_spellings(progress)
            self._missing.update(row["image_hash"] for row in self._catalog.rows(_WITHOUT_PRINT))
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
        new = {
            row["image_hash"]: row["print"]
            for row in self._catalog.rows(
                "SELECT image_hash, print FROM fingerprints "
                f"WHERE NOT compared AND image_hash IN ({marks(pictures)})",
                list(pictures),
            )
        }
        contents = {
            image_hash: content
            for image_hash in new
            if (content := self._content(pictures[image_hash], image_hash)) is not None
        }
        found_details = {image_hash: _details_of(content) for image_hash, content in contents.items()}
        with self._catalog.writing() as db:
            db.executemany(
                "INSERT OR IGNORE INTO picture_details (image_hash, details) VALUES (?, ?)",
                [(image_hash, details.packed(found)) for image_hash, found in found_details.items()],
            )
        with self._catalog.reading() as db:
            self._neighbours.refresh(db)
            self._index.refresh(db)
        near = {}
        for image_hash, print_ in new.items():
            if progress.cancelled:
                return False
            near[image_hash] = self.near(contents.get(image_hash), print_, found_details.get(image_hash))
        with self._catalog.writing() as db:
            for image_hash, found in near.items():
                _note(db, image_hash, found)
            for row in batch:  # as they are now: they may have changed meanwhile
                db.execute("DELETE FROM unexamined WHERE record = ?", [row["record"]])
                now = db.execute("SELECT address FROM records WHERE id = ?", [row["record"]]).fetchone()
                if now:
                    weigh(db, now["address"])
        return True

    def like(self, content: bytes) -> list[NearPrint]:
        """The same as `near`, of a picture (a JPG) of no record. Raises BadPicture if it cannot be read."""
        with self._catalog.reading() as db:
            self._neighbours.refresh(db)
            self._index.refresh(db)
        return self.near(content, fingerprints.fingerprint(content), details.details(content))

    def near(self, content: bytes | None, print_: bytes, found: Details | None) -> list[NearPrint]:
        """The pictures that are the same as this one (a JPG), or of which one shows a part of the other.

        Without the picture, those with a similar fingerprint.
        """
        alike = self._neighbours.near(print_)
        if content is None or found is None:
            return alike
        whole = self._confirmation.near(content, alike)
        known = {one.image_hash for one in whole}
        upright = self._index.placed(found)
        below = dict.fromkeys([*self._neighbours.in_place(print_), *(one.image_hash for one in upright)])
        parts = self._confirmation.covered(content, [one for one in below if one not in known])
        for is_mirrored, placed in ((False, upright), (True, self._index.placed(found.mirrored()))):
            known.update(one.image_hash for one in parts)
            unknown = [one for one in placed if one.image_hash not in known]
            parts += self._confirmation.placed(content, unknown, is_mirrored=is_mirrored)
        return parts + whole

    def _prints(self, pictures: dict[str, str]) -> dict[str, bytes]:
        """Fingerprints that the catalog does not have; missing files are skipped."""
        select = f"SELECT image_hash FROM fingerprints WHERE image_hash IN ({marks(pictures)})"
        known = {row["image_hash"] for row in self._catalog.rows(select, list(pictures))}
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


def _details_of(content: bytes) -> Details:
    try:
        return details.details(content)
    except BadPicture:
        return details.NONE


def _note(db: sqlite3.Connection, image_hash: str, found: Sequence[NearPrint]) -> None:
    for near in found:
        if near.image_hash != image_hash:
            shared = (near.distance, near.is_mirrored)
            db.executemany(
                "INSERT OR REPLACE INTO lookalikes VALUES (?, ?, ?, ?)",
                [(image_hash, near.image_hash, *shared), (near.image_hash, image_hash, *shared)],
            )
    db.execute("UPDATE fingerprints SET compared = 1 WHERE image_hash = ?", [image_hash])
