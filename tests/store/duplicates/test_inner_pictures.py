"""A picture shown in a window or on a phone's screen is found."""

from io import BytesIO

import pytest
from PIL import Image, ImageDraw

from store.duplicates.inner_pictures import inner_pictures
from store.library import Library
from tests.store.conftest import address
from tests.store.duplicates.copies import coin_with_drawing, drawing, matches_of

pytestmark = pytest.mark.usefixtures("without_chroma")


def in_a_window(picture: Image.Image) -> Image.Image:
    window = Image.new("RGB", (800, 640), (236, 238, 242))
    ImageDraw.Draw(window).rectangle((0, 0, 800, 60), fill=(40, 44, 52))
    window.paste(picture.resize((480, 480)), (160, 110))
    return window


def on_a_phone(picture: Image.Image) -> Image.Image:
    phone = Image.new("RGB", (600, 1000), (250, 250, 250))
    pen = ImageDraw.Draw(phone)
    pen.rounded_rectangle((40, 20, 560, 980), 60, fill="black")
    pen.rectangle((60, 90, 540, 910), fill=(245, 245, 245))
    phone.paste(picture.resize((480, 480)), (60, 240))
    return phone


@pytest.mark.parametrize("shown", [in_a_window, on_a_phone])
def test_a_screenshot_is_found_as_a_copy(three_coins: Library, shown) -> None:
    three_coins.add([coin_with_drawing(3, shown(drawing(0)))])
    three_coins.duplicates.examine()
    assert matches_of(three_coins, address(3)) == {address(0): ["near picture"]}
    assert address(3) in three_coins.duplicates.suspicions([address(3)])


def test_a_picture_without_another_inside_has_none() -> None:
    file = BytesIO()
    Image.linear_gradient("L").resize((512, 512)).convert("RGB").save(file, "JPEG")
    assert inner_pictures(file.getvalue()) == []
