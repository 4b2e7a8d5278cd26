"""Make res/models/text-head.npz, by which the model `offline:text` compares texts.

    python -m scripts.make_text_head

Learned from names and WordNet's glosses of 6,000 synsets (timm's lists), with no memory among them.
"""

import hashlib

import numpy as np

from store.embedding.multilingual import UniversalSentenceEncoder
from store.embedding.offline import TEXT_HEAD, OfflineTextEmbedder
from store.embedding.protocol import package_folder, unit

GLOSSES, NAMES = 4_000, 2_000
# Of the mean, which every text has, this share is taken away, and the rest counts so much; other directions
# are divided by their deviation to this power; ridge regression's penalty: docs/models.md.
CENTRED, USUAL, SPREAD, PENALTY = 0.75, 1.3, 0.25, 10.0


def texts() -> list[str]:
    """Names of some synsets and glosses of others, the same each time."""
    folder = package_folder("timm", install="pip install timm") / "data" / "_info"
    lists = [folder / f"imagenet_synset_to_{what}.txt" for what in ("lemma", "definition")]
    names, glosses = (
        dict(line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines()) for path in lists
    )
    chosen = sorted(names, key=lambda synset: hashlib.sha256(synset.encode()).digest())
    some = [names[synset] for synset in chosen[:NAMES]]
    return some + [glosses[synset] for synset in chosen[NAMES : NAMES + GLOSSES]]


def main() -> None:
    """Write the head: what `OfflineTextEmbedder` does with the states of both models."""
    known = texts()
    rows = OfflineTextEmbedder().states(known).astype(np.float64)
    centre = rows.mean(axis=0)
    length = np.linalg.norm(centre)
    usual = centre / length
    covariance = np.cov((rows - centre).T)
    variances, directions = np.linalg.eigh(covariance)
    variances = np.maximum(variances / variances.max(), 1e-4)
    levelled = directions @ np.diag(variances ** (-SPREAD / 2)) @ directions.T
    levelled *= np.sqrt(np.trace(covariance) / np.trace(levelled @ covariance @ levelled.T))
    along = np.outer(usual, usual)
    projection = (np.eye(len(usual)) - along) @ levelled + USUAL * along
    shift = USUAL * (1 - CENTRED) * length * usual
    wanted = unit(((rows - centre) @ projection + shift).astype(np.float32)).astype(np.float64)
    foreign = UniversalSentenceEncoder().embed_texts(known).astype(np.float64)
    languages_centre = foreign.mean(axis=0)
    foreign -= languages_centre
    normal = foreign.T @ foreign + PENALTY * np.eye(foreign.shape[1])
    languages = np.linalg.solve(normal, foreign.T @ (wanted - wanted.mean(axis=0)))
    found = {
        "centre": centre, "projection": projection, "shift": shift,
        "languages_centre": languages_centre, "languages": languages,
    }  # fmt: skip
    np.savez_compressed(TEXT_HEAD, **{name: value.astype(np.float16) for name, value in found.items()})
    print(f"{TEXT_HEAD}  {TEXT_HEAD.stat().st_size:,} bytes of {len(known):,} texts")


if __name__ == "__main__":
    main()
