"""The library that `bench.load` works on: half of its coins wait for review, half are in the library."""

import json
import os
from pathlib import Path

from bench.library import Instant
from bench.pending import queue
from store.catalog.filters import Filter
from store.embedding import open_embedder
from store.runtime import open_library

MODEL = "offline"
_BATCH = 500


def prepared(root: Path, size: int) -> Path:
    """A library of so many coins; made once, as files that are imported on opening."""
    mark = root / f"load-{size}"
    if mark.exists():
        return root
    os.environ["MEMEDEX_EMBEDDER"] = MODEL
    queue(root, size, compares=False)
    _write_captions(root, size)
    with open_library(root, embedder=Instant(named=open_embedder(MODEL))) as library:
        pending = [record.address for record in library.find(Filter(tier="pending"))]
        chosen = [address for address in pending if int(address[-32:], 16) % 2]
        for start in range(0, len(chosen), _BATCH):
            library.approve(chosen[start : start + _BATCH])
            library.promote(chosen[start : start + _BATCH])
        library.approve(sorted(set(pending) - set(chosen))[:100])  # for drafts of captions
        library.duplicates.examine()  # so that a measurement finds no work in the background
    mark.touch()
    return root


def _write_captions(root: Path, size: int) -> None:
    """Captions for the coins that will be promoted, as a person outside the program would write them."""
    for number in range(1, size, 2):
        path = root / "memecoins" / "pending" / f"local-{number:032x}.json"
        sidecar = json.loads(path.read_text())
        words = f"{sidecar['token_name']} with {' and '.join(sidecar['tags'])}"
        sidecar["caption"] = {"entity": words, "context": f"a joke about {words}", "visual": "flat colours"}
        path.write_text(json.dumps(sidecar))
