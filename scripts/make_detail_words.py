"""Make res/models/details.npz: the words by which details are found (store/duplicates/details.py).

    python -m scripts.make_detail_words --pictures FOLDER

FOLDER holds pictures as the library stores them: 512 px, JPG. The words are the means of 2,048 groups of
their details, the directions an arbitrary rotation; both are the same each time.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from store.duplicates.details import WORDS, details

COUNT, SIGNS = 2048, 64
MOST = 100  # details of one picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, required=True)
    paths = sorted(parser.parse_args().pictures.glob("*.jpg"))
    found = np.concatenate([details(path.read_bytes()).descriptors[:MOST] for path in paths])
    groups = MiniBatchKMeans(COUNT, batch_size=4096, n_init=1, max_iter=15, random_state=0).fit(found)
    words = np.rint(groups.cluster_centers_.clip(0, 1) * 255).astype(np.uint8)
    turned, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(128, 128)))
    np.savez_compressed(WORDS, words=words, directions=turned[:, :SIGNS].astype(np.float16))
    print(f"{len(found):,} details of {len(paths)} pictures; {WORDS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
