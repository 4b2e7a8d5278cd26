"""The share of each named colour in a picture."""

import pytest
from PIL import Image

from store.embedding.colour_shares import COLOURS, shares


@pytest.mark.parametrize("colour", COLOURS)
def test_a_picture_of_one_colour_has_that_colour_alone(colour: str) -> None:
    found = dict(zip(COLOURS, shares(Image.new("RGB", (64, 64), COLOURS[colour])), strict=True))
    assert {name for name, share in found.items() if share} == {colour}
    assert found[colour] == 1


def test_shares_follow_the_area() -> None:
    image = Image.new("RGB", (96, 96), "black")
    image.paste("white", (0, 0, 96, 24))
    found = dict(zip(COLOURS, shares(image), strict=True))
    assert (found["white"], found["black"]) == (0.25, 0.75)
