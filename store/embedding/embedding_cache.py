"""Embed the content of each facet once, under a key of model and content."""

import io
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from store.catalog import history
from store.disk.sqlite import marks
from store.embedding.protocol import Embedder, Vector, checked
from store.progress import batches
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
    """The picture, and each text facet that has text.

    Keys depend on model, file, preprocessing and content.
    """
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
    """Compute vectors: key → float32 row; long texts in windows.

    Raises ModelUnavailable if the model returns something that cannot be searched with.
    """
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


def content_key(fingerprint: str, kind: str, content: str) -> str:
    """The key of a vector: of which model, which kind of content, and which content."""
    return sha256(f"{fingerprint}\0{kind}\0{content}".encode()).hexdigest()
