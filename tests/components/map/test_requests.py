"""What a map requests beside the page's runs: only what it lacks, and only for pages of this library."""

import base64
import io
import json
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np
from PIL import Image

from components.map.colours import Colours
from components.map.points import PointTable
from components.shell.session import tokens
from store.library import Library
from tests.components.conftest import Client
from tests.store.conftest import address, coin

FRESH = {"version": 0, "colouring": "", "cards": []}


def sheet_of(addresses: Sequence[str]) -> PointTable:
    """A sheet of these coins, in one row, each in the colour of its place."""
    sheet = PointTable("any")
    sheet.update(addresses, np.array([(at, 0) for at, _ in enumerate(addresses)], np.float32), changed=())
    numbers = np.arange(len(addresses), dtype=np.uint8)
    sheet.colour(Colours(addresses, numbers))
    return sheet


def ask(client: Client, library: Library, sheet: str, **has: Any) -> httpx.Response:
    page = {"token": tokens.signed(library, actor="ann@x.org"), "sheet": sheet}
    return client.post("/message/map-points", content=json.dumps({**page, **FRESH, **has}))


def floats(text: str) -> list[float]:
    return np.frombuffer(base64.b64decode(text), np.float32).tolist()


def test_a_map_gets_points_and_colours_once(client: Client, library: Library) -> None:
    sheet = sheet_of([address(0), "elsewhere"])
    first = ask(client, library, sheet.name).json()
    assert np.frombuffer(base64.b64decode(first["rows"]), np.uint32).tolist() == [0, 1]
    assert floats(first["points"]) == [0.0, 0.0, 1.0, 0.0]
    assert list(base64.b64decode(first["colours"])) == [0, 1]
    then = ask(client, library, sheet.name, version=first["version"], colouring=first["colouring"]).json()
    assert then == {"cards": {}}


def test_a_map_gets_the_cards_of_coins_that_exist(client: Client, library: Library) -> None:
    library.add([coin(1)])
    sheet = sheet_of([address(1), "elsewhere"])
    cards = ask(client, library, sheet.name, cards=[1, 0, 7, -1]).json()["cards"]
    assert list(cards) == ["0"]
    assert cards["0"]["name"] == library.get(address(1)).name
    assert "/pictures/" in cards["0"]["picture"]


def test_a_map_without_a_token_or_of_a_session_that_ended_gets_nothing(
    client: Client, library: Library
) -> None:
    sheet = sheet_of([address(0)])
    assert ask(client, library, sheet.name, token="x.y").status_code == 403
    assert ask(client, library, "another").status_code == 404


def test_what_is_no_row_or_version_is_refused(client: Client, library: Library) -> None:
    sheet = sheet_of([address(0)])
    for mistake in ({"cards": ["0"]}, {"cards": [True]}, {"version": -1}, {"version": None}):
        assert ask(client, library, sheet.name, **mistake).status_code == 400


def sprites(
    client: Client, library: Library, sheet: str, rows: list[int], *, clicked: list[int] | None = None,
    **cookies: str,
) -> Image.Image:  # fmt: skip
    token = tokens.signed(library, actor="ann@x.org")
    page = {"token": token, "sheet": sheet, "rows": rows, "clicked": clicked or []}
    answer = client.post("/message/map-sprites", content=json.dumps(page), cookies=cookies)
    assert answer.status_code == 200
    return Image.open(io.BytesIO(answer.content)).convert("RGBA")


def test_small_pictures_come_many_in_one_and_missing_ones_stay_empty(
    client: Client, library: Library
) -> None:
    library.add([coin(1)])
    sheet = sheet_of([address(1), "elsewhere"])
    drawn = sprites(client, library, sheet.name, [1, 0, 9])
    assert drawn.size == (8 * 64, 64)
    alpha = [drawn.getpixel((64 * place + 32, 32))[3] for place in range(3)]  # type: ignore[index]
    assert alpha == [0, 255, 0]


def test_small_pictures_of_unfit_coins_are_blurred_in_safe_mode(client: Client, library: Library) -> None:
    library.add([coin(1)])
    library.flag([address(1)], True)
    sheet = sheet_of([address(1)])
    plain = sprites(client, library, sheet.name, [0]).crop((16, 16, 48, 48))
    hidden = sprites(client, library, sheet.name, [0], memedex_safe="1").crop((16, 16, 48, 48))
    assert detail(hidden) < detail(plain) * 0.7
    clicked = sprites(client, library, sheet.name, [0], clicked=[0], memedex_safe="1").crop((16, 16, 48, 48))
    assert clicked.tobytes() == plain.tobytes()


def detail(image: Image.Image) -> float:
    """How much neighbouring pixels differ."""
    return float(np.abs(np.diff(np.asarray(image.convert("L"), np.float64))).mean())
