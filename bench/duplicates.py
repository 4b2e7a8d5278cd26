"""How well copies are recognised, and how fast, as Markdown tables.

    python -m bench.duplicates                        # every demo picture, ten kinds of copies: some minutes
    python -m bench.duplicates --every 4 --embedding offline
    python -m bench.duplicates --only latency --records 100000

Copies are planted: each picture is changed as a copycat would, normalised as on import, and searched among
all originals. A match other than the original counts as false, unless the two originals are one drawing under
two names (as some in the demo library are, on purpose). `../shared/data/tokens` joins in where it exists:
round logos on white, the hardest pictures to tell apart.
"""

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageOps

from store.catalog import rows as catalog_rows
from store.catalog.catalog import Catalog
from store.disk.files import Disk, content_hash
from store.disk.images import normalise
from store.duplicates import fingerprints, inner_pictures, neighbours
from store.duplicates.findings import suspects
from store.duplicates.neighbours import Neighbours
from store.embedding import open_embedder
from store.operations import State
from store.records import sidecar_bytes

ROOT = Path(__file__).resolve().parent.parent
SETS = {
    "demo": sorted((ROOT / "res" / "demo").glob("*.jpg")),
    "logos": sorted((ROOT.parent / "shared" / "data" / "tokens" / "images").glob("*.png")),
}
THRESHOLDS = (32, 40, 48, 56, 64, 72)
COSINES = (0.80, 0.85, 0.90, 0.93, 0.95, 0.97)
SAME_DRAWING = 12  # bits between two originals that are one drawing under two names


