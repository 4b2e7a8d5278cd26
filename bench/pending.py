"""A pending queue of any length, created once: sidecars and pictures as files, imported on opening."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from store.catalog.filters import Filter
from store.disk.layout import Layout
from store.duplicates import examiner, fingerprints
from store.embedding import embedding_cache
from store.library import Library
from store.records import Record
from store.runtime import open_library

_TAGS = ("dog", "cat", "frog", "moon", "rocket", "robot", "pizza", "ape", "bear", "ghost")
_WORDS = ("Baby", "Moon", "Rainy", "Wrapped", "Sleepy", "Golden", "Tiny", "Laser", "Royal", "Pixel")
_COPIES = 50  # one in this many coins has the picture of the previous coin
_BATCH = 500


def queue(root: Path, count: int, *, compares: bool = True) -> Path:
    """A library with `count` pending coins in this folder, compared and embedded (with made-up vectors).

    Comparing looks at each picture, for an hour at 100,000; without it, the fingerprints are made up as well.
    """
    layout = Layout(root.resolve())
    made = layout.memecoins / f"made-{count}"
    if not made.exists():
        _write_files(layout, count)
        with open_library(root) as library:
            if not compares:
                _make_up_fingerprints(library)
            library.duplicates.examine()
            _make_up_vectors(library)
        made.touch()
    return root


def _write_files(layout: Layout, count: int) -> None:
    random = np.random.default_rng(count)
    picture = b""
    for number in range(count):
        address = f"local-{number:032x}"
        sidecar = layout.sidecar("pending", address)
        sidecar.parent.mkdir(parents=True, exist_ok=True)
        if number % _COPIES or not picture:
            picture = _picture(random)
        layout.image("pending", address).write_bytes(picture)
        sidecar.write_text(json.dumps(_sidecar(address, number), indent=2))


def _sidecar(address: str, number: int) -> dict[str, object]:
    tags = sorted({_TAGS[number % 10], _TAGS[number // 10 % 10]})
    return {
        "token_name": f"{_WORDS[number % 10]} {_WORDS[number // 10 % 10]} {number}",
        "ticker": f"C{number}",
        "description": f"The coin with the number {number}, of the {tags[0]} kind.",
        "token_address": address,
        "created_at": 1_700_000_000 + number * 60,
        "tags": tags,
        "tags_categories": ["other"],
    }


def _picture(random: np.random.Generator) -> bytes:
    """A picture as the library keeps it, 512 px of a few flat colours: quick to make, small on the disk."""
    import io

    blocks = random.integers(0, 255, (8, 8, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(blocks).resize((512, 512), Image.Resampling.NEAREST).save(file, "JPEG", quality=90)
    return file.getvalue()


def _make_up_fingerprints(library: Library) -> None:
    random = np.random.default_rng(2)
    with library.catalog.writing() as db:
        hashes = db.execute("SELECT DISTINCT image_hash FROM records").fetchall()
        db.executemany(
            "INSERT OR IGNORE INTO fingerprints (image_hash, print, compared) VALUES (?, ?, 1)",
            [(image_hash, random.bytes(fingerprints.SIZE)) for (image_hash,) in hashes],
        )
        db.execute("DELETE FROM unexamined")
        db.execute("INSERT OR REPLACE INTO meta VALUES ('duplicates', ?)", [examiner.SCHEME])


def _make_up_vectors(library: Library) -> None:
    """Unit vectors that mean nothing, under the keys of the pictures: embedding 50,000 takes half an hour."""
    random = np.random.default_rng(1)
    embedder = library.embedder
    key = embedding_cache.picture_keys(embedder)
    for batch in _batches(library.find(Filter(tier="pending"))):
        rows = random.standard_normal((len(batch), embedder.dimensions), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        vectors = [
            (key(record.image_hash), embedder.name, row.tobytes())
            for record, row in zip(batch, rows, strict=True)
        ]
        with library.catalog.writing() as db:
            db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", vectors)


def _batches(items: list[Record]) -> Iterator[list[Record]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
