"""How fast the store imports, promotes and opens, as Markdown tables.

    python -m bench.library --records 10000

The model's own time is separate: the store is measured with one that answers at once, the `offline` model on
a few hundred records. Normally Chroma follows in the background; here it is paused while
the store works, so that the two do not share the processor, and its five upserts are timed after it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
from PIL import Image

from bench.measuring import machine, milliseconds, print_table
from store.catalog.filters import Filter
from store.embedding import open_embedder
from store.embedding.protocol import Embedder
from store.importing.candidate import Candidate
from store.runtime import open_library


class Instant:
    """An embedder whose vectors cost nothing and mean nothing, so that only the store's own time remains.

    `named` gives it the name of another model, which can then open the library.
    """

    token_limit = 256
    cross_modal_scale = 1.0
    status = "ready"

    def __init__(self, named: Embedder | None = None) -> None:
        self.name = named.name if named else "instant"
        self.fingerprint = named.fingerprint if named else "instant"
        self.dimensions = named.dimensions if named else 768
        self._random = np.random.default_rng(1)

    def warm(self) -> None:
        pass

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        return self._rows(len(texts))

    def embed_images(self, images: Sequence[Image.Image]) -> np.ndarray:
        return self._rows(len(images))

    def _rows(self, count: int) -> np.ndarray:
        rows = self._random.standard_normal((count, self.dimensions), dtype=np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def coins(count: int) -> Iterator[Candidate]:
    """Captioned coins, each with its own picture; a third lack `visual`, a third `emotions`."""
    random = np.random.default_rng(0)
    for number in range(count):
        picture = _picture(random)
        caption = {"entity": f"a dog number {number} on the moon", "context": f"joke {number} about the moon"}
        if number % 3:
            caption["visual"] = f"pixel art in palette {number}"
        if (number + 1) % 3:
            caption["emotions"] = f"playful, mood {number}"
        name = f"Coin {number}"
        sidecar = {
            "token_name": name,
            "ticker": f"C{number}",
            "description": f"the coin with the number {number}",
            "token_address": f"0x{number:040x}",
            "created_at": 1_700_000_000 + number,
            "caption": caption,
            "tags": ["dog", "moon"],
        }
        yield Candidate(name, sidecar, picture)


def _picture(random: np.random.Generator) -> bytes:
    """A small typical logo: 128 px, a few shapes."""
    import io

    blocks = random.integers(0, 255, (8, 8, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(blocks).resize((128, 128)).save(file, "PNG")
    return file.getvalue()


def import_and_promote(root: Path, count: int, *, embedder: Embedder) -> dict[str, tuple[float, float]]:
    """Milliseconds of each step for `count` records, by the clock and of this process's processor."""
    library = open_library(root, embedder=embedder)
    candidates = list(coins(count))
    with patch.object(library._follower, "wake"):  # Chroma's own time is measured last
        taken = {"import": _both(lambda: library.add(candidates))}
        addresses = library.addresses(Filter(tier="pending"))
        taken["approve"] = _both(lambda: library.approve(addresses))
        if embedder.name == "offline":
            embedder.warm()
        taken["promote"] = _both(lambda: library.promote(addresses))
    assert library.counts()["library"] == count
    library.rebuild_chroma()
    taken["Chroma's five upserts"] = (milliseconds(library.wait_for_chroma), 0.0)  # of another process
    library.close()
    return taken


def _both(work: Callable[[], object]) -> tuple[float, float]:
    began = time.process_time()
    return milliseconds(work), 1_000 * (time.process_time() - began)


_OPEN = """
import json, resource, sys, time
start = time.perf_counter()
from pathlib import Path
from store.runtime import open_library, open_reader
from store.catalog.filters import Filter
from store.search.query import Part, Query
from bench.library import Instant
imported = time.perf_counter()
library = open_library(Path(sys.argv[1]), embedder=Instant())
opened = time.perf_counter()
library.find(Filter(tier="library"), limit=60), library.counts(), library.tag_counts(Filter(tier="library"))
listed = time.perf_counter()
library.search(Query((Part(text="dog"),)))
searched = time.perf_counter()
again = time.perf_counter()
library.search(Query((Part(text="cat"),)))
end = time.perf_counter()
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
steps = [imported - start, opened - imported, listed - opened, searched - listed, end - again]
print(json.dumps([*steps, memory]))
library.close()
"""


def opening(root: Path) -> list[float]:
    """For a fresh process: import, open, list, first search, next search in seconds; memory in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, str(root)], capture_output=True, text=True, check=True
    )
    return [float(value) for value in json.loads(done.stdout)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--with-model", type=int, default=300, help="records for the offline model")
    parser.add_argument("--runs", type=int, default=5, help="openings, of which the median counts")
    options = parser.parse_args()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "instant"
        show(
            "the model's time apart",
            import_and_promote(root, options.records, embedder=Instant()),
            options.records,
        )
        runs = np.median([opening(root) for _ in range(options.runs)], axis=0)
        names = ("import the program", "open", "list, counts, tags", "first search", "next search")
        rows = [(name, f"{value * 1000:,.0f} ms") for name, value in zip(names, runs[:-1], strict=True)]
        rows.append(("memory at the end", f"{runs[-1]:,.0f} MiB"))
        print_table((f"opening {options.records:,} records, median of {options.runs}", ""), rows)
        few, model = options.with_model, open_embedder("offline")
        show("with the offline model", import_and_promote(Path(folder) / "offline", few, embedder=model), few)


def show(title: str, taken: dict[str, tuple[float, float]], count: int) -> None:
    rows = [
        (
            step,
            f"{ms / 1_000:.1f}",
            f"{1_000 * count / ms:,.0f}",
            f"{processor / count:.1f}" if processor else "–",
        )
        for step, (ms, processor) in taken.items()
    ]
    print_table((f"{count:,} records, {title}", "seconds", "records a second", "processor, ms each"), rows)
    print()


if __name__ == "__main__":
    main()
