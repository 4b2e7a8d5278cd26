"""A window of 800 px: what stands beside the navigation is shown whole."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.coins import FROG
from tests.browser.dashboard import Server, visit

SOLANA = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"


def is_whole(shown: Locator) -> bool:
    expect(shown).to_be_visible()
    return bool(shown.evaluate("node => node.scrollWidth <= node.clientWidth + 1"))  # both are rounded


def test_hints_views_and_addresses_are_shown_whole(page: Page, shared: Server) -> None:
    page.set_viewport_size({"width": 800, "height": 1000})
    visit(page, shared, "memory", title="Memory")
    assert is_whole(page.get_by_role("navigation", name="Views"))
    visit(page, shared, f"captions?address={FROG.address}", title="Captions")
    hints = page.locator(".facet .asks")
    expect(hints).to_have_count(4)
    assert all(is_whole(hint) for hint in hints.all())
    visit(page, shared, f"review?pending_sort=Like+one+coin&pending_like={SOLANA}", title="Review")
    address = page.get_by_role("textbox", name="Coin", exact=True)
    expect(address).to_have_value(SOLANA)
    assert is_whole(address)
