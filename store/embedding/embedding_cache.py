"""Vectors by a key of model and content, so that nothing is embedded twice; and what lacks one.

sources, embed, store         the content of each facet, its vector, kept
embed_missing                 all that lacks a vector of a model, of coins or texts, before a switch to it
embed_all, use_kept           the library's model changed
incomplete, delete_damaged    what doctor asks and mends
"""

import io
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from store.catalog import history
from store.catalog.catalog import Catalog, next_generation, read_json
from store.disk.layout import Layout
from store.disk.sqlite import SqliteFile, marks
from store.embedding.active_model import KEPT_MODEL, KeptVectors, kept_model_text
from store.embedding.protocol import Embedder, Vector, are_usable, checked, content_key, described
from store.progress import Progress, batches
from store.records import CAPTION_FACETS, Facet

_BATCH = 16  # rows handed to the model at once: enough for its throughput
_TOGETHER = 2  # batches: while one is decoded or tokenised on one core, the model computes another


@dataclass(frozen=True, slots=True)
class EmbeddingSource:
    """One facet's content: a text, or the picture file."""

    key: str
    text: str | None = None
    picture: Path | None = None


_Compute = Callable[[Sequence[EmbeddingSource], Embedder], np.ndarray[Any, Any]]


@dataclass(frozen=True, slots=True)
class ModelVectors:
    """How many vectors of one model there are, and their size in bytes."""

    model: str
    count: int
    size: int
    is_in_use: bool  # the model that questions are embedded with


def sources(
    sidecar: Mapping[str, Any], *, picture: Path, image_hash: str, embedder: Embedder
) -> dict[Facet, EmbeddingSource]:
    """The picture, and each text facet that has text, with keys of model, file and content."""
    image = EmbeddingSource(content_key(embedder.fingerprint, "image", image_hash), picture=picture)
    return {"image": image, **texts_of(sidecar, embedder)}


def texts_of(sidecar: Mapping[str, Any], embedder: Embedder) -> dict[Facet, EmbeddingSource]:
    """Each text facet that has text."""
    caption = sidecar.get("caption") or {}
    texts = {facet: str(caption.get(facet, "")) for facet in CAPTION_FACETS}
    return {
        facet: EmbeddingSource(content_key(embedder.fingerprint, "text", text), text=text)
        for facet, text in texts.items()
        if text.strip()
    }


def picture_keys(embedder: Embedder) -> Callable[[str], str]:
    """A function from a picture's hash to the key of its vector; quick for many."""
    fingerprint = embedder.fingerprint
    return lambda image_hash: content_key(fingerprint, "image", image_hash)


def unknown(
    db: sqlite3.Connection, sources: Iterable[EmbeddingSource], *, table: str = "vectors"
) -> list[EmbeddingSource]:
    """Those whose vector this table does not have yet, each key once."""
    by_key = {source.key: source for source in sources}
    return [
        source
        for key, source in by_key.items()
        if not db.execute(f"SELECT 1 FROM {table} WHERE key = ?", [key]).fetchone()
    ]


def keys_of(db: sqlite3.Connection, address: str) -> dict[Facet, str]:
    """The keys of a library record's vectors, by facet; empty while it waits for them."""
    rows = db.execute(
        "SELECT e.facet, e.key FROM embeddings e JOIN records r ON r.id = e.record WHERE r.address = ?",
        [address],
    )
    return {row["facet"]: row["key"] for row in rows}


def vectors_of(db: sqlite3.Connection, address: str) -> dict[Facet, bytes]:
    """The vectors of a library record, by facet; empty while it waits for them."""
    rows = db.execute(
        "SELECT e.facet, v.vector FROM embeddings e JOIN records r ON r.id = e.record "
        "JOIN vectors v ON v.key = e.key WHERE r.address = ?",
        [address],
    )
    return {row["facet"]: row["vector"] for row in rows}


def by_model(db: sqlite3.Connection, *, model: str, table: str = "vectors") -> list[ModelVectors]:
    """Every model with vectors in this table, the one in use first."""
    rows = db.execute(f"SELECT model, count(*), sum(length(vector)) FROM {table} GROUP BY model").fetchall()
    found = [ModelVectors(name, count, size, name == model) for name, count, size in rows]
    return sorted(found, key=lambda one: (not one.is_in_use, one.model))


def delete_vectors(db: sqlite3.Connection, vectors: ModelVectors, *, actor: str) -> None:
    """Delete every vector of a model, within the caller's transaction; the history says who did it."""
    db.execute("DELETE FROM vectors WHERE model = ?", [vectors.model])
    reason = f"{vectors.count:,} vectors, {vectors.size:,} bytes"
    at = time.time()
    history.record_without_coin(db, history.FORGET_VECTORS, vectors.model, actor=actor, at=at, reason=reason)


def store(
    db: sqlite3.Connection, model: str, vectors: Mapping[str, bytes], *, table: str = "vectors"
) -> None:
    """Store vectors by their keys, within the caller's transaction; those that are there stay."""
    db.executemany(
        f"INSERT OR IGNORE INTO {table} VALUES (?, ?, ?)",
        [(key, model, vector) for key, vector in vectors.items()],
    )


