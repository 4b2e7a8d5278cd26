"""How well copies are recognised, and how fast, as Markdown tables.

    python -m bench.duplicates                        # every demo picture, ten kinds of copies: some minutes
    python -m bench.duplicates --every 4 --embedding offline
    python -m bench.duplicates --only together        # as badges show them, on pictures not used for choosing
    python -m bench.duplicates --only latency --records 100000

Copies are planted: each picture is changed as a copycat would, normalised as on import, and searched among
all originals. A match other than the original counts as false, unless one of the two originals is a copy of
the other on purpose (`copy_of` in `res/demo/manifest.json`), or both are one drawing under two names.
`../shared/data/tokens` joins in where it exists: round logos on white, the hardest pictures to tell apart.
"""

import argparse
import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from bench.alterations import COPIES, jpg
from bench.duplicate_latency import latency
from store.disk.images import normalise
from store.duplicates import alignment, examiner, fingerprints
from store.duplicates.alignment import Confirmation, PictureViews
from store.duplicates.duplicates import least_cosine
from store.duplicates.fingerprints import NearPrint, Neighbours
from store.embedding import open_embedder
from store.embedding.protocol import Vector

ROOT = Path(__file__).resolve().parent.parent
SETS = {
    "demo": sorted((ROOT / "res" / "demo").glob("*.jpg")),
    "logos": sorted((ROOT.parent / "shared" / "data" / "tokens" / "images").glob("*.png")),
}
THRESHOLDS = (32, 40, 48, 56, 64, 72)
COSINES = (0.80, 0.85, 0.90, 0.93, 0.95, 0.97)
UNCONFIRMED_BITS, UNCONFIRMED_COSINE = 56, 0.90  # what counted without a closer look
SAME_DRAWING = 12  # bits between two originals that are one drawing under two names


@dataclass
class Originals:
    """One set of pictures as the library stores them, with their metadata."""

    pictures: list[bytes]
    neighbours: Neighbours
    same: set[tuple[int, int]]  # one drawing under two names

    @property
    def images(self) -> list[Image.Image]:
        return [Image.open(BytesIO(picture)).convert("RGB") for picture in self.pictures]


class NumberedPictures(Confirmation):
    """Confirmation among originals that are known by their numbers, without a catalog."""

    def __init__(self, pictures: Sequence[bytes]) -> None:
        self._pictures = [alignment.views(picture) for picture in pictures]

    def _of_picture(self, image_hash: str) -> PictureViews:
        return self._pictures[int(image_hash)]

    def _of_record(self, address: str) -> PictureViews:
        return self._of_picture(address)


def copies_on_purpose(paths: Sequence[Path]) -> set[tuple[int, int]]:
    """Pairs of the demo's pictures of which one was made from the other, or both from a third."""
    coins = json.loads((ROOT / "res" / "demo" / "manifest.json").read_text(encoding="utf-8"))["coins"]
    of = {coin["token_address"]: coin["copy_of"] for coin in coins if "copy_of" in coin}
    first = [of.get(path.stem, path.stem) for path in paths]
    every = range(len(first))
    return {(one, other) for one in every for other in every if first[one] == first[other]}


def originals(paths: Sequence[Path]) -> Originals:
    pictures = [normalise(path) for path in paths]
    found = Originals(pictures, Neighbours(), copies_on_purpose(paths))
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
    in_use, fingerprints.NEAR = fingerprints.NEAR, max(THRESHOLDS)
    head = " | ".join(f"**≤ {bits}**" if bits == in_use else f"≤ {bits}" for bits in THRESHOLDS)
    print(f"\n| {name}, {len(found.pictures)} originals: recall / precision | {head} |")
    print("| --- |" + " --- |" * len(THRESHOLDS))
    total = {bits: [0, 0, 0] for bits in THRESHOLDS}
    for kind, change in COPIES.items():
        counts = {bits: [0, 0, 0] for bits in THRESHOLDS}  # right, false, planted
        for number, image in enumerate(found.images):
            copy = normalise(jpg(change(image), quality=90))
            inner = [near for inside in examiner.inner_pictures(copy) for near in near_inside(found, inside)]
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
    fingerprints.NEAR = in_use


