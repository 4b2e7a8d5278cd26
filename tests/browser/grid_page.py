"""The grid as a person uses it: its cards, its cursor, its selection."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from store.library import Library
from store.runtime import open_library

SETTLED = "() => !Object.keys(localStorage).some((key) => key.startsWith('memedex-decisions:'))"


def filled_library(root: Path, fill: Callable[[Library], object]) -> Path:
    """Create a library in this folder, fill it with the function, and close it."""
    library = open_library(root)
    fill(library)
    library.close()
    return root


def choose_preset(page: Page, name: str) -> None:
    """Choose weights by their name from the menu of the strip."""
    page.locator(".weights").click()
    page.get_by_role("group", name="Presets").get_by_role("button", name=name).click()


class GridPage:
    """One page with a grid on it, opened if its address is given."""

    def __init__(self, page: Page, address: str = "") -> None:
        self.page = page
        if address:
            page.goto(address)
        expect(self.cards.first).to_be_visible()

    @property
    def cards(self) -> Locator:
        return self.page.locator(".card")

    @property
    def cursor(self) -> Locator:
        return self.page.locator(".card.at")

    @property
    def chosen(self) -> Locator:
        return self.page.locator(".card.chosen")

    @property
    def message(self) -> Locator:
        return self.page.locator(".message")

    @property
    def panel(self) -> Locator:
        return self.page.get_by_role("dialog", name="Coin", exact=True)

    def addresses(self) -> list[str]:
        return self.page.eval_on_selector_all(".card", "cards => cards.map(card => card.dataset.address)")

    def at(self) -> str:
        return str(self.cursor.get_attribute("data-address"))

    def card(self, address: str) -> Locator:
        return self.page.locator(f".card[data-address='{address}']")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def expect_settled(self) -> None:
        """Every decision made here is confirmed by the server."""
        self.page.wait_for_function(SETTLED)

    def expect_selected(self, count: int) -> None:
        expect(self.chosen).to_have_count(count)
        if count:
            expect(self.page.locator(".chosen-count")).to_have_text(re.compile(f"^{count} selected"))
