"""Embed the demo library with the built-in model: res/demo/vectors-VERSION.npz.

Needed whenever the demo's pictures or texts, or the built-in model, change. The file is found by the model's
version, so that one of another model is never read. The vectors are float32, as the model makes them.

    python -m scripts.make_demo_vectors
"""

import tempfile
from pathlib import Path

import numpy as np

from store import demo
from store.embedding import embedding_cache, open_embedder
from store.runtime import LibraryRuntime, open_library


def main() -> None:
    for old in demo.FOLDER.glob("vectors-*.npz"):
        old.unlink()
    embedder = open_embedder("offline")
    with (
        tempfile.TemporaryDirectory() as folder,
        open_library(Path(folder) / "res", embedder=embedder) as library,
    ):
        demo.load(library)
        found = embedding_cache.embed(sources(library), embedder)
    keys = sorted(found)
    vectors = np.stack([np.frombuffer(found[key], "<f4") for key in keys])
    file = demo.FOLDER / demo.vectors_name(embedder)
    np.savez_compressed(file, keys=np.array(keys, "S64"), vectors=vectors)
    print(f"{len(keys)} vectors, {file.stat().st_size:,} bytes: {file.name}")


def sources(library: LibraryRuntime) -> list[embedding_cache.EmbeddingSource]:
    """Picture and texts of every coin, each content once."""
    with library.catalog.reading() as db:
        hashes = dict(db.execute("SELECT address, image_hash FROM records").fetchall())
    coins = {entry.address: entry for entry in demo.entries()}
    coins |= {copy.address: copy for copy in demo.copies(coins.keys())}
    content = {address: coin.candidate().sidecar for address, coin in coins.items()}
    found = {
        source.key: source
        for address, image_hash in hashes.items()
        for source in embedding_cache.sources(
            content[address],
            picture=Path(library.picture(address)),
            image_hash=image_hash,
            embedder=library.embedder,
        ).values()
    }
    return list(found.values())


if __name__ == "__main__":
    main()
