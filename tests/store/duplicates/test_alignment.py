"""A copy agrees with its original nearly everywhere; pictures of one series agree in their frame alone."""

import pytest
from PIL import Image, ImageOps

from store.duplicates.alignment import (
    LEAST_AGREEMENT,
    agreement,
    is_covered,
    tile,
    views,
)
from store.errors import BadPicture
from tests.store.duplicates.copies import COPIES, MEDALS, drawing, normalised_picture, stickered


def agreement_of(one: Image.Image, other: Image.Image) -> float:
    return agreement(views(normalised_picture(one)), views(normalised_picture(other)))


CROPPED = {
    "corner cut by 15 %": lambda image: image.crop((0, 0, 218, 218)),
    "turned by 4°": lambda image: image.rotate(4, Image.Resampling.BICUBIC, fillcolor="white"),
}


@pytest.mark.parametrize("change", [*COPIES, *CROPPED])
def test_a_copy_agrees_with_its_original(change: str) -> None:
    copy = (COPIES | CROPPED)[change](drawing(0))
    assert agreement_of(copy, drawing(0)) >= LEAST_AGREEMENT
    assert agreement_of(drawing(0), copy) >= LEAST_AGREEMENT


def test_pictures_of_one_series_do_not() -> None:
    assert agreement_of(*MEDALS) < LEAST_AGREEMENT


def test_what_shows_beside_a_sticker_is_the_same_and_in_a_series_the_ground_is_as_well() -> None:
    pictures = (stickered(drawing(3)), drawing(3), *MEDALS)
    stuck, original, *medals = (tile(normalised_picture(one)) for one in pictures)
    assert is_covered(stuck, original)
    assert not is_covered(original, original)
    assert not is_covered(*medals)


def test_other_pictures_do_not_and_a_mirrored_one_only_mirrored() -> None:
    assert agreement_of(drawing(0), drawing(1)) < LEAST_AGREEMENT
    turned = views(normalised_picture(ImageOps.mirror(drawing(0))))
    assert agreement(turned, views(normalised_picture(drawing(0)))) < LEAST_AGREEMENT
    assert agreement(turned.mirrored(), views(normalised_picture(drawing(0)))) >= LEAST_AGREEMENT


def rectangle(side: int, *, at: tuple[int, int], colour: str, background: str) -> Image.Image:
    """A plain picture of 200 pixels, with a plain square."""
    image = Image.new("RGB", (200, 200), background)
    image.paste(colour, (*at, at[0] + side, at[1] + side))
    return image


def test_pictures_with_hardly_any_content_agree_with_nothing() -> None:
    one = rectangle(21, at=(29, 6), colour="#c5afd7", background="#a4fef2")
    other = rectangle(34, at=(64, 186), colour="#6bdd0a", background="#608437")
    assert agreement_of(one, other) < LEAST_AGREEMENT
    assert agreement_of(one, one) >= LEAST_AGREEMENT


def test_a_plain_picture_agrees_with_nothing() -> None:
    assert agreement_of(Image.new("RGB", (256, 256), "gray"), drawing(0)) == 0.0


def test_a_damaged_picture_is_refused() -> None:
    with pytest.raises(BadPicture, match="damaged"):
        views(b"no picture")
