"""Detailed test pictures and the changes that copycats make to them."""

from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageOps

from store.catalog.filters import Filter
from store.disk.images import normalise
from store.importing.candidate import Candidate
from store.reading.reader import Reader
from tests.store.conftest import coin


@cache
def drawing(number: int) -> Image.Image:
    """A few shapes on a two-colour gradient; equal numbers give equal pictures."""
    random = np.random.default_rng(number)
    sky = np.linspace(random.integers(0, 255, 3), random.integers(0, 255, 3), 256).astype(np.uint8)
    image = Image.fromarray(np.repeat(sky[:, None], 256, axis=1))
    pen = ImageDraw.Draw(image)
    for _ in range(12):
        x, y, size = (int(value) for value in random.integers((0, 0, 30), (220, 220, 110)))
        colour = tuple(int(value) for value in random.integers(0, 255, 3))
        if random.random() < 0.5:
            pen.ellipse((x, y, x + size, y + size * 0.7), fill=colour)
        else:
            pen.polygon([(x, y), (x + size, y + size // 3), (x + size // 4, y + size)], fill=colour)
    return image


def with_shifted_hue(image: Image.Image) -> Image.Image:
    hue, *rest = image.convert("HSV").split()
    return Image.merge("HSV", (hue.point(lambda value: (value + 80) % 256), *rest)).convert("RGB")


def with_text(image: Image.Image) -> Image.Image:
    image = image.copy()
    ImageDraw.Draw(image).text(
        (128, 236), "OFFICIAL", anchor="ms", font_size=30, fill="white", stroke_width=2, stroke_fill="black"
    )
    return image


def stickered(image: Image.Image) -> Image.Image:
    """With a sign over three tenths of it."""
    image = image.copy()
    ImageDraw.Draw(image).rectangle((29, 142, 227, 241), fill="#1e9e4a", outline="white", width=3)
    return image


def recompressed(image: Image.Image) -> Image.Image:
    return Image.open(BytesIO(jpg(image, quality=25)))


_DEMO = Path(__file__).resolve().parents[3] / "res" / "demo"
# Two coins of one series, 44 bits apart.
MEDALS = [
    Image.open(_DEMO / f"local-demo-{name}.jpg").resize((256, 256))
    for name in ("emperor-shiba", "moai-ducat")
]

COPIES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "resized": lambda image: image.resize((90, 90)),
    "recompressed": recompressed,
    "cropped all around": lambda image: image.crop((8, 8, 248, 248)),
    "cropped at a corner": lambda image: image.crop((0, 13, 243, 256)),
    "with text": with_text,
    "hue turned": with_shifted_hue,
    "with a border": lambda image: ImageOps.expand(image, 20, fill="navy"),
}


def jpg(image: Image.Image, *, quality: int = 90) -> bytes:
    file = BytesIO()
    image.convert("RGB").save(file, "JPEG", quality=quality)
    return file.getvalue()


def normalised_picture(image: Image.Image) -> bytes:
    """The picture as the library stores it."""
    return normalise(jpg(image))


def coin_with_drawing(number: int, image: Image.Image | None = None, **more: object) -> Candidate:
    """The coin of this number with a detailed picture."""
    plain = coin(number, **more)
    return Candidate(plain.item, plain.sidecar, normalised_picture(image or drawing(number)))


def matches_of(library: Reader, one: str) -> dict[str, list[str]]:
    """How a record matches others, by the address of the other record."""
    return {
        suspect.other: [finding.kind for finding in suspect.findings]
        for suspect in library.duplicates.of(one)
    }


def badges(library: Reader) -> dict[str, str]:
    """The badge of every suspicious record."""
    everybody = library.addresses(Filter())
    return {one: badge.kind for one, badge in library.duplicates.suspicions(everybody).items()}
