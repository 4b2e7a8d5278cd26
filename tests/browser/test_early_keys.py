"""Keys pressed before their target has loaded decide nothing."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare_grid import APPROVE, asked, confirm, decided, mount
from tests.browser.bare_page import give, visit

TAGS = {**APPROVE, "verb": "tags", "label": "Tags", "key": "n", "leaves": False, "goes": "dialog"}
CAPTION = {**TAGS, "verb": "caption", "label": "Captions", "key": "e", "single": True, "goes": "elsewhere"}
ALL_ACTIONS = [APPROVE, TAGS, CAPTION]


def test_keys_typed_while_the_page_loads_decide_nothing(page: Page) -> None:
    visit(page)
    page.keyboard.type("/ape")
    mount(page)
    page.keyboard.type("aa")
    assert decided(page) == []
    page.keyboard.press("Escape")  # done with typing
    page.keyboard.press("a")
    assert decided(page) == ["approve"]


def test_keys_typed_after_a_navigation_key_decide_nothing(page: Page) -> None:
    mount(page, actions=ALL_ACTIONS)
    page.keyboard.type("ea zebra")
    assert (asked(page), decided(page)) == (["caption"], [])


def test_text_typed_after_the_tag_key_goes_into_the_tag_field(page: Page) -> None:
    mount(page, actions=ALL_ACTIONS)
    page.keyboard.type("na zebra")
    expect(page.get_by_role("combobox", name="Tags")).to_have_value("a zebra")
    assert decided(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    assert decided(page) == ["approve"]


def test_a_key_pressed_as_the_tag_dialog_closes_acts_on_the_cards(page: Page) -> None:
    mount(page, actions=ALL_ACTIONS)
    page.evaluate(
        "() => document.activeElement.blur()"
    )  # no element has the focus, so the dialog cannot restore it
    page.keyboard.press("n")
    expect(page.get_by_role("combobox", name="Tags")).to_be_focused()
    page.evaluate(
        """() => {
          const focused = () => document.activeElement.shadowRoot?.activeElement ?? document.activeElement;
          for (const key of ["Escape", "a"])
            focused().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
        }"""
    )
    assert decided(page) == ["approve"]


def test_a_key_pressed_while_the_next_page_loads_decides_nothing(page: Page) -> None:
    mount(page, pages=True)
    page.keyboard.type("]]a")
    assert (asked(page), decided(page)) == (["next", "next"], [])
    client = page.evaluate("() => window.told.at(-1).value.client")
    give(page, acted={"client": client, "n": 2}, pages=True)
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    assert decided(page) == ["approve"]


def test_a_cleared_filter_field_blocks_keys_but_a_loading_one_does_not(page: Page) -> None:
    mount(page, line={"field": "pending_words", "says": "ape"})
    page.evaluate(
        """() => document.body.insertAdjacentHTML(
            "afterbegin", '<div class="st-key-pending_words"><input></div>')"""
    )
    page.keyboard.press("a")
    assert decided(page) == ["approve"]
    confirm(page)
    page.locator(".st-key-pending_words input").fill("ape")
    page.locator(".st-key-pending_words input").fill("")
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("a")
    assert decided(page) == []


def test_a_key_pressed_before_new_results_arrive_decides_nothing(page: Page) -> None:
    mount(page, line={"field": "pending_words", "says": ""})
    page.evaluate(
        """() => document.body.insertAdjacentHTML(
            "afterbegin", '<div class="st-key-pending_words"><input value="big ape "></div>')"""
    )
    page.keyboard.press("a")
    assert decided(page) == []
    give(page, line={"field": "pending_words", "says": "big\n ape"})
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    assert decided(page) == ["approve"]


@pytest.mark.parametrize("before", ["approved", "pending?pending_page=2"])
def test_a_key_pressed_while_going_back_decides_nothing(page: Page, before: str) -> None:
    mount(page)
    page.evaluate(
        "(before) => (history.replaceState({}, '', before), history.pushState({}, '', 'pending'))", before
    )
    page.evaluate(
        """async () => {
          await new Promise((there) => (addEventListener("popstate", there), history.back()));
          document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true }));
        }"""
    )
    assert decided(page) == []
    page.keyboard.press("Escape")  # the next key is for these cards
    page.keyboard.press("a")
    assert decided(page) == ["approve"]


@pytest.mark.parametrize(("link", "heard"), [("Approved", []), ("Overview", []), ("Review", ["approve"])])
def test_keys_are_ignored_after_a_link_to_another_page(page: Page, link: str, heard: list[str]) -> None:
    mount(page)
    page.evaluate("() => addEventListener('click', (event) => event.preventDefault())")  # Streamlit's own way
    page.get_by_role("link", name=link).click()
    page.keyboard.press("a")
    assert decided(page) == heard
