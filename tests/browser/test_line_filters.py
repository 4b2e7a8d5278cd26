"""The filter line: a mistyped filter shows nothing, and the browser completes what is typed."""

from playwright.sync_api import Page, expect

from tests.browser.coins import PENDING
from tests.browser.dashboard import Server
from tests.browser.grid_page import GridPage


def test_an_unknown_filter_shows_no_cards_and_keys_decide_nothing(shared: Server, page: Page) -> None:
    grid = GridPage(page, f"{shared.url}/review")
    grid.press("/")
    page.keyboard.type("ta")
    expect(page.locator("datalist option[value='tag:']")).to_be_attached()
    page.keyboard.type("g:do")
    expect(page.locator("datalist option[value='tag:dog']")).to_be_attached()
    page.keyboard.press("Control+a")
    page.keyboard.type("tagg:dog")
    expect(page.get_by_text("Unknown filter 'tagg'. Did you mean tag:?")).to_be_visible()
    expect(grid.cards).to_have_count(0)
    grid.press("Enter")
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    grid.press("Shift+A", "r")
    grid.expect_settled()
    assert shared.tier(PENDING.address) == "pending"

    page.get_by_placeholder("words, tag:dog …").fill("tag:frgo")
    page.get_by_role("button", name="Use tag:frog").click()
    expect(page.get_by_role("button", name="Use")).to_have_count(0)
    page.get_by_placeholder("words, tag:dog …").fill("tagg:dog")
    page.get_by_role("button", name="Use tag:dog").click()
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(grid.cards).to_have_count(1)