def embed(sources: Sequence[EmbeddingSource], embedder: Embedder) -> dict[str, bytes]:
    """Compute vectors: key → float32 row; long texts in windows. Raises ModelUnavailable for bad ones."""
    texts = [source for source in sources if source.text is not None]
    pictures = [source for source in sources if source.picture is not None]
    work = [
        (compute, batch)
        for group, compute in ((pictures, _embed_pictures), (texts, _embed_texts))
        for batch in batches(group, _BATCH)
    ]

    def embedded(compute: _Compute, batch: Sequence[EmbeddingSource]) -> dict[str, bytes]:
        rows = checked(compute(batch, embedder), embedder)
        return {source.key: row.tobytes() for source, row in zip(batch, rows, strict=True)}

    if len(work) == 1:
        return embedded(*work[0])
    vectors: dict[str, bytes] = {}
    with ThreadPoolExecutor(_TOGETHER) as threads:
        for found in threads.map(embedded, *zip(*work, strict=True)) if work else ():
            vectors |= found
    return vectors


def picture_vector(db: sqlite3.Connection, address: str, *, embedder: Embedder) -> Vector | None:
    """The stored vector of a record's picture, in any tier; None if there is none."""
    row = db.execute("SELECT image_hash FROM records WHERE address = ?", [address]).fetchone()
    if row is None:
        return None
    key = content_key(embedder.fingerprint, "image", row["image_hash"])
    stored = db.execute("SELECT vector FROM vectors WHERE key = ?", [key]).fetchone()
    return None if stored is None else np.frombuffer(stored["vector"], "<f4")


def stored_vectors(
    db: sqlite3.Connection, *, caption: Mapping[Facet, str], image_hash: str, embedder: Embedder
) -> dict[Facet, Vector]:
    """The vectors of a picture and its caption that this model has already embedded."""
    keys: dict[str, Facet] = {content_key(embedder.fingerprint, "image", image_hash): "image"}
    keys |= {
        content_key(embedder.fingerprint, "text", text): facet for facet, text in caption.items() if text
    }
    rows = db.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks(keys)})", [*keys])
    return {keys[row["key"]]: np.frombuffer(row["vector"], "<f4") for row in rows}


def _embed_texts(batch: Sequence[EmbeddingSource], embedder: Embedder) -> np.ndarray[Any, Any]:
    return embedder.embed_texts([str(source.text) for source in batch])


def _embed_pictures(batch: Sequence[EmbeddingSource], embedder: Embedder) -> np.ndarray[Any, Any]:
    from PIL import Image

    # A normalised picture of our own; read whole, so that no file stays open while the model works.
    opened = [Image.open(io.BytesIO(source.picture.read_bytes())) for source in batch if source.picture]
    return embedder.embed_images(opened)


_TRANSACTION = 64  # vectors that are stored together
_MOST = 30_000  # characters of a batch
_READ = 1_024  # vectors at once
_ALL = (0, 2**63 - 1)  # numbers of rows


@dataclass(frozen=True, slots=True)
class _Wanted:
    number: int  # of the record's row
    sources: dict[Facet, EmbeddingSource]


def embed_all(catalog: Catalog, layout: Layout, embedder: Embedder, *, progress: Progress) -> bool:
    """Embed every record of the library, then switch the rows to the new vectors in one transaction."""
    progress.what = f"embedding with {described(embedder.name)}"
    return embed_missing(
        catalog, embedder, missing=lambda _: _unknown(catalog, layout, embedder),
        switch=lambda _: _switch(catalog, layout, embedder), progress=progress,
    )  # fmt: skip


def embed_missing(
    file: SqliteFile,
    embedder: Embedder,
    *,
    missing: Callable[[sqlite3.Connection], Sequence[EmbeddingSource]],
    switch: Callable[[sqlite3.Connection], None],
    progress: Progress,
    table: str = "vectors",
    model: str = "",
    before_each: Callable[[sqlite3.Connection, Collection[str]], bool] = lambda db, keys: True,
) -> bool:
    """Embed what a file lacks, batch by batch, then `switch` to it; False if cancelled.

    `missing` is asked again until it finds nothing, and `switch` is called in that transaction, before
    anything else can be written. The table calls the model `model`, as a rule by its name. `before_each` is
    called when a batch is stored, with its keys, and returns whether what was missing still is.
    """
    while not progress.cancelled:
        with file.writing() as db:
            lacking = missing(db)
            if not lacking:
                switch(db)
                return True
        progress.total = progress.done + len(lacking)
        for batch in _batches(lacking):
            if progress.cancelled:
                break
            vectors = embed(batch, embedder)
            with file.writing() as db:
                if not before_each(db, vectors.keys()):
                    break
                store(db, model or embedder.name, vectors, table=table)
            progress.done += len(vectors)
    return False


def _batches(sources: Sequence[EmbeddingSource]) -> Iterator[Sequence[EmbeddingSource]]:
    """As many as are embedded within seconds: between two, a stop is noticed and the progress moves."""
    start = 0
    while batch := sources[start : start + _TRANSACTION]:
        lengths = accumulate(len(source.text or "") for source in batch)
        batch = batch[: max(1, sum(length <= _MOST for length in lengths))]
        yield batch
        start += len(batch)


