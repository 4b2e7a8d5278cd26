"""Choosing all that match, also on pages nobody has turned to."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from store.catalog.filters import Filter
from store.library import Library
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server
from tests.browser.grid_page import GridPage, filled
from tests.store.conftest import coin
from tests.waiting import eventually

COINS = 70


@pytest.fixture
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    def fill(library: Library) -> None:
        library.add(coin(number) for number in range(COINS))

    with dashboard(filled(tmp_path_factory.mktemp("everything"), fill)) as server:
        yield server


def pending(app: Server) -> int:
    with app.stored() as library:
        return library.count(Filter(tier="pending"))


def test_all_that_match_are_chosen_on_every_page_decided_and_taken_back(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/pending")
    page.get_by_role("button", name="All 70 that match").click()
    expect(page.locator(".chosen-count")).to_have_text("All 70 that match selected")
    expect(page.get_by_role("button", name="Approve 70")).to_be_enabled()
    kept = grid.at()
    grid.press(" ")  # one is taken out
    expect(page.locator(".chosen-count")).to_have_text("69 that match selected")

    page.reload()
    page.get_by_role("button", name="Bring back 69 selected coins").click()
    expect(page.locator(".chosen-count")).to_have_text("69 that match selected")
    grid.press("Shift+A")  # chooses, and decides nothing
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


def test_the_choice_goes_with_the_filter_it_was_made_by(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/pending")
    grid.press("Shift+A")
    expect(page.locator(".chosen-count")).to_have_text("All 70 that match selected")
    page.get_by_role("searchbox").fill("Coin 6")
    expect(page.locator(".chosen-count")).to_have_text("")
    assert pending(app) == COINS
