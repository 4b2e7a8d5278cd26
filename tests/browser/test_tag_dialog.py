"""The tag dialog offers learned tags; each is added only to the coins that probably lack it."""

from playwright.sync_api import Page, Request, Route, expect

from tests.browser.bare_grid import CARDS, mount, written
from tests.browser.bare_page import visit
from tests.browser.test_early_keys import ALL_ACTIONS

KNOWN = {"known": [["moon", "theme", 3], ["frog", "animal", 2]], "has": {}, "longest": 50}
FIRST, SECOND, THIRD = (card["address"] for card in CARDS)


def test_an_accepted_suggestion_is_for_the_coins_that_lack_it_alone(page: Page) -> None:
    visit(page)
    answer = {
        "known": [["moon", "theme", 3], ["frog", "animal", 2]], "has": {}, "longest": 50,
        "suggested": [["moon", 0.9, [FIRST, SECOND, THIRD]], ["frog", 0.6, [FIRST, THIRD]]],
    }  # fmt: skip
    page.route("http://dashboard/message/tags", lambda route: route.fulfill(json=answer))
    mount(page, actions=ALL_ACTIONS)
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


def test_apply_counts_although_suggestions_move_it_while_it_is_pressed(page: Page) -> None:
    held = _open(page)
    page.keyboard.type("frog")
    page.keyboard.press("Enter")
    apply = page.get_by_role("button", name="Apply")
    apply.hover()
    before = apply.bounding_box()
    page.mouse.down()
    held["suggest"].fulfill(json={**KNOWN, "suggested": [["moon", 0.9, [FIRST]]]})
    expect(page.get_by_role("group", name="Suggested tags")).to_be_visible()
    assert apply.bounding_box()["y"] - before["y"] > before["height"] / 2, "the pointer is no longer above it"
    page.mouse.up()
    expect(page.get_by_role("dialog", name="Tags")).to_be_hidden()
    assert [entry["add"] for entry in written(page)] == [["frog"]]


def test_a_press_of_apply_that_is_dragged_away_applies_nothing(page: Page) -> None:
    _open(page)
    page.keyboard.type("frog")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Apply").hover()
    page.mouse.down()
    page.get_by_role("heading", name="Tags of Coin 0").hover()
    page.mouse.up()
    expect(page.get_by_role("dialog", name="Tags")).to_be_visible()
    assert written(page) == []


def test_apply_counts_before_the_known_tags_have_come(page: Page) -> None:
    held = _open(page, holds="known")
    page.keyboard.type("frog")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Apply").click()
    held["known"].fulfill(json=KNOWN)
    expect(page.get_by_role("dialog", name="Tags")).to_be_hidden()
    assert [entry["add"] for entry in written(page)] == [["frog"]]


def _open(page: Page, *, holds: str = "suggest") -> dict[str, Route]:
    """Open the dialog for the first coin; the requests of this kind wait for the test to answer them."""
    held = dict[str, Route]()

    def kind(request: Request) -> str:
        return "suggest" if '"suggest":true' in (request.post_data or "") else "known"

    def answer(route: Route) -> None:
        if kind(route.request) == holds:
            held[holds] = route
        else:
            route.fulfill(json={**KNOWN, "suggested": []})

    visit(page)
    page.route("http://dashboard/message/tags", answer)
    mount(page, styled=True, actions=ALL_ACTIONS)
    with page.expect_request(lambda request: kind(request) == holds):
        page.keyboard.press("n")
    return held
