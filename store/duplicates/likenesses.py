"""Pictures that the embedding model finds alike, compared in the background for badges and filters."""

import json
import sqlite3
from collections.abc import Sequence

from store.catalog.catalog import Catalog, current_generation, next_derived
from store.duplicates import alignment
from store.duplicates.confirmation import Confirmation
from store.duplicates.findings import weigh
from store.duplicates.similar import certainties, least_cosine
from store.errors import MemedexError
from store.progress import Progress
from store.search.picture_similarity import PictureSimilarity

_BATCH = 32  # pictures that are compared with all others at once: ten seconds at most


class LikenessFinder:
    """Compares pictures by their vectors; remembers up to where all were compared."""

    def __init__(self, catalog: Catalog, pictures: PictureSimilarity, confirmation: Confirmation) -> None:
        self._catalog = catalog
        self._pictures = pictures
        self._confirmation = confirmation
        self._model = ""  # and how alike counts: with another one all are compared again
        self._since = -1  # up to this generation all were compared but for …
        self._left: list[str] = []  # … these pictures, by their hashes, which have no vector yet

    def compare_new(self, *, progress: Progress) -> int:
        """Compare every embedded picture that was not compared yet with all others; returns how many.

        Nothing without a usable model. If it is cancelled, finished ones stay.
        """
        try:
            embedder = self._pictures.embedder
        except MemedexError:
            return 0
        least = least_cosine(embedder.name)
        model = f"{embedder.fingerprint} {least} {alignment.SCHEME}"
        if model != self._model:
            self._forget_others(model)
        with self._catalog.reading() as db:
            generation = current_generation(db)
            new = db.execute(
                "SELECT image_hash, min(address) AS address FROM records "
                "WHERE (generation > ? OR image_hash IN (SELECT value FROM json_each(?))) "
                "AND image_hash NOT IN (SELECT image_hash FROM likened) GROUP BY +image_hash",
                [self._since, json.dumps(self._left)],
            ).fetchall()
        if not new:  # no vector is read for it: a million take a minute and 2 GB
            self._since, self._left = generation, []
            return 0
        index = self._pictures.index()
        waiting = [row for row in new if index.vector(row["address"]) is not None]
        done = 0
        for start in range(0, len(waiting), _BATCH):
            if progress.cancelled:
                return done
            batch = waiting[start : start + _BATCH]
            found = index.near_many([row["address"] for row in batch], least=least)
            sure = {}
            for address, near in found.items():
                if progress.cancelled:
                    return done
                sure[address] = certainties(self._confirmation.similar(address, near), embedder.name)
            with self._catalog.writing() as db:
                for row in batch:
                    _store(db, row["image_hash"], sure[row["address"]], model=model)
                if any(sure.values()):
                    next_derived(db)
            done += len(batch)
        compared = {row["image_hash"] for row in waiting}
        self._since = generation
        self._left = [row["image_hash"] for row in new if row["image_hash"] not in compared]
        return done

    def _forget_others(self, model: str) -> None:
        """Drop what another model, or another threshold, found."""
        with self._catalog.reading() as db:
            is_current = not db.execute("SELECT 1 FROM likened WHERE model <> ? LIMIT 1", [model]).fetchone()
        if not is_current:
            with self._catalog.writing() as db:
                db.execute("DELETE FROM likenesses")
                db.execute("DELETE FROM likened")
        self._model, self._since, self._left = model, -1, []


def is_compared(db: sqlite3.Connection, address: str) -> bool:
    """Whether a record's picture was compared with the others, so that its likenesses are stored."""
    return bool(
        db.execute(
            "SELECT 1 FROM records r JOIN likened l ON l.image_hash = r.image_hash WHERE r.address = ?",
            [address],
        ).fetchone()
    )


def _store(db: sqlite3.Connection, picture: str, near: dict[str, float], *, model: str) -> None:
    db.execute("INSERT OR REPLACE INTO likened VALUES (?, ?)", [picture, model])
    for address, sure in near.items():
        row = db.execute("SELECT image_hash FROM records WHERE address = ?", [address]).fetchone()
        if row and row[0] != picture:
            pairs = [(picture, row[0], sure), (row[0], picture, sure)]
            db.executemany("INSERT OR REPLACE INTO likenesses VALUES (?, ?, ?)", pairs)
    if near:
        for address in _addresses(db, picture):
            weigh(db, address)


def _addresses(db: sqlite3.Connection, picture: str) -> Sequence[str]:
    return [row[0] for row in db.execute("SELECT address FROM records WHERE image_hash = ?", [picture])]
