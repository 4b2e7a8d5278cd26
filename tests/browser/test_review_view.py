"""The view of the review grid: the large view, links, pages and words."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from store.catalog.filters import Filter
from store.runtime import open_reader
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server
from tests.browser.delayed_messages import DelayedMessages
from tests.browser.grid_page import GridPage, filled_library
from tests.browser.pending_coins import STRANGE, add_pending, tier


@pytest.fixture(scope="module")
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with dashboard(filled_library(tmp_path_factory.mktemp("review"), add_pending)) as server:
        yield server


@pytest.fixture
def grid(app: Server, page: Page) -> GridPage:
    return GridPage(page, f"{app.url}/pending")


def test_an_untrusted_name_is_shown_as_plain_text(app: Server, grid: GridPage) -> None:
    card = grid.cards.filter(has_text="onerror")
    expect(card.locator(".name")).to_have_text(STRANGE)
    card.click()
    grid.press("Enter")
    expect(grid.viewer.locator("h2")).to_contain_text(STRANGE)
    expect(grid.viewer.locator(".description")).to_have_text(STRANGE)
    assert grid.page.evaluate("window.obeyed") is None


def test_the_large_view_draws_no_picture_of_the_coin_before(app: Server, grid: GridPage) -> None:
    grid.press("Enter")
    picture, heading = grid.viewer.locator("img[alt^='Picture of']"), grid.viewer.locator("h2")
    expect(picture).to_be_visible()
    before = heading.inner_text()
    held: list[Route] = []
    grid.page.route("**/pictures/**", lambda one: held.append(one))
    grid.press("ArrowRight")
    expect(heading).not_to_have_text(before)
    expect(picture).to_be_hidden()
    for route in held:
        route.continue_()
    expect(picture).to_be_visible()


def test_deciding_in_the_large_view_moves_to_the_next_coin(app: Server, grid: GridPage) -> None:
    first, second, third = grid.addresses()[:3]
    grid.press("Enter")
    expect(grid.viewer).to_be_visible()
    expect(grid.viewer.get_by_text("Imported by")).to_be_visible()
    grid.press("ArrowRight")
    assert grid.at() == second
    grid.press("a")
    assert grid.at() == third
    expect(grid.viewer).to_be_visible()
    grid.press("Escape")
    expect(grid.viewer).to_be_hidden()
    grid.expect_settled()
    assert (tier(app, first), tier(app, second)) == ("pending", "approved")
    grid.press("z")
    grid.expect_settled()


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


def test_only_a_real_address_links_to_a_block_explorer(grid: GridPage) -> None:
    made_up = next(address for address in grid.addresses() if address.startswith("local-"))
    solana = next(address for address in grid.addresses() if address.startswith("So"))
    for address, links in ((solana, 1), (made_up, 0)):
        grid.card(address).dblclick()
        expect(grid.viewer.get_by_text("Imported by")).to_be_visible()
        link = grid.viewer.get_by_role("link", name=re.compile("Solscan|Etherscan"))
        expect(link).to_have_count(links)
        if links:
            expect(link).to_have_attribute("rel", "noopener noreferrer")
        grid.press("Escape")


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
