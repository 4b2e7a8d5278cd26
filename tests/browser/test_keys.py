"""Where single keys act, and how they are changed and switched off."""

from playwright.sync_api import Page, expect

from tests.browser.bare_grid import APPROVE, decided, mount

REJECT = {**APPROVE, "verb": "reject", "label": "Reject", "key": "r"}


def test_single_keys_act_on_the_cards_alone_and_as_they_are_set(page: Page) -> None:
    mount(page, actions=[APPROVE, REJECT], undoable=True)
    page.get_by_role("link", name="Approved").focus()
    page.keyboard.press("r")
    assert decided(page) == []
    page.locator(".card.at").focus()
    page.keyboard.press("r")
    assert decided(page) == ["reject"]
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("button", name="Change a: approve").click()
    page.keyboard.press("r")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    assert decided(page) == ["reject", "approve"]
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("button", name="Change z: undo").click()
    page.keyboard.press("q")
    undo = page.get_by_role("button", name="Undo", exact=True, include_hidden=True)
    expect(undo).to_have_attribute("title", "Undo (q)")
    page.get_by_role("checkbox", name="Single keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    assert decided(page) == ["reject", "approve"]
    page.get_by_role("button", name="Reject").click()
    assert decided(page) == ["reject", "approve", "reject"]
