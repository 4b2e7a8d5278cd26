"""Embedding the pictures that have no vector yet: orders and copies need it, and promoting then has it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from store import embedded
from store.catalog import Catalog
from store.embedded import Source
from store.embedding import Embedder
from store.errors import MemedexError
from store.progress import Progress

_BATCH = 8  # pictures at a time: what a person's search or promotion may have to wait for


class Onlooker:
    """Looks at every picture outside the trash once."""

    def __init__(
        self, catalog: Catalog, *, embedder: Callable[[], Embedder], picture: Callable[[str], Path]
    ) -> None:
        self._catalog = catalog
        self._embedder = embedder
        self._picture = picture  # where the picture of an address lies at this moment
        self._known: tuple[Embedder, Callable[[str], str]] | None = None  # the model, and its pictures' keys
        self._since = -1  # up to this generation everything was looked at

    def look(self, progress: Progress) -> int:
        """Embed what is new, the newest first; how many that were. What is done is kept."""
        embedder = self._embedder()
        if self._known is None or self._known[0] is not embedder:
            self._known, self._since = (embedder, embedded.picture_keys(embedder)), -1
        unseen, generation = self._unseen(self._known[1])
        done = 0
        for start in range(0, len(unseen), _BATCH):
            if progress.cancelled:
                return done
            done += self._embed(unseen[start : start + _BATCH], embedder)
        self._since = generation
        return done

    def _unseen(self, key: Callable[[str], str]) -> tuple[list[tuple[str, str]], int]:
        """Keys that have no vector, each with a record that has the picture."""
        with self._catalog.reading() as db:
            generation = int(db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])
            db.create_function("picture_key", 1, key, deterministic=True)
            rows = db.execute(
                "SELECT k.key, k.address FROM (SELECT *, picture_key(image_hash) AS key FROM records "
                "WHERE generation > ? AND tier <> 'trash') k LEFT JOIN vectors v ON v.key = k.key "
                "WHERE v.key IS NULL ORDER BY k.id DESC",
                [self._since],
            ).fetchall()
        return list({row["key"]: row["address"] for row in rows}.items()), generation

    def _embed(self, batch: Sequence[tuple[str, str]], embedder: Embedder) -> int:
        sources = [Source(key, picture=path) for key, address in batch if (path := self._path(address))]
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
