"""Safe mode in a browser: blurred on every page, shown by a click, switched by header and address."""

import re

from playwright.sync_api import Page, expect

from store.library import Library
from tests.browser.dashboard import Server
from tests.browser.grid_page import GridPage
from tests.store.conftest import coin


def fill(library: Library) -> None:
    library.add(coin(number) for number in range(4))


def test_a_flagged_coin_is_blurred_until_it_is_clicked(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/review?safe=1")
    first = grid.addresses()[0]
    name = grid.card(first).locator(".name").inner_text()
    grid.press("Enter")
    grid.panel.get_by_role("button", name="Flag as unfit").click()
    expect(grid.panel.get_by_text("flagged by a person")).to_be_visible()
    grid.expect_settled()
    grid = GridPage(page, f"{app.url}/review")  # the browser stays in safe mode
    picture = grid.card(first).locator("img")
    expect(picture).to_have_attribute("src", re.compile(r"\?unfit=1$"))
    expect(grid.card(first).locator(".name")).to_have_text("Hidden by safe mode")
    expect(grid.card(first).locator(".ticker")).to_have_text("•••")
    grid.card(first).click()
    expect(picture).to_have_attribute("src", re.compile(r"&shown=1$"))
    page.get_by_role("button", name="Menu", exact=True).click()
    switch = page.get_by_role("switch", name="Safe mode")
    expect(switch).to_have_attribute("aria-checked", "true")
    switch.click()
    page.get_by_role("button", name="Menu", exact=True).click()
    expect(page.get_by_role("switch", name="Safe mode")).to_have_attribute("aria-checked", "false")
    expect(grid.card(first).locator(".name")).to_have_text(name)
    with app.stored() as library:
        assert library.unfit.of(first) == {"hand": "flagged by a person"}


def test_a_presented_page_is_larger_safe_and_without_passing_messages(app: Server, page: Page) -> None:
    GridPage(page, f"{app.url}/review?present=1")
    assert page.evaluate("() => getComputedStyle(document.documentElement).fontSize") == "18.5px"
    expect(page.get_by_role("switch", name="Safe mode")).to_have_count(0)
    grid = GridPage(page, f"{app.url}/review")  # the browser goes on presenting
    grid.press("a")
    grid.expect_settled()
    expect(page.locator(".message")).to_be_hidden()
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("switch", name="Present").click()
    page.get_by_role("button", name="Menu", exact=True).click()
    expect(page.get_by_role("switch", name="Present")).to_have_attribute("aria-checked", "false")
    expect(page.get_by_role("switch", name="Safe mode")).to_be_visible()