def near_inside(found: Originals, inside: bytes) -> list[NearPrint]:
    near = found.neighbours.near(fingerprints.fingerprint(inside))
    return [one for one in near if one.distance <= examiner.INNER_NEAR]


def together(paths: Sequence[Path], *, model: str, number: int) -> None:
    """Fingerprints and embedding, confirmed, as badges show them: copies of some among all originals."""
    found = originals(paths)
    confirmation = NumberedPictures(found.pictures)
    embedder = open_embedder(model)
    vectors = embedder.embed_images(found.images)
    order = sorted(unused(paths), key=lambda place: digest(paths[place])[1:])[:number]
    print(f"\n| {len(order)} of {len(paths)}, unused half: recall / precision | unconfirmed | confirmed |")
    print("| --- | --- | --- |")
    total = [[0, 0, 0], [0, 0, 0]]
    for kind, change in COPIES.items():
        counts = [[0, 0, 0], [0, 0, 0]]
        for place in order:
            with Image.open(BytesIO(found.pictures[place])) as image:
                copy = normalise(jpg(change(image.convert("RGB")), quality=90))
            with Image.open(BytesIO(copy)) as image:
                cosines = vectors @ embedder.embed_images([image.convert("RGB")])[0]
            for which, seen in enumerate(seen_alike(found, confirmation, copy, cosines, least_cosine(model))):
                false = {other for other in seen if (place, other) not in found.same}
                for column, more in enumerate((place in seen, len(false), 1)):
                    counts[which][column] += more
                    total[which][column] += more
        print(f"| {kind} | {' | '.join(shares(*count) for count in counts)} |", flush=True)
    print(f"| all | {' | '.join(shares(*count) for count in total)} |")


def seen_alike(
    found: Originals, confirmation: Confirmation, copy: bytes, cosines: Vector, least: float
) -> tuple[set[int], set[int]]:
    """The numbers of the originals that a copy is taken for: without a closer look, and with one."""
    near = found.neighbours.near(fingerprints.fingerprint(copy))
    close = {str(place): float(cosines[place]) for place in np.flatnonzero(cosines >= least).tolist()}
    believed = {one.image_hash for one in near if one.distance <= UNCONFIRMED_BITS}
    believed |= {name for name, cosine in close.items() if cosine >= UNCONFIRMED_COSINE}
    confirmed = {one.image_hash for one in confirmation.near(copy, near)}
    confirmed |= {*confirmation.similar_to(lambda: alignment.views(copy), close)}
    for inside in examiner.inner_pictures(copy):
        shown = near_inside(found, inside)
        believed |= {one.image_hash for one in shown}
        confirmed |= {one.image_hash for one in confirmation.near(inside, shown)}
    return set(map(int, believed)), set(map(int, confirmed))


def unused(paths: Sequence[Path]) -> list[int]:
    """The half of the pictures, by a hash of their names, on which nothing was chosen."""
    return [place for place, path in enumerate(paths) if digest(path)[0] % 2]


def digest(path: Path) -> bytes:
    return hashlib.sha256(path.stem.encode()).digest()


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("recognition", "together", "latency"))
    parser.add_argument("--every", type=int, default=1, help="use each nth picture only")
    parser.add_argument("--embedding", default="", help="also by the cosine of this model")
    parser.add_argument("--copies", type=int, default=57, help="pictures of `together` that are copied (57)")
    parser.add_argument("--records", type=int, default=100_000)
    options = parser.parse_args()
    if options.only in (None, "together"):
        together(SETS["demo"], model="offline", number=options.copies)
    if options.only in (None, "recognition"):
        for name, paths in SETS.items():
            if paths:
                found = originals(paths[:: options.every])
                recognition(name, found)
                if options.embedding:
                    by_embedding(name, found, options.embedding)
    if options.only in (None, "latency"):
        latency(SETS["demo"][::8] + SETS["logos"][::4], options.records)


if __name__ == "__main__":
    main()
