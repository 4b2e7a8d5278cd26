"""Selecting all matching coins, including those on other pages of the grid."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from store.catalog.filters import Filter
from store.library import Library
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server
from tests.browser.grid_page import GridPage, filled_library
from tests.store.conftest import coin
from tests.waiting import eventually

COINS = 70


@pytest.fixture(scope="module")
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    def fill(library: Library) -> None:
        library.add(coin(number) for number in range(COINS))

    with dashboard(filled_library(tmp_path_factory.mktemp("everything"), fill)) as server:
        yield server


def pending(app: Server) -> int:
    with app.stored() as library:
        return library.count(Filter(tier="pending"))


def test_all_matching_coins_are_selected_decided_and_undone_across_pages(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/pending")
    page.get_by_role("button", name="All 70 that match").click()
    expect(page.locator(".chosen-count")).to_have_text("All 70 that match selected")
    expect(page.get_by_role("button", name="Approve 70")).to_be_enabled()
    kept = grid.at()
    grid.press(" ")  # one is excluded
    expect(page.locator(".chosen-count")).to_have_text("69 that match selected")

    page.reload()
    page.get_by_role("button", name="Bring back 69 selected coins").click()
    expect(page.locator(".chosen-count")).to_have_text("69 that match selected")
    grid.press("Shift+A")  # selects, but decides nothing
    assert pending(app) == COINS

    grid.press("a")
    expect(grid.cards).to_have_count(1)
    assert eventually(lambda: pending(app) == 1)
    assert grid.at() == kept
    with app.stored() as library:
        assert library.decisions(limit=1)[0].count == 69

    grid.press("z")
    assert eventually(lambda: pending(app) == COINS)
    expect(grid.cards).to_have_count(60)


def test_changing_the_filter_clears_the_selection(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/pending")
    grid.press("Shift+A")
    expect(page.locator(".chosen-count")).to_have_text("All 70 that match selected")
    page.get_by_role("searchbox").fill("Coin 6")
    expect(page.locator(".chosen-count")).to_have_text("")
    assert pending(app) == COINS
