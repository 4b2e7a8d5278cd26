"""Embedding what has no vector yet: every picture, which orders and copies need, and the captions of the
approved, which the check-up compares with them. Promoting then has both."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from store import embedded
from store.catalog import Catalog
from store.embedded import Source
from store.embedding import Embedder
from store.errors import MemedexError
from store.in_hand import InHand
from store.progress import Progress

_T = TypeVar("_T")
_BATCH = 8  # at a time: what a person's search or promotion may have to wait for


class Onlooker:
    """Looks at every picture outside the trash once, and reads every caption that waits for promotion."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        embedder: Callable[[], Embedder],
        picture: Callable[[str], Path],
        in_hand: InHand,
    ) -> None:
        self._catalog = catalog
        self._in_hand = in_hand
        self._embedder = embedder
        self._picture = picture  # where the picture of an address lies at this moment
        self._known: tuple[Embedder, Callable[[str], str]] | None = None  # the model, and its pictures' keys
        self._since = -1  # up to this generation everything was looked at
        self._left = False  # whether something was left to a decision, which may yet fail

    def look(self, progress: Progress) -> int:
        """Embed what is new; how many that were. What is done is kept."""
        embedder = self._embedder()
        if self._known is None or self._known[0] is not embedder:
            self._known, self._since = (embedder, embedded.picture_keys(embedder)), -1
        with self._catalog.reading() as db:
            generation = int(db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])
            unseen, unread = self._unseen(db, self._known[1]), self._unread(db, embedder)
        self._left = False
        done = 0
        for batch in _batches(unseen):
            if progress.cancelled:
                return done
            sources = [Source(key, picture=path) for key, address in batch if (path := self._path(address))]
            done += self._embed(sources, embedder)
        for texts in _batches(unread):
            if progress.cancelled:
                return done
            done += self._embed(texts, embedder)
        if not self._left:
            self._since = generation
        return done

    def _unseen(self, db: sqlite3.Connection, key: Callable[[str], str]) -> list[tuple[str, str]]:
        """Keys of pictures that have no vector, each with a record that has the picture.

        The newest first; of the approved those first that a promotion comes to last.
        """
        db.create_function("picture_key", 1, key, deterministic=True)
        rows = db.execute(
            "SELECT k.key, k.address FROM (SELECT *, picture_key(image_hash) AS key FROM records "
            "WHERE generation > ? AND tier <> 'trash') k LEFT JOIN vectors v ON v.key = k.key "
            "WHERE v.key IS NULL ORDER BY k.tier = 'approved', iif(k.tier = 'approved', k.id, -k.id)",
            [self._since],
        )
        return list({row["key"]: row["address"] for row in rows}.items())

    def _unread(self, db: sqlite3.Connection, embedder: Embedder) -> list[Source]:
        """Texts of approved records that have no vector, those first that a promotion comes to last."""
        rows = db.execute(
            "SELECT s.text FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash "
            "WHERE r.generation > ? AND r.tier = 'approved' ORDER BY r.id",
            [self._since],
        )
        return embedded.unknown(
            db,
            (source for row in rows for source in embedded.texts_of(json.loads(row[0]), embedder).values()),
        )

    def _embed(self, sources: Sequence[Source], embedder: Embedder) -> int:
        with self._in_hand.aside([source.key for source in sources]) as mine:
            self._left |= len(mine) < len(sources)
            with self._catalog.reading() as db:  # promoting may have come to them meanwhile
                sources = embedded.unknown(db, (source for source in sources if source.key in mine))
            try:
                vectors = embedded.embed(sources, embedder)
            except OSError:  # one was moved this very moment: it is looked at with the next change
                return 0
            with self._catalog.writing() as db:
                db.executemany(
                    "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)",
                    [(key, model, vector) for key, (model, vector) in vectors.items()],
                )
        return len(vectors)

    def _path(self, address: str) -> Path | None:
        try:
            path = self._picture(address)
        except MemedexError:
            return None
        return path if path.exists() else None


def _batches(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
