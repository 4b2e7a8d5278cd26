"""The tag dialog offers learned tags; each is added only to the coins that probably lack it."""

import json

from playwright.sync_api import Page, expect

from tests.browser.bare_grid import CARDS, mount, visit, written
from tests.browser.test_early_keys import ALL_ACTIONS

FIRST, SECOND, THIRD = (card["address"] for card in CARDS)


def test_an_accepted_suggestion_is_for_the_coins_that_lack_it_alone(page: Page) -> None:
    visit(page)
    answer = {
        "known": [["moon", "theme", 3], ["frog", "animal", 2]], "has": {}, "longest": 50,
        "suggested": [["moon", 0.9, [FIRST, SECOND, THIRD]], ["frog", 0.6, [FIRST, THIRD]]],
    }  # fmt: skip
    page.route("http://dashboard/tags", lambda route: route.fulfill(body=json.dumps(answer)))
    mount(page, actions=ALL_ACTIONS, tags="/tags")
    for _ in range(2):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("n")
    page.get_by_role("button", name="Add frog, 2 coins · 60 %").click()
    page.get_by_role("button", name="Add moon, 3 coins · 90 %").click()
    expect(page.locator(".chip", has_text="frog")).to_contain_text("2 of 3")
    expect(page.get_by_role("group", name="Suggested tags")).to_be_hidden()
    page.keyboard.press("Enter")
    assert [(entry["add"], entry["addresses"]) for entry in written(page)] == [
        (["moon"], [FIRST, SECOND, THIRD]),
        (["frog"], [FIRST, THIRD]),
    ]
