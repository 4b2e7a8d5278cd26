"""What is wrong with a picture, found by a filter."""

import random
from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image, ImageDraw, ImageFilter

from store.catalog.filter_conditions import FAULTS
from store.catalog.filter_syntax import parsed
from store.disk.images import SIDE
from store.library import Library
from store.pictures.picture_faults import faults
from store.progress import Progress
from tests.store.conftest import coin
from tests.store.duplicates.copies import coin_with_drawing, drawing


def noisy() -> Image.Image:
    """Many sharp shapes in many colours."""
    image, choice = Image.new("RGB", (SIDE, SIDE), "white"), random.Random(1)
    draw = ImageDraw.Draw(image)
    for _ in range(200):
        x, y, size = (choice.randrange(SIDE), choice.randrange(SIDE), choice.randrange(10, 60))
        draw.rectangle((x, y, x + size, y + size), fill=tuple(choice.randrange(256) for _ in range(3)))
    return image


def enlarged(image: Image.Image, side: int) -> Image.Image:
    return image.resize((side, side), Image.Resampling.LANCZOS).resize((SIDE, SIDE), Image.Resampling.LANCZOS)


def dot() -> Image.Image:
    image = Image.new("RGB", (SIDE, SIDE), "navy")
    ImageDraw.Draw(image).ellipse((240, 240, 300, 300), fill="gold")
    return image


@pytest.mark.parametrize(
    ("image", "found"),
    [
        (noisy(), set()),
        (noisy().resize((32, 32)).resize((SIDE, SIDE), Image.Resampling.NEAREST), set()),  # pixel art
        (Image.new("RGB", (SIDE, SIDE), "tomato"), {"blank"}),
        (dot(), {"plain"}),
        (noisy().filter(ImageFilter.GaussianBlur(2.5)), {"blurred"}),
        (enlarged(noisy(), 40), {"blurred", "tiny"}),
        (enlarged(noisy(), 256), set()),
    ],
    ids=["sharp", "pixel art", "blank", "nearly one colour", "blurred", "tiny", "from 256 pixels"],
)
def test_a_picture_has_the_faults_that_a_person_sees(image: Image.Image, found: set[str]) -> None:
    assert faults(image) == found


def named(library: Library, line: str) -> set[str]:
    query = parsed(line)
    assert not query.faults
    return {record.name for record in library.find(query.filter)}


def test_coins_are_found_by_the_faults_of_their_pictures(library: Library) -> None:
    library.add(
        [
            coin_with_drawing(0, dot(), token_name="Dot"),
            coin_with_drawing(1, Image.new("RGB", (SIDE, SIDE), "teal"), token_name="Blank"),
            coin_with_drawing(2, enlarged(noisy(), 40), token_name="Tiny"),
            coin_with_drawing(3, noisy(), token_name="Sharp"),
        ]
    )
    assert named(library, "faults:yes") == set()
    assert library.picture_faults.look(progress=Progress()) == 4
    assert library.picture_faults.look(progress=Progress()) == 0
    assert named(library, "faults:yes") == {"Dot", "Blank", "Tiny"}
    assert named(library, "faults:plain") == {"Dot"}
    assert named(library, "faults:blurred faults:tiny") == {"Tiny"}
    assert named(library, "-faults:yes") == {"Sharp"}
    assert "faults: takes" in parsed("faults:odd").faults[0]


@pytest.mark.parametrize(("side", "found"), [(40, {"blurred", "tiny"}), (512, {"blurred"})])
def test_the_size_of_the_original_decides_whether_a_picture_is_tiny(
    library: Library, side: int, found: set[str]
) -> None:
    stored = BytesIO()
    enlarged(noisy(), 40).resize((side, side)).save(stored, "PNG")
    library.add([replace(coin(0), picture=stored.getvalue())])
    library.picture_faults.look(progress=Progress())
    assert {fault for fault in FAULTS[1:] if named(library, f"faults:{fault}")} == found
    assert named(library, "width:<64") == ({"Coin 0"} if "tiny" in found else set())


def test_only_new_pictures_are_looked_at_and_a_stop_keeps_what_is_done(library: Library) -> None:
    library.add([coin(number) for number in range(3)])
    stopped = Progress()
    stopped.cancel()
    assert library.picture_faults.look(progress=stopped) == 0
    assert library.picture_faults.look(progress=Progress()) >= 1
    library.add([coin_with_drawing(9, drawing(9))])
    assert library.picture_faults.look(progress=Progress()) == 1
