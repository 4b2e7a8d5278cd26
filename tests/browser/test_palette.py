"""Ctrl+K and `g`: every place, coin and verb by a few keys."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.coins import FROG, PENDING
from tests.browser.dashboard import Server, visit, wait_until_idle


def palette(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Go to, find, do")


def arrive(page: Page, server: Server, path: str, title: str) -> None:
    """Open a page, and wait until its palette listens."""
    visit(page, server, path, title=title)
    expect(page.get_by_role("button", name="Go to, find, do")).to_be_visible()


def test_a_place_and_a_view_are_reached_by_a_few_letters(page: Page, shared: Server) -> None:
    arrive(page, shared, "review", "Review")
    page.keyboard.press("Control+k")
    expect(palette(page).get_by_role("combobox")).to_be_focused()
    page.keyboard.type("insi")
    expect(palette(page).get_by_role("option")).to_have_text([re.compile("^Insights")])
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Insights")
    wait_until_idle(page)
    page.keyboard.press("/")
    expect(palette(page).get_by_role("combobox")).to_be_focused()
    page.keyboard.type("rejected")
    expect(palette(page).get_by_role("option").first).to_contain_text("Rejected coins")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/library\\?tab=Rejected"))


def test_a_button_of_the_page_is_pressed_by_its_name_and_presenting_turned_on_and_off(
    page: Page, shared: Server
) -> None:
    arrive(page, shared, "insights", "Insights")
    expect(page.get_by_role("button", name="CSV").first).to_be_visible()
    wait_until_idle(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("csv")
    with page.expect_download():
        page.keyboard.press("Enter")

    expect(page.get_by_role("switch", name="Present")).to_have_count(0)
    page.keyboard.press("Control+k")
    page.keyboard.type("present")
    expect(palette(page).get_by_role("option").first).to_contain_text("Present: on")
    page.keyboard.press("Enter")
    expect(page.get_by_role("switch", name="Present")).to_have_attribute("aria-checked", "true")
    page.get_by_role("switch", name="Present").click()
    expect(page.get_by_role("heading", name="Insights", level=1)).to_be_visible()
    expect(page.get_by_role("switch", name="Present")).to_have_count(0)


def test_g_and_a_letter_go_to_a_place_and_what_is_typed_into_it_decides_nothing(
    page: Page, shared: Server
) -> None:
    arrive(page, shared, "review", "Review")
    page.keyboard.press("Control+k")
    page.keyboard.type("r")  # what is typed there decides nothing
    page.keyboard.press("Escape")
    expect(palette(page)).to_be_hidden()

    expect(page.get_by_role("gridcell")).to_have_count(1)
    for letters, place in (("gl", "Library"), ("gr", "Review"), ("g,", "Settings")):
        page.keyboard.type(letters)
        expect(page.get_by_role("heading", level=1)).to_have_text(place)
        wait_until_idle(page)
        if place != "Settings":
            expect(page.get_by_role("gridcell").first).to_be_visible()
            page.keyboard.press("Escape")  # cards take a key so soon after another for text, until this
    assert shared.tier(PENDING.address) == "pending"


def test_the_key_after_the_one_that_closes_it_is_not_taken_for_text_and_a_coin_is_opened_where_it_is(
    page: Page, shared: Server
) -> None:
    arrive(page, shared, "", "Home")
    for key in ("Enter", "Escape"):
        page.keyboard.press("Control+k")
        expect(palette(page).get_by_role("combobox")).to_be_focused()
        is_in_field = page.evaluate(
            """(key) => {
                const options = { key, bubbles: true, composed: true, cancelable: true };
                const { activeElement } = document;
                const field = activeElement?.shadowRoot?.activeElement;
                field?.dispatchEvent(new KeyboardEvent("keydown", options));
                return document.activeElement?.shadowRoot?.activeElement === field;
            }""",
            key,
        )
        assert not is_in_field
        expect(palette(page)).to_be_hidden()

    for coin, place in ((FROG, "Library"), (PENDING, "Review")):
        page.keyboard.press("Control+k")
        page.keyboard.type(coin.name)
        expect(palette(page).get_by_role("option").first).to_contain_text(coin.name)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(place)
        expect(page.get_by_role("gridcell", name=re.compile(coin.name))).to_be_visible()
