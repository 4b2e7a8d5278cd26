"""How well copies of logos are found by their pictures, as a Markdown table.

    python -m bench.logos FOLDER                 # a folder of logos, PNG, JPG or SVG; some minutes
    python -m bench.logos FOLDER --half 0        # the half that limits were chosen on
    python -m bench.logos FOLDER --sheet wrong.png

Copies of some logos are looked for among all. Halves are made by a hash of each picture. Logos of one drawing
are many among real ones, so what is found beside the original is listed, and drawn on the sheet, for a person
to judge: the table counts it as wrong unless the two originals are found alike themselves.
"""

import argparse
import sqlite3
import time
from collections import defaultdict
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from bench.logo_copies import GROUPS, Change
from store.disk.files import content_hash
from store.disk.images import normalise
from store.duplicates import details
from store.duplicates.alignment import Confirmation
from store.duplicates.details import DetailIndex
from store.duplicates.examiner import Examiner
from store.duplicates.fingerprints import Neighbours, fingerprint

SUFFIXES = (".png", ".jpg", ".svg", ".webp")


class Logos:
    """Logos as a library has them, by the hash of each, without its catalog."""

    def __init__(self, paths: Sequence[Path], folder: Path) -> None:
        self._folder = folder
        db = sqlite3.connect(":memory:")
        db.row_factory = sqlite3.Row
        db.execute("CREATE TABLE fingerprints (number INTEGER PRIMARY KEY, image_hash TEXT, print BLOB)")
        db.execute("CREATE TABLE picture_details (number INTEGER PRIMARY KEY, image_hash TEXT, details BLOB)")
        self.hashes: list[str] = []
        started = time.process_time()
        for path in paths:
            content = normalise(path)
            name = content_hash(content)
            if self.path(name).exists():
                continue
            self.path(name).write_bytes(content)
            self.hashes.append(name)
            found = details.packed(details.details(content))
            db.execute(
                "INSERT INTO fingerprints (image_hash, print) VALUES (?, ?)", [name, fingerprint(content)]
            )
            db.execute("INSERT INTO picture_details (image_hash, details) VALUES (?, ?)", [name, found])
        self.read_in = time.process_time() - started
        neighbours, index = Neighbours(), DetailIndex()
        neighbours.refresh(db)
        index.refresh(db)
        catalog: Any = self
        confirmation = Confirmation(catalog, picture=self.path)
        self._examiner = Examiner(catalog, neighbours, index, confirmation, picture=self.path)

    def row(self, _: str, values: Sequence[str]) -> dict[str, str]:
        """What the catalog says of a picture: here its address is its hash."""
        return {"address": values[0], "image_hash": values[0]}

    def path(self, name: str) -> Path:
        return self._folder / f"{name}.jpg"

    def like(self, content: bytes) -> set[str]:
        found = self._examiner.near(content, fingerprint(content), details.details(content))
        return {one.image_hash for one in found}


def copy_of(content: bytes, change: Change) -> bytes:
    with Image.open(BytesIO(content)) as image:
        changed = change(image.convert("RGB")).convert("RGB")
    file = BytesIO()
    changed.save(file, "JPEG", quality=90)
    return normalise(file.getvalue())


def sheet(pairs: Sequence[tuple[str, str]], logos: Logos, path: Path) -> None:
    """Draw pairs of logos, ten in a row."""
    whole = Image.new("RGB", (10 * 150, max(1, -(-len(pairs) // 10)) * 80), "white")
    for number, pair in enumerate(pairs):
        for place, name in enumerate(pair):
            with Image.open(logos.path(name)) as image:
                whole.paste(image.resize((72, 72)), (number % 10 * 150 + 73 * place, number // 10 * 80))
    whole.save(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", type=int, default=1, choices=(0, 1))
    parser.add_argument("--originals", type=int, default=40, help="logos that are copied (40)")
    parser.add_argument("--sheet", type=Path)
    options = parser.parse_args()
    paths = sorted(path for path in options.folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    with TemporaryDirectory() as folder:
        report(Logos(paths, Path(folder)), options)


def report(logos: Logos, options: argparse.Namespace) -> None:
    half = sorted(name for name in logos.hashes if int(name[:8], 16) % 2 == options.half)
    chosen = half[:: max(1, len(half) // options.originals)][: options.originals]
    print(f"{len(logos.hashes)} logos, {1000 * logos.read_in / len(logos.hashes):.0f} ms each to read them")
    alike = {name: logos.like(logos.path(name).read_bytes()) for name in chosen}
    print(
        "\n| | found | of | beside it | of those unlike the original |\n| --- | ---: | ---: | ---: | ---: |"
    )
    wrong: defaultdict[tuple[str, str], int] = defaultdict(int)
    for group, changes in GROUPS.items():
        counts = [0, 0, 0, 0]
        started, lines = time.process_time(), []
        for kind, change in changes.items():
            here = [0, 0, 0, 0]
            for name in chosen:
                found = logos.like(copy_of(logos.path(name).read_bytes(), change))
                beside = found - {name}
                for other in beside - alike[name]:
                    wrong[name, other] += 1
                for place, more in enumerate((name in found, 1, len(beside), len(beside - alike[name]))):
                    here[place] += more
                    counts[place] += more
            lines.append(f"| {group}: {kind} | " + " | ".join(map(str, here)) + " |")
        each = 1000 * (time.process_time() - started) / counts[1]
        print(f"| **{group}** ({each:.0f} ms each) | " + " | ".join(map(str, counts)) + " |")
        print("\n".join(lines), flush=True)
    pairs = sorted(wrong, key=lambda pair: -wrong[pair])
    print(f"\n{len(pairs)} pairs beside the originals and unlike them: {[wrong[pair] for pair in pairs]}")
    if options.sheet:
        sheet(pairs, logos, options.sheet)


if __name__ == "__main__":
    main()
