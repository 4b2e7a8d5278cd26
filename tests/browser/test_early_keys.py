"""Keys that come before what they mean is there: they decide nothing, whatever is typed on."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare_grid import APPROVE, confirm, decided, give, mount, visit

TAGS = {**APPROVE, "verb": "tags", "label": "Tags", "key": "n", "leaves": False, "goes": "dialog"}
CAPTION = {**TAGS, "verb": "caption", "label": "Captions", "key": "e", "single": True, "goes": "elsewhere"}
WAYS = [APPROVE, TAGS, CAPTION]


def test_what_is_typed_while_the_page_loads(page: Page) -> None:
    visit(page)
    page.keyboard.type("/ape")
    mount(page)
    page.keyboard.type("aa")
    assert decided(page) == []
    page.keyboard.press("Escape")  # done with typing
    page.keyboard.press("a")
    assert decided(page) == ["approve"]


def test_what_is_typed_for_what_a_key_opens(page: Page) -> None:
    mount(page, actions=WAYS)
    page.keyboard.type("ea zebra")
    assert decided(page) == ["caption"]


def test_what_is_typed_after_the_key_for_tags_stands_in_their_field(page: Page) -> None:
    mount(page, actions=WAYS)
    page.keyboard.type("na zebra")
    expect(page.get_by_role("combobox", name="Tags")).to_have_value("a zebra")
    assert decided(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    assert decided(page) == ["approve"]


def test_a_key_in_the_very_frame_in_which_the_tag_dialog_closes_is_for_the_cards(page: Page) -> None:
    mount(page, actions=WAYS)
    page.evaluate(
        "() => document.activeElement.blur()"
    )  # nothing has the focus that the dialog could give back
    page.keyboard.press("n")
    expect(page.get_by_role("combobox", name="Tags")).to_be_focused()
    page.evaluate(
        """() => ["Escape", "a"].forEach((key) =>
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))"""
    )
    assert decided(page) == ["approve"]


def test_a_key_after_a_turned_page_is_for_its_cards(page: Page) -> None:
    mount(page, pages=True)
    page.keyboard.type("]]a")
    assert decided(page) == ["next", "next"]
    confirm(page, 2)
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    assert decided(page) == ["approve"]


def test_a_field_that_is_empty_while_it_loads_asks_nothing_and_one_that_was_emptied_does(page: Page) -> None:
    mount(page, line={"field": "pending_words", "says": "ape"})
    page.evaluate(
        """() => document.body.insertAdjacentHTML(
            "afterbegin", '<div class="st-key-pending_words"><input></div>')"""
    )
    page.keyboard.press("a")
    assert decided(page) == ["approve"]
    confirm(page, 1)
    page.locator(".st-key-pending_words input").fill("ape")
    page.locator(".st-key-pending_words input").fill("")
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("a")
    assert decided(page) == []


def test_a_key_after_other_words_is_for_what_they_find(page: Page) -> None:
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
def test_a_key_after_the_way_back_is_for_what_it_leads_to(page: Page, before: str) -> None:
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
    page.keyboard.press("Escape")  # it was meant for these
    page.keyboard.press("a")
    assert decided(page) == ["approve"]


@pytest.mark.parametrize(("link", "heard"), [("Approved", []), ("Overview", []), ("Review", ["approve"])])
def test_a_key_after_a_link_is_for_its_page(page: Page, link: str, heard: list[str]) -> None:
    mount(page)
    page.evaluate("() => addEventListener('click', (event) => event.preventDefault())")  # Streamlit's own way
    page.get_by_role("link", name=link).click()
    page.keyboard.press("a")
    assert decided(page) == heard
