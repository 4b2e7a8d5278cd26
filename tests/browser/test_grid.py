"""Selecting cards, and double clicks."""

import pytest
from playwright.sync_api import Page, expect

from components.grid.actions import APPROVE, CAPTION, REJECT, TAGS
from tests.browser.bare_grid import cards, mount, written
from tests.browser.grid_page import GridPage

ACTIONS = [one.as_json() for one in (APPROVE, REJECT, CAPTION, TAGS)]


@pytest.fixture
def grid(page: Page) -> GridPage:
    """The grid alone, with 24 cards."""
    return shown(page)


def shown(page: Page) -> GridPage:
    mount(page, styled=True, actions=ACTIONS, cards=cards(24))
    return GridPage(page)


def test_a_plain_click_moves_the_cursor_and_keeps_the_selection(grid: GridPage) -> None:
    grid.press("Control+a")
    grid.expect_selected(24)
    grid.cards.nth(7).click()
    assert grid.at() == grid.addresses()[7]
    grid.expect_selected(24)


def test_control_click_and_the_corner_select_single_cards(grid: GridPage) -> None:
    grid.cards.nth(1).click(modifiers=["Control"])
    grid.cards.nth(4).click(modifiers=["Control"])
    grid.expect_selected(2)
    grid.cards.nth(1).click(modifiers=["Control"])
    grid.expect_selected(1)
    grid.cards.nth(2).hover()
    grid.cards.nth(2).locator(".pick").click()
    grid.expect_selected(2)


def test_shift_click_selects_a_range(grid: GridPage) -> None:
    grid.cards.nth(2).click()
    grid.cards.nth(8).click(modifiers=["Shift"])
    grid.expect_selected(7)


def test_a_drawn_box_adds_the_cards_it_touches(grid: GridPage) -> None:
    grid.cards.nth(23).click(modifiers=["Control"])
    grid.page.evaluate(  # the grid first scrolls to its cursor, once that is painted
        """() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
            .then(() => window.scrollTo(0, 0))"""
    )
    start, end = grid.cards.nth(0).bounding_box(), grid.cards.nth(1).bounding_box()
    grid.page.mouse.move(start["x"] + 20, start["y"] + 60)
    grid.page.mouse.down()
    grid.page.mouse.move(end["x"] + 60, end["y"] + 90, steps=5)
    grid.page.mouse.up()
    grid.expect_selected(3)


def test_space_and_shift_arrows_select_cards(grid: GridPage) -> None:
    grid.press("Space", "ArrowRight", "ArrowRight", "Space")
    grid.expect_selected(2)
    grid.press("Shift+ArrowRight", "Shift+ArrowRight")
    grid.expect_selected(4)


def test_vim_keys_move_like_arrows(grid: GridPage) -> None:
    addresses = grid.addresses()
    grid.press("l", "l", "h")
    assert grid.at() == addresses[1]
    grid.press("j")
    below = grid.at()
    grid.press("ArrowUp")
    assert grid.at() == addresses[1]
    assert addresses.index(below) > 1


def test_a_cleared_selection_can_be_brought_back(grid: GridPage) -> None:
    grid.press("Control+a", "Escape")
    grid.expect_selected(0)
    grid.page.get_by_role("button", name="Bring back 24 selected coins").click()
    grid.expect_selected(24)


def test_a_double_click_on_a_button_decides_one_coin(grid: GridPage) -> None:
    first = grid.at()
    grid.page.locator("[data-verb=approve]").dblclick()
    expect(grid.card(first)).to_have_count(0)
    assert [entry["addresses"] for entry in written(grid.page)] == [[first]]


def test_undoing_a_group_leaves_exactly_one_focused_card(grid: GridPage) -> None:
    for number in (5, 3, 4):
        grid.cards.nth(number).click(modifiers=["Control"])
    grid.press("a")
    expect(grid.cards).to_have_count(21)
    grid.press("z")
    expect(grid.cards).to_have_count(24)
    expect(grid.cursor).to_have_count(1)
    expect(grid.cursor).to_be_focused()


def test_the_keyboard_help_lists_every_action(grid: GridPage) -> None:
    grid.press("?")
    sheet = grid.page.get_by_role("dialog", name="Keys")
    expect(sheet).to_be_visible()
    for words in ("approve: the selection", "reject: copycat", "undo", "move the cursor"):
        expect(sheet.get_by_text(words).first).to_be_visible()
    grid.press("a", "Escape")
    expect(sheet).to_be_hidden()
    expect(grid.cards).to_have_count(24)
    grid.page.get_by_role("button", name="Menu", exact=True).click()
    grid.page.get_by_role("button", name="Keys").click()
    expect(sheet).to_be_visible()
    grid.press("Escape", "Enter")  # acts on the card, not on the button that opened the help
    expect(grid.panel).to_be_visible()


def test_the_toolbar_is_one_row_and_the_card_size_is_remembered(grid: GridPage) -> None:
    bar = grid.page.get_by_role("toolbar", name="What to do")
    wide = bar.bounding_box()
    grid.page.set_viewport_size({"width": 680, "height": 1000})
    grid.page.get_by_role("button", name="Menu", exact=True).click()
    expect(bar.get_by_role("button", name="Approve")).to_be_visible()
    assert bar.bounding_box()["height"] == wide["height"]
    grid.page.get_by_role("button", name="Large cards").click()
    grid.page.set_viewport_size({"width": 1440, "height": 1000})
    large = int(grid.cards.first.evaluate("card => card.offsetWidth"))
    assert large >= 248
    grid.page.reload()
    expect(shown(grid.page).cards.first).to_have_js_property("offsetWidth", large)


def test_the_grid_is_exposed_to_assistive_technology(grid: GridPage) -> None:
    cells = grid.page.get_by_role("grid", name="Coins").get_by_role("gridcell")
    expect(cells).to_have_count(24)
    expect(cells.nth(0)).to_have_attribute("aria-selected", "false")
    expect(cells.nth(0)).to_have_attribute("aria-colindex", "1")
    grid.press("Space")
    expect(cells.nth(0)).to_have_attribute("aria-selected", "true")