def hue_turned(image: Image.Image, degrees: int) -> Image.Image:
    hue, *rest = image.convert("HSV").split()
    turned = hue.point(lambda value: (value + degrees * 256 // 360) % 256)
    return Image.merge("HSV", (turned, *rest)).convert("RGB")


def with_text(image: Image.Image) -> Image.Image:
    image, side = image.copy(), image.width
    pen = ImageDraw.Draw(image)
    write = partial(pen.text, font_size=side // 9, stroke_width=4, stroke_fill="black")
    write((side / 2, side * 0.08), "TO THE MOON", anchor="mt", fill="white")
    write((side / 2, side * 0.92), "OFFICIAL 2.0", anchor="mb", fill="yellow")
    return image


def recompressed(image: Image.Image) -> Image.Image:
    return Image.open(BytesIO(jpg(image, quality=25)))


def cropped(image: Image.Image, *edges: float) -> Image.Image:
    left, upper, right, lower = (round(edge * image.width) for edge in edges)
    return image.crop((left, upper, right, lower))


def in_a_window(image: Image.Image) -> Image.Image:
    window = Image.new("RGB", (800, 640), (236, 238, 242))
    pen = ImageDraw.Draw(window)
    pen.rectangle((0, 0, 800, 60), fill=(40, 44, 52))
    pen.text((20, 18), "pump.site - new coin", font_size=24, fill="white")
    window.paste(image.resize((480, 480)), (160, 110))
    return window


def on_a_phone(image: Image.Image) -> Image.Image:
    phone = Image.new("RGB", (600, 1000), (250, 250, 250))
    pen = ImageDraw.Draw(phone)
    pen.rounded_rectangle((40, 20, 560, 980), 60, fill="black")
    pen.rectangle((60, 90, 540, 910), fill=(245, 245, 245))
    pen.text((80, 110), "12:30", font_size=30, fill="black")
    phone.paste(image.resize((480, 480)), (60, 240))
    pen.text((80, 740), "Buy now before it moons", font_size=34, fill="black")
    return phone


COPIES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "resized to 150 px": lambda image: image.resize((150, 150)),
    "recompressed, quality 25": recompressed,
    "cropped 5 % in all": lambda image: cropped(image, 0.025, 0.025, 0.975, 0.975),
    "cropped 5 % on each side": lambda image: cropped(image, 0.05, 0.05, 0.95, 0.95),
    "cropped 5 % at a corner": lambda image: cropped(image, 0, 0, 0.95, 0.95),
    "cropped 5 % below": lambda image: cropped(image, 0, 0, 1, 0.95),
    "mirrored": ImageOps.mirror,
    "text added, two lines": with_text,
    "hue turned 60°": lambda image: hue_turned(image, 60),
    "hue turned 180°": lambda image: hue_turned(image, 180),
    "border of 5 % added": lambda image: ImageOps.expand(image, image.width // 20, fill=(20, 20, 200)),
    "border of 12 % added": lambda image: ImageOps.expand(image, image.width // 8, fill="white"),
    "cropped 15 % at a corner": lambda image: cropped(image, 0, 0, 0.85, 0.85),
    "turned 4°": lambda image: image.rotate(4, Image.Resampling.BICUBIC, fillcolor="white"),
    "in a window": in_a_window,
    "on a phone": on_a_phone,
    "mirrored, border, recompressed": lambda image: recompressed(
        ImageOps.expand(ImageOps.mirror(image), 40, fill="black")
    ),
}


def jpg(image: Image.Image, *, quality: int) -> bytes:
    file = BytesIO()
    image.convert("RGB").save(file, "JPEG", quality=quality)
    return file.getvalue()


@dataclass
class Originals:
    """One set of pictures as the library stores them, with their metadata."""

    pictures: list[bytes]
    neighbours: Neighbours
    same: set[tuple[int, int]]  # one drawing under two names

    @property
    def images(self) -> list[Image.Image]:
        return [Image.open(BytesIO(picture)).convert("RGB") for picture in self.pictures]


def originals(paths: Sequence[Path]) -> Originals:
    pictures = [normalise(path) for path in paths]
    found = Originals(pictures, Neighbours(), set())
    prints = [fingerprints.fingerprint(picture) for picture in pictures]
    known(found.neighbours, prints)
    for number, print_ in enumerate(prints):
        for near in found.neighbours.near(print_):
            if near.distance <= SAME_DRAWING:
                found.same.add((number, int(near.image_hash)))
    return found


def known(found: Neighbours, prints: Sequence[bytes]) -> None:
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    db.execute("CREATE TABLE fingerprints (number INTEGER PRIMARY KEY, image_hash TEXT, print BLOB)")
    rows = [(str(number), print_) for number, print_ in enumerate(prints)]
    db.executemany("INSERT INTO fingerprints (image_hash, print) VALUES (?, ?)", rows)
    found.refresh(db)
    db.close()


def recognition(name: str, found: Originals) -> None:
    """Recall and precision of each kind of copy at each threshold; the one in use is bold."""
    in_use, neighbours.NEAR = neighbours.NEAR, max(THRESHOLDS)
    head = " | ".join(f"**≤ {bits}**" if bits == in_use else f"≤ {bits}" for bits in THRESHOLDS)
    print(f"\n| {name}, {len(found.pictures)} originals: recall / precision | {head} |")
    print("| --- |" + " --- |" * len(THRESHOLDS))
    total = {bits: [0, 0, 0] for bits in THRESHOLDS}
    for kind, change in COPIES.items():
        counts = {bits: [0, 0, 0] for bits in THRESHOLDS}  # right, false, planted
        for number, image in enumerate(found.images):
            copy = normalise(jpg(change(image), quality=90))
            inner = [
                near
                for inside in inner_pictures.inner_pictures(copy)
                for near in found.neighbours.near(fingerprints.fingerprint(inside))
                if near.distance <= inner_pictures.NEAR
            ]
            distances: dict[int, int] = {}
            for near_print in (*inner, *found.neighbours.near(fingerprints.fingerprint(copy))):
                number_of = int(near_print.image_hash)
                distances[number_of] = min(near_print.distance, distances.get(number_of, near_print.distance))
            for bits in THRESHOLDS:
                near = {other for other, distance in distances.items() if distance <= bits}
                false = {other for other in near if other != number and (number, other) not in found.same}
                for place, more in enumerate((number in near, len(false), 1)):
                    counts[bits][place] += more
                    total[bits][place] += more
        print(f"| {kind} | " + " | ".join(shares(*counts[bits]) for bits in THRESHOLDS) + " |")
    print("| all | " + " | ".join(shares(*total[bits]) for bits in THRESHOLDS) + " |")
    neighbours.NEAR = in_use


def shares(right: int, false: int, planted: int) -> str:
    """ "recall / precision" in per cent."""
    precision = f"{100 * right / (right + false):.0f}" if right + false else "–"
    return f"{100 * right / planted:.0f} / {precision}"


def by_embedding(name: str, found: Originals, model: str) -> None:
    """The same table, by the cosine of two pictures' embeddings."""
    embedder = open_embedder(model)
    vectors = embedder.embed_images(found.images)
    print(f"\n| {name}, embedding `{model}` | " + " | ".join(f"≥ {cosine:.2f}" for cosine in COSINES) + " |")
    print("| --- |" + " --- |" * len(COSINES))
    for kind, change in COPIES.items():
        copies = [
            Image.open(BytesIO(normalise(jpg(change(image), quality=90)))).convert("RGB")
            for image in found.images
        ]
        cosines = embedder.embed_images(copies) @ vectors.T
        cells = []
        for cosine in COSINES:
            near = cosines >= cosine
            right = int(np.diag(near).sum())
            false = sum(
                1 for a, b in zip(*np.nonzero(near), strict=True) if a != b and (a, b) not in found.same
            )
            cells.append(shares(right, false, len(copies)))
        print(f"| {kind} | " + " | ".join(cells) + " |")


def latency(count: int) -> None:
    """Latency for one picture among many: in memory only, and for opening its duplicates."""
    random = np.random.default_rng(0)
    seeds = [fingerprints.fingerprint(normalise(path)) for path in (SETS["demo"][::8] + SETS["logos"][::4])]
    rows = fingerprints.rows(seeds)

    def print_of() -> bytes:
        """A real fingerprint with a quarter of its bits flipped: as similar as real pictures."""
        noise = np.packbits(random.random((fingerprints.VIEWS, 256)) < 0.25, axis=1)
        print_: bytes = (rows[random.integers(len(rows))] ^ noise).tobytes()
        return print_

    with tempfile.TemporaryDirectory() as folder:
        catalog = Catalog(Path(folder) / "catalog.sqlite3", disk=Disk(), writable=True)
        with catalog.writing() as db:
            for number in range(count):
                put(db, number, print_of())
        found = Neighbours()
        with catalog.reading() as db:
            loading = timed(lambda: found.refresh(db))
            prints = [print_of() for _ in range(100)]
            alone = [timed(partial(found.near, print_)) for print_ in prints]
            addresses = [f"0x{int(number):040x}" for number in random.integers(0, count, 100)]

            def ask(address: str) -> None:
                suspects(db, address, near=found.unknown(db, address))

            whole = [timed(partial(ask, one)) for one in addresses]
        catalog.close()
    print(f"\n| among {count:,} records, milliseconds | median | 95th percentile |\n| --- | --- | --- |")
    for what, seconds in (("neighbours of one picture", alone), ("all duplicates of a new record", whole)):
        ranked = sorted(1000 * second for second in seconds)
        print(f"| {what} | {statistics.median(ranked):.0f} | {ranked[int(0.95 * len(ranked))]:.0f} |")
    print(f"| loading the fingerprints, once | {1000 * loading:.0f} | |")


def put(db: sqlite3.Connection, number: int, print_: bytes) -> None:
    """A pending record of this number, by its rows alone."""
    address = f"0x{number:040x}"
    sidecar = {
        "token_name": f"Coin {number % 40_000}",
        "ticker": f"C{number % 5_000}",
        "description": "",
        "token_address": address,
        "created_at": 1_700_000_000 + number,
    }
    content = sidecar_bytes(sidecar)
    db.execute("INSERT INTO sidecars VALUES (?, ?)", [content_hash(content), content.decode()])
    image_hash = content_hash(print_)
    db.execute("INSERT INTO fingerprints (image_hash, print) VALUES (?, ?)", [image_hash, print_])
    state = State("pending", content_hash(content), image_hash)
    catalog_rows.upsert(db, address, state, stats=("", ""), now=0.0, generation=number, embeddings={})


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("recognition", "latency"))
    parser.add_argument("--every", type=int, default=1, help="use each nth picture only")
    parser.add_argument("--embedding", default="", help="also by the cosine of this model")
    parser.add_argument("--records", type=int, default=100_000)
    options = parser.parse_args()
    if options.only != "latency":
        for name, paths in SETS.items():
            if paths:
                found = originals(paths[:: options.every])
                recognition(name, found)
                if options.embedding:
                    by_embedding(name, found, options.embedding)
    if options.only != "recognition":
        latency(options.records)


if __name__ == "__main__":
    main()
