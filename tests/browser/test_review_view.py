"""The view of the review grid: the large view, links, pages and words."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from store.catalog.filters import Filter
from store.runtime import open_reader
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server
from tests.browser.delayed_messages import DelayedMessages
from tests.browser.grid_page import GridPage, filled_library
from tests.browser.pending_coins import add_pending


@pytest.fixture(scope="module")
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with dashboard(filled_library(tmp_path_factory.mktemp("review"), add_pending)) as server:
        yield server


@pytest.fixture
def grid(app: Server, page: Page) -> GridPage:
    return GridPage(page, f"{app.url}/pending")


def test_the_text_in_a_picture_is_corrected_in_the_large_view(app: Server, grid: GridPage) -> None:
    first = grid.addresses()[0]
    grid.press("Enter")
    text = grid.viewer.locator(".picture-text")
    text.get_by_role("button", name="Write").click()
    grid.page.keyboard.type("a WEN LAMBO")
    expect(grid.viewer.get_by_text("Imported by")).to_be_visible()
    assert grid.at() == first, "keys are typed, not obeyed"
    grid.page.keyboard.press("Control+Enter")
    expect(text.get_by_text("a WEN LAMBO")).to_be_visible()
    expect(text.get_by_text("Written by a person")).to_be_visible()
    grid.expect_settled()
    with open_reader(app.root) as library:
        assert library.get(first).picture_text == "a WEN LAMBO"
        assert [record.address for record in library.find(Filter(picture_texts=("lambo",)))] == [first]
    grid.press("Escape")
    grid.press("z")
    grid.expect_settled()


def test_a_link_shows_the_same_view(app: Server, page: Page) -> None:
    view = "pending_sort=Oldest&pending_per=24+a+page&pending_page=2"
    grid = GridPage(page, f"{app.url}/pending?{view}")
    with app.stored() as library:
        expected = library.addresses(Filter(tier="pending"))[::-1][24:48]
    assert grid.addresses() == expected
    page.reload()
    expect(grid.cards.first).to_be_visible()
    expect(grid.cards).to_have_count(24)
    assert grid.addresses() == expected
    grid.press("[")
    expect(grid.card(expected[0])).to_have_count(0)
    expect(page).not_to_have_url(re.compile("pending_page=2"))


def test_two_keys_turn_two_pages_though_the_browser_has_not_heard_of_the_first(
    app: Server, page: Page
) -> None:
    held = DelayedMessages(page)
    grid = GridPage(page, f"{app.url}/pending?pending_per=24+a+page")
    with app.stored() as library:
        third = library.addresses(Filter(tier="pending"))[48]
    held.hold()
    grid.press("]", "]")
    held.release()
    expect(grid.card(third)).to_be_visible()
    expect(page).to_have_url(re.compile("pending_page=3"))


def test_words_narrow_the_grid(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/pending?pending_words=onerror")
    expect(grid.cards).to_have_count(1)
    page.get_by_placeholder("words, tag:dog …").fill("no such coin")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(grid.cards).to_have_count(60)
