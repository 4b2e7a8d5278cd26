"""A dropped picture, or one in the folder of trends, becomes a search."""

import os
from base64 import b64encode

import pytest

from components.search import box
from store.library import Library
from tests.browser.coins import picture
from tests.pages.conftest import opened, press, words


def test_a_picture_in_the_trends_folder_becomes_a_search(library: Library) -> None:
    folder = library.layout.memecoins / "trends"
    folder.mkdir()
    (folder / "today.png").write_bytes(picture("green"))
    os.utime(folder / "today.png", (0, 0))
    for number in range(9):  # newer, and as many as the page shows
        (folder / f"broken-{number}.png").write_bytes(b"no picture")
    app = opened("search")
    assert "what do we have like this?" in words(app)
    press(app, "Search")
    assert app.query_params["q"].startswith("picture:")


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [],
        "",
        "data:image/png",
        "data:image/png;base64,ä",
        "data:image/png;base64,\ud800",
        "data:text/html,x",
    ],
)
def test_anything_but_a_picture_is_left_out(sent: object) -> None:
    assert box._picture_bytes(sent) is None


def test_a_picture_arrives_as_its_bytes() -> None:
    assert box._picture_bytes(f"data:image/png;base64,{b64encode(b'bytes').decode()}") == b"bytes"
