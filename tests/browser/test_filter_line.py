"""The filter line above the grid."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from store.library import Library
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server
from tests.browser.grid_page import GridPage, filled_library
from tests.store.conftest import address, coin


@pytest.fixture(scope="module")
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    def fill(library: Library) -> None:
        library.add([coin(0, tags=["dog", "nsfw"]), coin(1), coin(2, tags=["cat"])])

    with dashboard(filled_library(tmp_path_factory.mktemp("line"), fill)) as server:
        yield server


def test_the_filter_line_narrows_the_grid_and_survives_a_reload(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/pending")
    page.get_by_role("searchbox").fill("tag:dog -tag:nsfw coin")
    expect(grid.cards).to_have_count(1)
    assert grid.addresses() == [address(1)]
    page.wait_for_url("**pending_words=**")
    page.reload()
    expect(grid.cards).to_have_count(1)
    page.get_by_role("searchbox").fill("before:soon")
    expect(page.get_by_text("is no date")).to_be_visible()
    expect(grid.cards).to_have_count(0)


def test_text_typed_before_the_field_loads_is_kept_and_decides_nothing(app: Server, page: Page) -> None:
    held: list[Route] = []
    is_held = True
    page.route("**/TextInput*.js", lambda route: held.append(route) if is_held else route.continue_())
    with page.expect_request("**/TextInput*.js"):
        grid = GridPage(page, f"{app.url}/pending")
    grid.press("/")
    page.keyboard.type("tag:car")
    grid.press("Backspace")
    page.keyboard.type("t")
    is_held = False
    for route in held:
        route.continue_()
    line = page.get_by_label("Words", exact=True)
    expect(line).to_have_value("tag:cat")
    expect(line).to_be_focused()
    expect(grid.cards).to_have_count(1)
    assert grid.addresses() == [address(2)]
    with app.stored() as library:
        assert library.counts()["pending"] == 3
