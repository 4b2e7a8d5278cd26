"""Where single keys act, and how they are changed and switched off."""

import re

from playwright.sync_api import Page, expect

from tests.browser.bare_grid import APPROVE, decided, mount, posted, written
from tests.store.conftest import address

REJECT = {**APPROVE, "verb": "reject", "label": "Reject", "key": "r"}


def test_single_keys_act_on_the_cards_alone_and_as_they_are_set(page: Page) -> None:
    mount(page, actions=[APPROVE, REJECT], undoable=True)
    page.get_by_role("link", name="Approved").focus()
    page.keyboard.press("r")
    assert decided(page) == []
    page.locator(".card.at").focus()
    page.keyboard.press("r")
    assert decided(page) == ["reject"]
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("button", name="Change a: approve").click()
    page.keyboard.press("r")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    assert decided(page) == ["reject", "approve"]
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("button", name="Change z: undo").click()
    page.keyboard.press("q")
    expect(page.locator(".menu").get_by_role("button", name="Undo", include_hidden=True)).to_have_text(
        "Undoq"
    )
    page.get_by_role("checkbox", name="Single keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    assert decided(page) == ["reject", "approve"]
    page.get_by_role("button", name="Reject").click()
    assert decided(page) == ["reject", "approve", "reject"]


def test_a_key_acts_on_the_card_that_was_focused_by_other_means(page: Page) -> None:
    mount(page, actions=[APPROVE, REJECT], undoable=True)
    last = page.get_by_role("gridcell").last
    last.focus()
    expect(last).to_have_class(re.compile(r"\bat\b"))
    expect(page.locator(".card.at")).to_have_count(1)
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")  # the browser focuses the card from which the panel was opened
    expect(page.get_by_role("gridcell").nth(1)).to_have_class(re.compile(r"\bat\b"))
    expect(page.get_by_role("gridcell").nth(1)).to_be_focused()
    page.keyboard.press("r")
    logs = posted(page)[-1]["entries"]
    assert [entry["addresses"] for entry in logs] == [[address(1)]]


def test_shift_a_selects_all_that_match_when_they_fit_on_one_page(page: Page) -> None:
    mount(page, actions=[APPROVE], undoable=True)
    page.locator(".card.at").focus()
    page.keyboard.press("Shift+A")
    cards = page.get_by_role("gridcell")
    expect(page.locator("[role=gridcell][aria-selected=true]")).to_have_count(cards.count())


def test_the_sheet_says_on_what_each_action_acts(page: Page) -> None:
    like = {**APPROVE, "verb": "like", "label": "More like this", "key": "m", "single": True, "leaves": False}
    mount(page, actions=[APPROVE, like])
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("button", name="Keys").click()
    expect(page.get_by_text("approve: the selection, or the card under the cursor")).to_be_visible()
    expect(page.get_by_text("more like this: the card under the cursor", exact=True)).to_be_visible()


def test_shortcuts_are_off_while_somebody_types(page: Page) -> None:
    mount(page, actions=[APPROVE, REJECT])
    page.evaluate("() => document.body.insertAdjacentHTML('afterbegin', '<input>')")
    field = page.get_by_role("textbox")
    field.click()
    for key in ("a", "r", "x", "z", "?", "Space", "Control+a"):
        page.keyboard.press(key)
        expect(field).to_be_focused()
    expect(page.locator(".card.chosen")).to_have_count(0)
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    assert decided(page) == []


def test_a_key_held_down_decides_once(page: Page) -> None:
    mount(page)
    for _ in range(6):
        page.keyboard.down("a")  # Playwright sends the later ones as repeats
    page.keyboard.up("a")
    assert [entry["addresses"] for entry in written(page)] == [[address(0)]]


def test_a_digit_rejects_for_its_reason(page: Page) -> None:
    mount(page, actions=[APPROVE, {**REJECT, "reasons": ["copycat", "scam"]}])
    page.keyboard.press("2")
    assert [(entry["verb"], entry["reason"]) for entry in written(page)] == [("reject", "scam")]


def test_a_decision_and_its_undo_show_before_the_server_confirms_them(page: Page) -> None:
    mount(page)
    cards, cursor = page.get_by_role("gridcell"), page.locator(".card.at")
    page.keyboard.press("a")
    expect(cards).to_have_count(2)
    expect(cursor).to_have_attribute("data-address", address(1))
    page.keyboard.press("z")
    expect(cards).to_have_count(3)
    expect(cursor).to_have_attribute("data-address", address(0))
