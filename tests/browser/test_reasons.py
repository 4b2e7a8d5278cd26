"""Reasons for rejecting, by mouse and touch."""

from playwright.sync_api import Page, expect

from tests.browser.bare_grid import APPROVE, mount, written

REJECT = {
    **APPROVE,
    "verb": "reject",
    "label": "Reject",
    "message": "Rejected {}",
    "key": "r",
    "reasons": ["copycat", "not a meme"],
}


def test_a_coin_is_rejected_with_a_reason_from_the_menu(page: Page) -> None:
    mount(page, actions=[APPROVE, REJECT])
    page.get_by_role("button", name="Reject with a reason").click()
    page.get_by_role("button", name="not a meme").click()
    expect(page.locator(".message")).to_contain_text("Rejected Coin 0: not a meme")
    assert [(entry["verb"], entry["reason"]) for entry in written(page)] == [("reject", "not a meme")]
    page.get_by_role("button", name="Reject with a reason").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="not a meme")).to_be_hidden()
