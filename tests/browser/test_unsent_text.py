"""A link or a switch that is pressed while a field has unsent text: the press counts, the text stays."""

import re
from collections.abc import Callable

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import TIMEOUT
from tests.browser.dashboard import Server, visit, wait_until_idle

# Address, heading, and the field's name: a filter line, a form, and a question, as the memory has one too.
FIELDS = {
    "review": ("review", "Review", "Words"),
    "golden queries": ("insights?view=Search+quality", "Insights", "Query"),
    "search": ("search", "Search", "Search"),
}
Press = Callable[[Locator], None]


def field(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stMain").locator(f"[aria-label='{name}']:is(input, textarea)").first


def entry(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stSidebar").get_by_role("link", name=name)


def open_page(page: Page, server: Server, where: str) -> None:
    address, title, _ = FIELDS[where]
    visit(page, server, address, title=title)
    wait_until_idle(page)


def enter(page: Page, where: str, press: Press) -> None:
    address, title, _ = FIELDS[where]
    press(entry(page, title))
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
    if "?" in address:
        press(page.get_by_role("navigation", name="Views").get_by_role("link", name="Search quality"))


def type_unsent(page: Page, where: str, text: str) -> None:
    field(page, FIELDS[where][2]).click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def leaves(page: Page, press: Press) -> None:
    press(entry(page, "Activity"))
    expect(page.get_by_role("heading", name="Activity", level=1)).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_role("heading", name="Activity", level=1)).to_be_visible()


def comes_back(page: Page, where: str, text: str, press: Press = Locator.click) -> None:
    _, _, name = FIELDS[where]
    enter(page, where, press)
    expect(field(page, name)).to_have_value(text)


def test_a_quick_click_on_a_link_leaves_every_page_and_keeps_its_text(page: Page, shared: Server) -> None:
    open_page(page, shared, "review")
    for where in FIELDS:
        enter(page, where, Locator.click)
        wait_until_idle(page)
        if where == "search":
            leaves_a_question_that_was_sent(page, where)
        type_unsent(page, where, "frog")
        leaves(page, Locator.click)
        comes_back(page, where, "frog")


def leaves_a_question_that_was_sent(page: Page, where: str) -> None:
    """The text that replaces such a question is kept, and so is that it was cleared."""
    for cleared in (False, True):
        type_unsent(page, where, f"frog and {cleared}")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"frog[+]and[+]{cleared}"))
        wait_until_idle(page)
        type_unsent(page, where, "frog")  # a search gives the focus to its results
        if cleared:
            page.keyboard.press("Escape")
        leaves(page, Locator.click)
        comes_back(page, where, "" if cleared else "frog")


def test_a_tap_on_a_link_leaves_the_page_and_keeps_the_text(browser: Browser, shared: Server) -> None:
    with browser.new_context(has_touch=True, viewport={"width": 1440, "height": 1000}) as context:
        context.set_default_timeout(TIMEOUT)
        page = context.new_page()
        open_page(page, shared, "search")
        type_unsent(page, "search", "frog")
        leaves(page, Locator.tap)
        comes_back(page, "search", "frog", Locator.tap)


def test_a_click_on_the_menu_sends_the_text(page: Page, shared: Server) -> None:
    open_page(page, shared, "search")
    type_unsent(page, "search", "frog")
    page.get_by_role("button", name="Menu", exact=True).click()
    expect(page).to_have_url(f"{shared.url}/search?q=frog")
    expect(field(page, "Search")).to_have_value("frog")
