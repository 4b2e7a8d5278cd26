"""Embed in the background what has no vector yet, so that promoting does not have to wait.

Every picture, which orders and the search for copies need, and the captions of approved records, which the
check-up compares with their pictures. `InFlight` knows which vectors are being computed now, so that none is
computed twice.
"""

import contextlib
import json
import logging
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from store.catalog.catalog import Catalog, current_generation
from store.disk.files import file_hash
from store.embedding import embedding_cache
from store.embedding.embedding_cache import EmbeddingSource
from store.embedding.protocol import Embedder
from store.errors import MemedexError
from store.progress import Progress, batches


class InFlight:
    """Keys of the vectors that foreground decisions and the background worker are computing."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._foreground: Counter[str] = Counter()
        self._background: set[str] = set()

    @contextlib.contextmanager
    def foreground(self, keys: Collection[str]) -> Iterator[None]:
        """Reserve keys for a foreground decision until the block ends, once the worker is done with them."""
        with self._change:
            self._change.wait_for(lambda: self._background.isdisjoint(keys))
            self._foreground.update(keys)
        try:
            yield
        finally:
            with self._change:
                self._foreground -= Counter(keys)

    @contextlib.contextmanager
    def background(self, keys: Collection[str]) -> Iterator[set[str]]:
        """Reserve those of these keys that the worker may compute, until the block ends; never waits."""
        with self._change:
            self._background = set(keys) - self._foreground.keys()
        try:
            yield self._background
        finally:
            with self._change:
                self._background = set()
                self._change.notify_all()


log = logging.getLogger(__name__)

_BATCH = 8  # at a time: what a person's search or promotion may have to wait for
_AGAIN = 600.0  # seconds until a picture set apart is tried again although its file looks the same


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A picture that could not be embedded, and why; skipped until its file changes, or for a while."""

    address: str
    reason: str
    stat: str  # of its file when it was tried
    until: float  # on the monotonic clock


