"""A picture in the folder of trends becomes a search."""

import os

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
