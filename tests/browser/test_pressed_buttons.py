"""A button that is pressed while news of the server come in is clicked all the same."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.bare_grid import APPROVE, CARDS, decided, mount
from tests.browser.bare_page import give

REJECT = {**APPROVE, "verb": "reject", "label": "Reject", "message": "Rejected {}", "key": "r", "tone": "bad"}


def _matching(count: int) -> dict[str, Any]:
    return {"pages": True, "matching": {"filter": "", "generation": 1, "count": count}}


def _mount(page: Page, **data: Any) -> None:
    mount(page, styled=True, actions=[REJECT], **data)


def _click(button: Locator, page: Page, **news: Any) -> None:
    """Press the mouse on this, take news in, and release it at the same place."""
    button.hover()
    page.mouse.down()
    give(page, **news)
    page.mouse.up()


def test_the_bar_is_fitted_again_while_its_button_is_pressed(page: Page) -> None:
    _mount(page, **_matching(4_000))
    _click(page.locator("[data-verb=reject]"), page, **_matching(999))
    assert decided(page) == ["reject"]
    expect(page.get_by_role("button", name="All 999 that match")).to_be_visible()


def test_a_focused_button_of_the_bar_keeps_the_focus(page: Page) -> None:
    _mount(page, **_matching(4_000))
    page.locator("[data-verb=reject]").focus()
    give(page, **_matching(999))
    expect(page.locator("[data-verb=reject]")).to_be_focused()


def test_a_bar_that_was_folded_unfolds_in_the_old_order(page: Page) -> None:
    _mount(page, **_matching(4_000))
    shown = page.locator(".tools button:visible")
    expect(shown.first).to_be_visible()
    before = shown.all_text_contents()
    for width in (240, 200, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        folded = page.locator(".menu").get_by_text("that match")
        expect(folded).to_have_count(0 if width == 1280 else 1)
    assert shown.all_text_contents() == before


def test_the_large_view_gets_its_details_while_its_button_is_pressed(page: Page) -> None:
    _mount(page)
    page.keyboard.press("Enter")
    detail = {
        "description": "A frog.", "tags": [], "caption": {}, "text": None, "unfit": "", "saysUnfit": False,
        "fields": [], "explorer": None, "mentions": {"label": "X", "href": "/"}, "history": [],
    }  # fmt: skip
    button = page.get_by_role("dialog").get_by_role("button", name="Reject")
    _click(button, page, details={CARDS[0]["address"]: detail})
    assert decided(page) == ["reject"]
