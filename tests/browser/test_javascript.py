"""Loading the JavaScript modules over a broken connection."""

from playwright.sync_api import Page, Route, expect

from tests.browser.bare_grid import mount
from tests.browser.bare_page import visit


def test_modules_that_fail_to_load_are_requested_again(page: Page) -> None:
    visit(page)
    lost: list[str] = []

    def lose(route: Route) -> None:
        if lost:
            route.fallback()
        else:
            lost.append(route.request.url)
            route.abort()

    page.route("http://dashboard/javascript/**", lose)
    mount(page)
    expect(page.locator(".memedex-grid .card")).to_have_count(3)
    assert len(lost) == 1
