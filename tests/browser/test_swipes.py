"""A finger that moves across the large picture turns to the next coin or the one before."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare_grid import APPROVE, CARDS, decided, mount


@pytest.fixture
def swiped(page: Page) -> Page:
    """A phone's page with the panel of the first coin."""
    page.set_viewport_size({"width": 390, "height": 844})
    mount(page, styled=True, actions=[APPROVE])
    page.keyboard.press("Enter")
    return page


def swipe(page: Page, x: float, y: float = 0) -> None:
    """Move a finger from the middle of the picture by this many pixels."""
    finger = page.context.new_cdp_session(page)
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    box = page.locator(".panel .frame").bounding_box()
    middle = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [middle]})
    for part in (0.5, 1):
        point = {"x": middle["x"] + part * x, "y": middle["y"] + part * y}
        finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_swipe_turns_to_the_next_coin_and_back(swiped: Page) -> None:
    name = swiped.get_by_role("dialog").get_by_role("heading", level=2)
    expect(name).to_contain_text(str(CARDS[0]["name"]))
    swipe(swiped, -120)
    expect(name).to_contain_text(str(CARDS[1]["name"]))
    swipe(swiped, 120)
    expect(name).to_contain_text(str(CARDS[0]["name"]))
    assert decided(swiped) == []


@pytest.mark.parametrize(("x", "y"), [(-15, 0), (-40, 120)], ids=["short", "downwards"])
def test_another_movement_of_the_finger_stays_at_the_coin(swiped: Page, x: float, y: float) -> None:
    swipe(swiped, x, y)
    expect(swiped.get_by_role("dialog").locator(".place")).to_have_text("1 of 3")
    assert decided(swiped) == []
