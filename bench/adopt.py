"""Adopt a library of reference 1: seconds, peak memory, and how many vectors were reused.

    python -m bench.adopt [--coins 10000] [--folder DIR]

The library has five collections of 768 numbers, made with Chroma's own client.
"""

import argparse
import io
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench import process_memory
from store.adopting.systems import recognise
from store.chroma.client import open_client
from store.disk.images import normalise
from store.runtime import open_library
from store.tasks import adopt

COLLECTIONS = {
    "meme_image_embeddings": "image", "entity_caption_embeddings": "entity",
    "context_caption_embeddings": "context", "visual_caption_embeddings": "visual",
    "emotions_caption_embeddings": "emotions",
}  # fmt: skip
DIMENSIONS = 768
MODEL = "openclip:ViT-L-14/openai"
_BATCH = 1_000


def address(number: int) -> str:
    return f"0x{sha256(str(number).encode()).hexdigest()[:40]}"


def picture(number: int) -> bytes:
    """A picture of its own for each number, as reference 1 stores them."""
    pixels = np.frombuffer(sha256(str(number).encode()).digest()[:27], np.uint8).reshape(3, 3, 3)
    file = io.BytesIO()
    Image.fromarray(pixels).resize((64, 64), Image.Resampling.NEAREST).save(file, "PNG")
    return normalise(file.getvalue())


def rows(seed: int, count: int) -> NDArray[np.float32]:
    made: NDArray[np.float32] = (
        np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    )
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def batches(count: int) -> Iterator[range]:
    for start in range(0, count, _BATCH):
        yield range(start, min(count, start + _BATCH))


def make(top: Path, count: int) -> None:
    """Write files and collections as that program would."""
    store = top / "memecoins" / "rag_db"
    for folder in ("images", "metadata"):
        (store / folder).mkdir(parents=True)
    for number in range(count):
        caption = {facet: f"{facet} {number}" for facet in COLLECTIONS.values() if facet != "image"}
        sidecar = {
            "token_name": f"Coin {number}", "ticker": f"C{number}", "description": "", "caption": caption,
            "token_address": address(number), "created_at": 1_700_000_000 + number,
        }  # fmt: skip
        (store / "metadata" / f"{address(number)}.json").write_text(json.dumps(sidecar))
        (store / "images" / f"{address(number)}.jpg").write_bytes(picture(number))
    client: Any = open_client(store)
    for seed, name in enumerate(COLLECTIONS):
        collection = client.get_or_create_collection(name, metadata={"hnsw:space": "cosine"})
        for batch in batches(count):
            collection.add(
                ids=[address(number) for number in batch],
                embeddings=rows(seed * count + batch.start, len(batch)),
                metadatas=[
                    {
                        "name": f"Coin {number}", "ticker": f"C{number}", "uuid": address(number),
                        "tags": f"dog,moon {number % 100}", "tags_categories": "animals,space",
                        "created_at": 1_700_000_000 + number,
                    }
                    for number in batch
                ],
            )  # fmt: skip
    client.close()


def measure(root: Path, other: Path) -> dict[str, float]:
    """Adopt it in this process, twice."""
    began = time.perf_counter()
    (survey,) = recognise(other)
    looked = time.perf_counter() - began
    library = open_library(root)
    try:
        began = time.perf_counter()
        job = adopt.start(library, [survey], vectors=MODEL)
        library.jobs.wait(job.id)
        seconds = time.perf_counter() - began
        done = library.jobs.get(job.id)
        assert done
        assert done.state == "done", done.error
        began = time.perf_counter()
        again = adopt.start(library, [survey], vectors=MODEL)
        library.jobs.wait(again.id)
        repeated = time.perf_counter() - began
    finally:
        library.close()
    return {
        "preview_seconds": round(looked, 1),
        "adopt_seconds": round(seconds, 1),
        "repeat_seconds": round(repeated, 1),
        **{key: float(value) for key, value in done.note.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coins", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="where to work; it is emptied by nobody")
    parser.add_argument("--measure", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        other, root = Path(temporary) / "other", Path(temporary) / "res"
        began = time.perf_counter()
        make(other, options.coins)
        print(f"made {options.coins:,} coins in {time.perf_counter() - began:.0f} s", flush=True)
        command = [sys.executable, "-m", "bench.adopt", "--measure", str(root), str(other)]
        output, memory = process_memory.run(command)
        found = json.loads(output.splitlines()[-1])
        found |= {"peak_mb": round(memory.whole / 1e6), "without_files_mb": round(memory.own / 1e6)}
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
