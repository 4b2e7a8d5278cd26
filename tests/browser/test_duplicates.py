"""Duplicates: the badge, the comparison, and a verdict that stays until it is undone."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from store.library import Library
from tests.browser.bare_grid import APPROVE, decided, mount, written
from tests.browser.dashboard import Server
from tests.browser.grid_page import GridPage
from tests.store.conftest import address
from tests.store.duplicates.copies import coin_with_drawing, drawing

RUN = {"looks": "for copies"}
ORIGINAL, COPY, OTHER = address(0), address(1), address(2)


def fill(library: Library) -> None:
    library.add(
        [
            coin_with_drawing(0),
            coin_with_drawing(1, drawing(0).resize((90, 90)), token_name="С0in 0"),
            coin_with_drawing(2),
        ]
    )
    library.approve([ORIGINAL])
    library.duplicates.examine()


def badge(grid: GridPage, one: str) -> Locator:
    return grid.card(one).locator(".twin-badge")


def test_a_verdict_given_by_key_stays_until_it_is_undone(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/review")
    expect(badge(grid, COPY)).to_have_text("copy of Coin 0")
    expect(badge(grid, OTHER)).to_be_hidden()
    badge(grid, COPY).click()
    beside = page.get_by_role("dialog", name="Comparison")
    expect(beside.get_by_role("heading")).to_have_text("С0in 0 and 1 possible duplicate")
    expect(beside.locator("mark.disguise").first).to_have_attribute("title", re.compile("cyrillic capital"))
    expect(beside.get_by_text("in approved")).to_be_visible()
    expect(beside.get_by_text("No visible difference")).to_be_visible()
    pills = beside.locator(".pill.warn")
    expect(pills.first).to_have_text(re.compile(r"^nearly the same picture · \d+ %$"))
    expect(pills.nth(1)).to_have_text("names look alike")
    expect(beside.get_by_text(re.compile(r"\d+ %"))).to_have_count(1)  # one figure, for one thing
    grid.press("c")
    expect(beside.get_by_role("button", name="Copy of the other")).to_have_attribute("aria-pressed", "true")
    grid.expect_settled()
    with app.stored() as library:
        [message] = library.duplicates.judgements(COPY)
        assert (message.verdict, message.other) == ("copy of", ORIGINAL)
    expect(beside.get_by_role("button", name="Reject as a copycat")).to_be_visible()
    grid.press("Escape")
    expect(badge(grid, COPY)).to_be_hidden()
    again = GridPage(page, f"{app.url}/review")
    expect(badge(again, COPY)).to_be_hidden()
    again.press("z")
    expect(badge(again, COPY)).to_be_visible()
    assert app.counts() == {"pending": 2, "approved": 1, "library": 0, "trash": 0}


def other(number: int) -> dict[str, Any]:
    """A coin that another is compared with."""
    name = f"Coin {number}"
    return {
        "address": address(number), "name": name, "names": [[[name]], [[name]]], "tickers": [[], []],
        "tier": "library", "place": "Library", "since": "", "picture": "", "large": "",
        "findings": ["same ticker"], "figure": None, "letters": False, "verdict": None, "judged_by": "",
        "fields": [],
    }  # fmt: skip


DETAIL: dict[str, Any] = {
    "description": "", "tags": [], "caption": {}, "text": None, "unfit": "", "saysUnfit": False,
    "fields": [], "explorer": None, "mentions": {"label": "", "href": "/"}, "history": [],
    "family": None, "comments": [],
}  # fmt: skip
COINS = {ORIGINAL: {"detail": DETAIL, "comparison": {"others": [other(1), other(2)], "count": 2}}}
REJECT = {**APPROVE, "verb": "reject", "label": "Reject", "key": "r", "reasons": ["copycat"]}


def test_a_reason_key_rejects_the_compared_coin_from_its_panel(page: Page) -> None:
    mount(page, styled=True, actions=[REJECT], coins=COINS)
    grid = GridPage(page)
    grid.card(address(2)).click(modifiers=["Control"])
    grid.card(ORIGINAL).dblclick()
    grid.panel.get_by_role("button", name="Same ticker").first.click()
    expect(page.get_by_role("dialog", name="Comparison").get_by_text("Is it a copy?")).to_be_visible()
    page.keyboard.press("1")
    expect(page.get_by_role("dialog", name="Comparison")).to_be_hidden()
    [entry] = written(page)
    assert (entry["verb"], entry["addresses"], entry["reason"]) == ("reject", [ORIGINAL], "copycat")


def test_a_viewer_can_compare_but_not_judge(page: Page) -> None:
    mount(page, actions=[], undoable=False, coins=COINS)
    page.keyboard.press("d")
    expect(page.get_by_role("dialog", name="Comparison").get_by_text("Is it a copy?")).to_be_hidden()
    expect(page.get_by_role("dialog", name="Comparison").get_by_text("Coin 1").first).to_be_visible()
    expect(page.get_by_role("button", name="Different")).to_have_count(0)
    page.keyboard.press("u")
    page.keyboard.press("c")
    assert decided(page) == []


def test_a_copycat_can_be_rejected_while_other_pairs_wait_for_a_verdict(page: Page) -> None:
    mount(page, actions=[REJECT], coins=COINS)
    page.keyboard.press("d")
    beside = page.get_by_role("dialog", name="Comparison")
    reject = beside.get_by_role("button", name="Reject as a copycat")
    expect(beside.get_by_text("Is it a copy?")).to_be_visible()
    expect(reject).to_be_hidden()
    page.keyboard.press("c")
    expect(beside.get_by_text("Is it a copy?")).to_be_visible()  # the other pair
    reject.click()
    expect(beside).to_be_hidden()
    assert decided(page)[-1] == "reject"
