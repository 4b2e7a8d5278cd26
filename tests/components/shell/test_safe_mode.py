"""Safe mode: pictures of flagged coins are served blurred, on every page."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from components.shell import pictures, presenter, safe_mode
from store.library import Library
from tests.components.conftest import Client
from tests.store.conftest import address

FIRST = address(0)
SAFE = {"Cookie": f"{safe_mode.SWITCH.cookie}=1"}


@pytest.fixture
def link(library: Library) -> str:
    library.flag([FIRST], True)
    return pictures.address(library, library.get(FIRST).image_hash)


def detail(content: bytes) -> float:
    """How much neighbouring pixels differ at most."""
    pixels = np.asarray(Image.open(BytesIO(content)).convert("L")).astype(int)
    return float(np.abs(np.diff(pixels, axis=1)).max())


def test_a_flag_changes_the_address_so_that_no_cache_shows_the_picture(library: Library) -> None:
    before = pictures.address(library, library.get(FIRST).image_hash)
    library.flag([FIRST], True)
    assert pictures.address(library, library.get(FIRST).image_hash) == f"{before}?unfit=1"
    library.undo()
    assert pictures.address(library, library.get(FIRST).image_hash) == before


def test_a_flagged_picture_is_blurred_in_safe_mode_alone(client: Client, link: str) -> None:
    plain = client.get(link)
    hidden = client.get(link, headers=SAFE)
    assert detail(plain.content) > 1.5 * detail(hidden.content)
    assert Image.open(BytesIO(hidden.content)).size == Image.open(BytesIO(plain.content)).size
    assert hidden.headers["cache-control"] == plain.headers["cache-control"] == "no-store"


def test_a_clicked_picture_is_shown(client: Client, link: str) -> None:
    assert client.get(f"{link}&shown=1", headers=SAFE).content == client.get(link).content


def test_other_pictures_stay_as_they_are(client: Client, library: Library) -> None:
    other = pictures.address(library, library.get(address(1)).image_hash)
    answer = client.get(other, headers=SAFE)
    assert answer.content == client.get(other).content
    assert "immutable" in answer.headers["cache-control"]


def test_a_browser_that_presents_is_in_safe_mode(client: Client, link: str) -> None:
    hidden = client.get(link, headers={"Cookie": f"{presenter.SWITCH.cookie}=1"})
    assert hidden.content == client.get(link, headers=SAFE).content
