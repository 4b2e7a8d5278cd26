"""What the facets of a record are embedded from, under which key, and each of it only once."""

import io
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from store.embedding import Embedder
from store.embedding.checked import checked
from store.progress import Progress
from store.records import CAPTION_FACETS, Facet
from store.search.blocks import Vector

_BATCH = 64  # rows handed to the model at once: enough for its throughput, little enough to cancel between


@dataclass(frozen=True, slots=True)
class Source:
    """One facet's content: a text, or the picture file."""

    key: str
    text: str | None = None
    picture: Path | None = None


def sources(
    sidecar: Mapping[str, Any], *, picture: Path, image_hash: str, embedder: Embedder
) -> dict[Facet, Source]:
    """The picture, and each text facet where there is text; keys name model, file, preprocessing, content."""
    image = Source(_key(embedder.fingerprint, "image", image_hash), picture=picture)
    return {"image": image, **texts_of(sidecar, embedder)}


def texts_of(sidecar: Mapping[str, Any], embedder: Embedder) -> dict[Facet, Source]:
    """Each text facet where there is text."""
    caption = sidecar.get("caption") or {}
    texts = {facet: str(caption.get(facet, "")) for facet in CAPTION_FACETS}
    return {
        facet: Source(_key(embedder.fingerprint, "text", text), text=text)
        for facet, text in texts.items()
        if text.strip()
    }


def picture_keys(embedder: Embedder) -> Callable[[str], str]:
    """The key of a picture's vector, by the picture's hash; for many of them."""
    fingerprint = embedder.fingerprint
    return lambda image_hash: _key(fingerprint, "image", image_hash)


def unknown(db: sqlite3.Connection, wanted: Iterable[Source]) -> list[Source]:
    """Those whose vector the catalog does not hold yet, each key once."""
    by_key = {source.key: source for source in wanted}
    return [
        source
        for key, source in by_key.items()
        if not db.execute("SELECT 1 FROM vectors WHERE key = ?", [key]).fetchone()
    ]


def embed(
    wanted: Sequence[Source], embedder: Embedder, *, progress: Progress | None = None
) -> dict[str, tuple[str, bytes]]:
    """Their vectors: key → (model, float32 row). Stops early, with what it has, when cancelled.

    ModelUnavailable where the model gives something that cannot be searched with.
    """
    vectors: dict[str, tuple[str, bytes]] = {}
    texts = [source for source in wanted if source.text is not None]
    pictures = [source for source in wanted if source.picture is not None]
    for group, compute in ((texts, _embed_texts), (pictures, _embed_pictures)):
        for start in range(0, len(group), _BATCH):
            if progress and progress.cancelled:
                return vectors
            batch = group[start : start + _BATCH]
            rows = checked(compute(batch, embedder), embedder)
            vectors |= {
                source.key: (embedder.name, row.tobytes()) for source, row in zip(batch, rows, strict=True)
            }
    return vectors


def picture_vector(db: sqlite3.Connection, address: str, *, embedder: Embedder) -> Vector | None:
    """The stored vector of a record's picture, in whatever tier it is; None where there is none."""
    row = db.execute("SELECT image_hash FROM records WHERE address = ?", [address]).fetchone()
    if row is None:
        return None
    key = _key(embedder.fingerprint, "image", row["image_hash"])
    stored = db.execute("SELECT vector FROM vectors WHERE key = ?", [key]).fetchone()
    return None if stored is None else np.frombuffer(stored["vector"], "<f4")


def agreements(
    db: sqlite3.Connection, pairs: Mapping[str, tuple[str, str]], *, embedder: Embedder
) -> dict[str, float]:
    """The dot product of text and picture, by address, where both have a stored vector; `pairs` are a text
    and the hash of a picture."""
    found = {}
    for address, (text, image_hash) in pairs.items():
        keys = [_key(embedder.fingerprint, "text", text), _key(embedder.fingerprint, "image", image_hash)]
        rows = db.execute("SELECT vector FROM vectors WHERE key IN (?, ?)", keys).fetchall()
        if len(rows) == 2:
            one, other = (np.frombuffer(row["vector"], "<f4") for row in rows)
            found[address] = float(np.vecdot(one, other))
    return found


def _embed_texts(batch: Sequence[Source], embedder: Embedder) -> np.ndarray[Any, Any]:
    return embedder.embed_texts([str(source.text) for source in batch])


def _embed_pictures(batch: Sequence[Source], embedder: Embedder) -> np.ndarray[Any, Any]:
    from PIL import Image

    # A normalised picture of our own; read whole, so that no file stays open while the model works.
    opened = [Image.open(io.BytesIO(source.picture.read_bytes())) for source in batch if source.picture]
    return embedder.embed_images(opened)


def _key(fingerprint: str, kind: str, content: str) -> str:
    return sha256(f"{fingerprint}\0{kind}\0{content}".encode()).hexdigest()