def use_kept(catalog: Catalog, layout: Layout, model: KeptVectors) -> None:
    """Make a model that is not on this machine the library's, with the vectors that are stored of it."""
    catalog.set_meta(KEPT_MODEL, kept_model_text(model))
    with catalog.lock:
        _switch(catalog, layout, model, with_gaps=True)


def is_outdated(catalog: Catalog, embedder: Embedder) -> bool:
    """Whether pictures of the library have vectors of another model than this, or of another version."""
    key = picture_keys(embedder)
    with catalog.reading() as db:
        rows = db.execute(
            "SELECT r.image_hash, e.key FROM embeddings e JOIN records r ON r.id = e.record "
            "WHERE e.facet = 'image' AND r.tier = 'library'"
        )
        return any(row["key"] != key(row["image_hash"]) for row in rows)


def incomplete(
    catalog: Catalog, layout: Layout, embedder: Embedder, *, between: tuple[int, int] | None = None
) -> list[str]:
    """Library records, of the numbers `between`, that lack a vector, or have a surplus or outdated one."""
    numbers = between or _ALL
    with catalog.reading() as db:
        found = {
            coin.number: {facet: source.key for facet, source in coin.sources.items()}
            for coin in _library(catalog, layout, embedder, between=numbers)
        }
        keys_by_record: dict[int, dict[str, str]] = {}
        for row in db.execute(
            "SELECT e.* FROM embeddings e JOIN vectors v ON v.key = e.key WHERE e.record BETWEEN ? AND ?",
            numbers,
        ):
            keys_by_record.setdefault(row["record"], {})[row["facet"]] = row["key"]
        wrong = {number for number, keys in found.items() if keys_by_record.get(number) != keys}
        named = db.execute(
            "SELECT id, address FROM records WHERE +tier = 'library' AND id BETWEEN ? AND ? ORDER BY id",
            numbers,
        )
        return [row["address"] for row in named if row["id"] in wrong]


def delete_damaged(catalog: Catalog) -> None:
    """Delete vectors that cannot be searched with; `embed_all` computes them again."""
    with catalog.writing() as db:
        stored = db.execute("SELECT key, vector FROM vectors ORDER BY rowid")
        damaged: list[tuple[str]] = []
        while rows := stored.fetchmany(_READ):
            usable = are_usable([row["vector"] for row in rows])
            damaged += ((row["key"],) for row, good in zip(rows, usable, strict=True) if not good)
        db.executemany("DELETE FROM embeddings WHERE key = ?", damaged)
        db.executemany("DELETE FROM vectors WHERE key = ?", damaged)


def _switch(catalog: Catalog, layout: Layout, embedder: Embedder, *, with_gaps: bool = False) -> None:
    """Let the library's rows name this model's vectors; `with_gaps` leaves out those that are not stored."""
    everything = list(_library(catalog, layout, embedder))
    rows = [(coin.number, facet, source.key) for coin in everything for facet, source in coin.sources.items()]
    with catalog.writing() as db:
        if with_gaps:
            known = {row[0] for row in db.execute("SELECT key FROM vectors WHERE model = ?", [embedder.name])}
            rows = [row for row in rows if row[2] in known]
        generation = next_generation(db)
        present = {tuple(row) for row in db.execute("SELECT record, facet, key FROM embeddings")}
        changed = {number for number, _, _ in present.symmetric_difference(rows)}
        db.execute("DELETE FROM embeddings")
        db.executemany("INSERT INTO embeddings VALUES (?, ?, ?)", rows)
        for number in changed:
            db.execute("UPDATE records SET generation = ? WHERE id = ?", [generation, number])
            db.execute(
                "INSERT OR REPLACE INTO chroma_queue SELECT address, generation FROM records WHERE id = ?",
                [number],
            )
        if db.execute("SELECT value FROM meta WHERE key = 'model'").fetchone()[0] != embedder.name:
            db.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                [("model", embedder.name), ("chroma_rebuild", "1")],
            )


def _unknown(catalog: Catalog, layout: Layout, embedder: Embedder) -> list[EmbeddingSource]:
    wanted = [source for one in _library(catalog, layout, embedder) for source in one.sources.values()]
    with catalog.reading() as db:
        return unknown(db, wanted)


def _library(
    catalog: Catalog, layout: Layout, embedder: Embedder, *, between: tuple[int, int] = _ALL
) -> Iterator[_Wanted]:
    with catalog.reading() as db:
        rows = db.execute(
            "SELECT r.id, r.address, r.image_hash, s.text FROM records r JOIN sidecars s "
            "ON s.hash = r.sidecar_hash WHERE +r.tier = 'library' AND r.id BETWEEN ? AND ? ORDER BY r.id",
            between,
        )
        for row in rows:
            wanted = sources(
                read_json(row["text"], f"the text of {row['address']}"),
                picture=layout.image("library", row["address"]),
                image_hash=row["image_hash"],
                embedder=embedder,
            )
            yield _Wanted(row["id"], wanted)
