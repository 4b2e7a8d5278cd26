"""Safe mode: pictures of flagged coins are served blurred, on every page."""

import json
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from components.grid.cards import card
from components.grid.coin import detail
from components.shell.page.undo import sentence
from components.shell.server import pictures
from components.shell.session import presenter, safe_mode
from components.shell.session.presenter import BrowserSwitch
from store.library import Library
from tests.components.conftest import Client
from tests.store.conftest import address

FIRST = address(0)
SAFE = {"Cookie": f"{safe_mode.SWITCH.cookie}=1"}


@pytest.fixture
def link(library: Library) -> str:
    library.flag([FIRST], True)
    return pictures.address(library, library.get(FIRST).image_hash)


def contrast(content: bytes) -> float:
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
    assert contrast(plain.content) > 1.5 * contrast(hidden.content)
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


def cookies(*switches: BrowserSwitch) -> dict[str, str]:
    return {switch.cookie: "1" for switch in switches}


@pytest.mark.parametrize("switch", [safe_mode.SWITCH, presenter.SWITCH])
def test_a_flagged_coin_has_no_name_ticker_or_text_in_safe_mode(
    library: Library, switch: BrowserSwitch
) -> None:
    library.flag([FIRST], True)
    library.comment([FIRST], "see *X*", actor="ann")
    record, unfit = library.get(FIRST), library.unfit.pictures()
    told = [record.name, record.ticker, record.description]
    with presenter.request(cookies(switch)):
        shown = json.dumps(
            [card(library, record, unfit=unfit), detail(library, library.get(FIRST)), called(library)]
        )
        other = card(library, library.get(address(1)), unfit=unfit)
    assert [text for text in told if text and f'"{text}"' in shown] == []
    assert safe_mode.HIDDEN in shown
    assert "see" not in shown
    assert called(library) == "commented on Coin 0: “see \\*X\\*”"
    assert other["name"] == library.get(address(1)).name
    with presenter.request({}):
        assert card(library, record, unfit=unfit)["name"] == record.name
    assert library.get(FIRST) == record, "what is stored stays as it is"


def test_the_word_that_flags_a_coin_is_not_quoted_in_safe_mode(library: Library) -> None:
    library.unfit.edit_words(added=[library.get(FIRST).name])
    with presenter.request(cookies(safe_mode.SWITCH)):
        assert detail(library, library.get(FIRST))["unfit"] == "a word of the list"
    with presenter.request({}):
        assert "“coin 0” in the name" in detail(library, library.get(FIRST))["unfit"]


def called(library: Library) -> str:
    """What History says of the last decision."""
    return sentence(library, library.decisions(limit=1)[0])
