"""The browser's Back button leads to what was there before the last click or key, in one press."""

from playwright.sync_api import Page, expect

from tests.browser.coins import UNCAPTIONED
from tests.browser.dashboard import Server, visit, wait_until_idle


def test_one_press_leads_back_from_a_page_that_adds_to_its_address(page: Page, shared: Server) -> None:
    visit(page, shared, "activity", title="Activity")
    wait_until_idle(page)
    expect(page.locator("html")).to_have_attribute("data-history", "kept")
    before = page.evaluate("history.length")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Captions").click()
    expect(page).to_have_url(f"{shared.url}/captions?address={UNCAPTIONED.address}")
    wait_until_idle(page)
    assert page.evaluate("history.length") == before + 1
    page.go_back()
    expect(page.get_by_role("heading", name="Activity", level=1)).to_be_visible()
    expect(page).to_have_url(f"{shared.url}/activity")
    assert page.evaluate("() => /native code/.test(history.pushState)")


def test_each_question_of_a_search_is_a_place_to_go_back_to(page: Page, shared: Server) -> None:
    visit(page, shared, "search", title="Search")
    line = page.get_by_role("searchbox", name="Search")
    first = page.get_by_role("gridcell").first
    asked = {"sad cat": "Sad Cat", "dog in a space suit": "Moon Dog", "green frog": "Rainy Frog"}
    for words, found in asked.items():
        line.fill(words)
        line.press("Enter")
        expect(first).to_contain_text(found)
        wait_until_idle(page)
    for words, found in list(asked.items())[-2::-1]:
        page.go_back()
        expect(line).to_have_value(words)
        expect(first).to_contain_text(found)
        wait_until_idle(page)


def test_each_view_of_a_page_has_an_address_to_go_back_to(page: Page, shared: Server) -> None:
    visit(page, shared, "library", title="Library")
    wait_until_idle(page)
    views = page.get_by_role("navigation", name="Views")
    current = views.locator("[aria-current=page]")
    for name in ("Rejected", "All"):
        views.get_by_role("link", name=name).click()
        expect(page).to_have_url(f"{shared.url}/library?tab={name}")
        expect(current).to_contain_text(name)
        wait_until_idle(page)
    for name, query in (("Rejected", "?tab=Rejected"), ("Library", "")):
        page.go_back()
        expect(page).to_have_url(f"{shared.url}/library{query}")
        expect(current).to_contain_text(name)
        wait_until_idle(page)
