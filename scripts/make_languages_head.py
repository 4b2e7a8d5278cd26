"""Make res/models/languages-head.npz, by which the model `offline` reads other languages than English.

    python scripts/make_languages_head.py FILE

FILE holds texts whose variation is kept, one a line; docs/models.md says which.
"""

import sys
from pathlib import Path

import numpy as np

from store.embedding.multilingual import UniversalSentenceEncoder
from store.embedding.offline import HALF, LANGUAGES_HEAD

SPREAD = 0.5  # the directions are divided by their deviation to this power: docs/models.md


def main() -> None:
    """The mean of the texts (512,), and their principal directions (512, 384)."""
    texts = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    rows = UniversalSentenceEncoder().embed_texts(texts).astype(np.float64)
    centre = rows.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov((rows - centre).T))  # ascending
    variances, directions = variances[::-1][:HALF], directions[:, ::-1][:, :HALF]
    projection = directions / (variances / variances[0]) ** (SPREAD / 2)
    half = np.float16
    np.savez_compressed(LANGUAGES_HEAD, centre=centre.astype(half), projection=projection.astype(half))
    print(f"{LANGUAGES_HEAD}  {LANGUAGES_HEAD.stat().st_size:,} bytes of {len(texts):,} texts")


if __name__ == "__main__":
    main()