class EmbeddingPrefetcher:
    """Embeds every picture outside the trash once, and the captions of records that wait for promotion."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        embedder: Callable[[], Embedder],
        picture: Callable[[str], Path],
        in_flight: InFlight,
    ) -> None:
        self._catalog = catalog
        self._in_flight = in_flight
        self._embedder = embedder
        self._picture = picture  # where the picture of an address lies at this moment
        self._known: tuple[Embedder, Callable[[str], str]] | None = None  # the model, and its pictures' keys
        self._since = -1  # up to this generation everything was looked at
        self._left = False  # whether something was left to a decision, which may yet fail
        self._apart: dict[str, Unreadable] = {}  # by address

    @property
    def unreadable(self) -> list[Unreadable]:
        """The pictures that are skipped, by address; they are tried again later."""
        return [self._apart[address] for address in sorted(self._apart.copy())]

    def embed_next(self, progress: Progress) -> int:
        """Embed and store what is new; how many. A picture that cannot be read is skipped by itself."""
        embedder = self._embedder()
        key_of = self._use(embedder)
        with self._catalog.reading() as db:
            generation = current_generation(db)
            unseen, unread = self._unseen(db, key_of), self._unread(db, embedder)
        self._left = False
        done, failed = 0, dict[str, Exception]()  # by the key of the vector that could not be made
        for batch in batches(unseen, _BATCH):
            if progress.cancelled:
                return done
            done += self._embed([one for each in batch if (one := self._source(each))], embedder, failed)
            if failed and not done:  # the model's fault: not asked thousands of times
                break
        for texts in batches(unread, _BATCH) if done or not failed else ():
            if progress.cancelled:
                return done
            done += self._embed(texts, embedder, failed)
        if done:
            self._set_faulty_apart(unseen, failed)
        if failed:  # the model's fault, or a text's: nothing counts as seen
            raise next(iter(failed.values()))
        if not self._left:
            self._since = generation
        return done

    def _use(self, embedder: Embedder) -> Callable[[str], str]:
        """The keys of the model's pictures; with another model than before everything is looked at again."""
        if self._known is None or self._known[0] is not embedder:
            self._known, self._since = (embedder, embedding_cache.picture_keys(embedder)), -1
        return self._known[1]

    def _set_faulty_apart(self, pictures: Sequence["_UnseenPicture"], failed: dict[str, Exception]) -> None:
        """Skip the pictures that failed while others did not, and take them out of `failed`."""
        for picture in pictures:
            if error := failed.pop(picture.key, None):
                self._set_apart(picture.addresses[0], f"{type(error).__name__}: {error}")

    def _unseen(self, db: sqlite3.Connection, key: Callable[[str], str]) -> list["_UnseenPicture"]:
        """Pictures without a vector, each with its records.

        Newest first; among the approved, those first that a promotion would reach last.
        """
        back = self._come_back()
        db.create_function("picture_key", 1, key, deterministic=True)
        rows = db.execute(
            "SELECT k.key, k.image_hash, k.address "
            "FROM (SELECT *, picture_key(image_hash) AS key FROM records "
            "WHERE (generation > ? OR address IN (SELECT value FROM json_each(?))) AND tier <> 'trash') k "
            "LEFT JOIN vectors v ON v.key = k.key "
            "WHERE v.key IS NULL ORDER BY k.tier = 'approved', iif(k.tier = 'approved', k.id, -k.id)",
            [self._since, json.dumps(back)],
        )
        found: dict[str, _UnseenPicture] = {}
        for found_key, image_hash, address in rows:
            found.setdefault(found_key, _UnseenPicture(found_key, image_hash, [])).addresses.append(address)
        addresses = {address for picture in found.values() for address in picture.addresses}
        for address in {*back} - addresses:  # removed, rejected, or embedded by another process
            del self._apart[address]
        return [*found.values()]

    def _come_back(self) -> list[str]:
        """The records whose skipped pictures are due to be tried again."""
        now = time.monotonic()
        return [
            one.address
            for one in self._apart.values()
            if now >= one.until or one.stat != _stat(self._path(one.address))
        ]

    def _source(self, picture: "_UnseenPicture") -> EmbeddingSource | None:
        """The picture from one of the records that has this file; records without it are skipped."""
        for address in picture.addresses:
            path = self._path(address)
            try:
                found = file_hash(path) if path else None
                reason = "its picture is missing" if found is None else "its picture is not what was written"
            except OSError as error:
                found, reason = None, f"its picture cannot be read: {error.strerror or error}"
            if path and found == picture.image_hash:
                self._apart.pop(address, None)  # put there again should the model fail
                return EmbeddingSource(picture.key, picture=path)
            self._set_apart(address, reason)
        return None

    def _set_apart(self, address: str, reason: str) -> None:
        log.warning("the picture of %s is not embedded: %s", address, reason)
        stat = _stat(self._path(address))
        self._apart[address] = Unreadable(address, reason, stat, time.monotonic() + _AGAIN)

    def _unread(self, db: sqlite3.Connection, embedder: Embedder) -> list[EmbeddingSource]:
        """Texts of approved records without a vector, those first that a promotion would reach last."""
        rows = db.execute(
            "SELECT s.text FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash "
            "WHERE r.generation > ? AND +r.tier = 'approved' ORDER BY +r.id",  # +: by the few that are new
            [self._since],
        )
        return embedding_cache.unknown(
            db,
            (
                source
                for row in rows
                for source in embedding_cache.texts_of(json.loads(row[0]), embedder).values()
            ),
        )

    def _embed(
        self, sources: Sequence[EmbeddingSource], embedder: Embedder, failed: dict[str, Exception]
    ) -> int:
        with self._in_flight.background([source.key for source in sources]) as mine:
            self._left |= len(mine) < len(sources)
            with self._catalog.reading() as db:  # promoting may have come to them meanwhile
                sources = embedding_cache.unknown(db, (source for source in sources if source.key in mine))
            if not sources:
                return 0
            vectors = _vectors(sources, embedder, failed)
            with self._catalog.writing() as db:
                embedding_cache.store(db, embedder.name, vectors)
        return len(vectors)

    def _path(self, address: str) -> Path | None:
        try:
            path = self._picture(address)
        except MemedexError:
            return None
        return path if path.exists() else None


def _vectors(
    sources: Sequence[EmbeddingSource], embedder: Embedder, failed: dict[str, Exception]
) -> dict[str, bytes]:
    """Embed all at once, or one by one if that fails, so that only the faulty one is left out and named."""
    try:
        return embedding_cache.embed(sources, embedder)
    except Exception as error:  # noqa: BLE001  decoders and models raise anything at all
        if len(sources) == 1:
            failed[sources[0].key] = error
            return {}
    found: dict[str, bytes] = {}
    for source in sources:
        found |= _vectors([source], embedder, failed)
    return found


@dataclass(frozen=True, slots=True)
class _UnseenPicture:
    """One picture, by the key of its vector, and the records that have it."""

    key: str
    image_hash: str
    addresses: list[str]


def _stat(path: Path | None) -> str:
    """Size and modification time as text; "" if there is no file."""
    with contextlib.suppress(OSError):
        if path:
            found = path.stat()
            return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"
    return ""
