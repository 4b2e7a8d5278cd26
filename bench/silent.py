"""How pictures are found whose captions say nothing: python -m bench.silent FOLDER [--demo].

The pictures of FOLDER are asked by their files' names, as by `bench.models --named`, but of a library as the
page does: all have one caption, or four of ten stock phrases each. With --demo they lie among its coins, and
its golden queries are asked as well.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from bench.models import names, share
from store import demo
from store.catalog.filters import Filter
from store.embedding import open_embedder
from store.evaluation.evaluation import evaluate
from store.importing.candidate import Candidate
from store.records import CAPTION_FACETS
from store.runtime import open_library
from store.search.query import Part, Query
from store.vectors.weights import DEFAULT_PRESET, PRESETS

STOCK = (
    "a meme coin", "to the moon", "the next big token", "community driven token", "a new project on Solana",
    "funny and viral", "an official logo", "a picture of the coin", "join the community", "a coin to hold",
)  # fmt: skip


def measure(pictures: dict[Path, str], *, with_demo: bool, stock: bool) -> None:
    """Print the share of names with a right picture among the first ten."""
    random = np.random.default_rng(0)
    model = open_embedder("offline")
    with (
        tempfile.TemporaryDirectory() as folder,
        open_library(Path(folder) / "res", embedder=model) as library,
    ):
        if with_demo:
            demo.load(library)
        own = {f"0x{number:040x}": name for number, name in enumerate(pictures.values())}
        coins = []
        for path, address in zip(pictures, own, strict=True):
            said = [str(one) for one in random.choice(STOCK, 4, replace=False)] if stock else [STOCK[0]] * 4
            caption = dict(zip(CAPTION_FACETS, said, strict=True))
            sidecar = {"token_name": "Coin", "ticker": "COIN", "token_address": address, "caption": caption}
            coins.append(Candidate(path.name, sidecar, path))
        library.add(coins)
        library.approve(list(own))
        library.promote(list(own))
        assert set(own) <= set(library.addresses(Filter(tier="library")))
        asked = sorted(set(own.values()))
        found = [library.search(Query((Part(text=name),), top=10, fused=True)).hits for name in asked]
        hits = [
            any(own.get(hit.address) == name for hit in some) for name, some in zip(asked, found, strict=True)
        ]
        print(f"{'stock phrases' if stock else 'one caption'}: {len(asked)} names, {share(np.array(hits))}")
        if with_demo:
            goldens = library.golden.all(collection="demo")
            rows = evaluate(library, goldens=goldens, presets={DEFAULT_PRESET: PRESETS[DEFAULT_PRESET]})
            for row in rows.rows:
                if not row.calibrated:
                    print(f"golden queries, fused: {row.fused}: nDCG@10 {rows.scores(row).ndcg.mean:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--demo", action="store_true")
    chosen = parser.parse_args()
    for stock in (False, True):
        measure(names(chosen.folder), with_demo=chosen.demo, stock=stock)


if __name__ == "__main__":
    main()
