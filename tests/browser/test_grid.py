"""Selecting cards, and double clicks."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from components.grid import APPROVE, CAPTION, REJECT, TAGS
from store.library import Library
from tests.browser.bare_grid import cards, mount, written
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server, wait_until_idle
from tests.browser.grid_page import GridPage, filled_library
from tests.store.conftest import coin

COINS = 30
ACTIONS = [one.as_json() for one in (APPROVE, REJECT, CAPTION, TAGS)]


@pytest.fixture
def grid(page: Page) -> GridPage:
    """The grid alone, with 24 cards."""
    return shown(page)


def shown(page: Page) -> GridPage:
    mount(page, styled=True, actions=ACTIONS, cards=cards(24))
    return GridPage(page)


@pytest.fixture(scope="module")
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    def fill(library: Library) -> None:
        library.add(coin(number) for number in range(COINS))

    with dashboard(filled_library(tmp_path_factory.mktemp("grid"), fill)) as server:
        yield server


@pytest.fixture
def review(app: Server, page: Page) -> GridPage:
    """The grid of a running dashboard."""
    return GridPage(page, f"{app.url}/pending?pending_per=24+a+page")


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
    assert start
    assert end
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


def test_the_selection_spans_pages_and_can_be_restored_after_a_reload(app: Server, review: GridPage) -> None:
    review.press("Space", "ArrowRight", "Space")
    review.press("]")
    expect(review.page.locator(".chosen-count")).to_have_text("2 selected, 2 not on this page")
    again = GridPage(review.page, f"{app.url}/pending?pending_per=24+a+page")
    again.expect_selected(0)
    review.page.get_by_role("button", name="Bring back 2 selected coins").click()
    again.expect_selected(2)


def test_new_words_clear_the_selection_and_start_at_the_first_card(review: GridPage) -> None:
    review.press("End", "Space", "ArrowLeft", "Space")
    review.expect_selected(2)
    review.press("/")
    review.page.keyboard.type("coin")
    review.press("Enter")
    expect(review.page.get_by_role("button", name="Bring back 2 selected coins")).to_be_visible()
    expect(review.cursor).to_be_focused()
    assert review.at() == review.addresses()[0]
    expect(review.page.get_by_role("heading", level=1)).to_be_in_viewport()
    review.expect_selected(0)


def test_a_double_click_on_a_button_decides_one_coin(grid: GridPage) -> None:
    first = grid.at()
    grid.page.locator("[data-verb=approve]").dblclick()
    expect(grid.card(first)).to_have_count(0)
    assert [entry["addresses"] for entry in written(grid.page)] == [[first]]


def test_a_double_click_on_undo_undoes_one_decision(app: Server, review: GridPage) -> None:
    first, second = review.addresses()[:2]
    review.press("a", "a")
    review.expect_settled()
    undo = review.page.locator(".memedex-form").get_by_role("button", name="Undo")
    expect(undo).to_be_enabled()
    undo.dblclick()
    expect(review.page.get_by_text("Undone for 1 coin.")).to_have_count(1)
    expect(review.card(second)).to_have_count(1)
    wait_until_idle(review.page)
    with app.stored() as library:
        assert [library.get(address).tier for address in (first, second)] == ["approved", "pending"]
    review.page.locator(".card.at").focus()
    review.press("z")
    review.expect_settled()


def test_undoing_a_group_leaves_exactly_one_focused_card(grid: GridPage) -> None:
    for number in (5, 3, 4):
        grid.cards.nth(number).click(modifiers=["Control"])
    grid.press("a")
    expect(grid.cards).to_have_count(21)
    grid.press("z")
    expect(grid.cards).to_have_count(24)
    expect(grid.cursor).to_have_count(1)
    expect(grid.cursor).to_be_focused()


def test_pictures_are_loaded_by_signed_addresses_and_a_selection_is_decided_and_undone_as_one(
    app: Server, review: GridPage
) -> None:
    expect(review.page.locator(".card.loaded").first).to_be_visible()
    source = review.cards.first.locator("img").get_attribute("src")
    assert source
    assert source.startswith("/pictures/")
    expect(review.page.locator(".card.broken")).to_have_count(0)
    chosen = review.addresses()[:3]
    for number in range(3):
        review.cards.nth(number).click(modifiers=["Control"])
    expect(review.page.locator("[data-verb=approve]")).to_contain_text("Approve 3")
    review.page.locator("[data-verb=approve]").click()
    review.expect_settled()
    with app.stored() as library:
        assert {library.get(address).tier for address in chosen} == {"approved"}
        assert library.decisions(limit=1)[0].count == 3
    review.press("z")
    review.expect_settled()
    with app.stored() as library:
        assert {library.get(address).tier for address in chosen} == {"pending"}


def test_the_keyboard_help_lists_every_action(grid: GridPage) -> None:
    grid.press("?")
    sheet = grid.page.get_by_role("dialog", name="Keys")
    expect(sheet).to_be_visible()
    for words in ("approve: the selection", "reject: copycat", "undo", "move the cursor"):
        expect(sheet.get_by_text(words).first).to_be_visible()
    grid.press("a", "Escape")
    expect(sheet).to_be_hidden()
    expect(grid.cards).to_have_count(24)
    grid.page.get_by_role("button", name="Keys").click()
    expect(sheet).to_be_visible()
    grid.press("Escape", "Enter")  # acts on the card, not on the button that opened the help
    expect(grid.viewer).to_be_visible()


def test_the_toolbar_is_one_row_and_the_card_size_is_remembered(grid: GridPage) -> None:
    bar = grid.page.get_by_role("toolbar", name="What to do")
    wide = bar.bounding_box()
    grid.page.set_viewport_size({"width": 680, "height": 1000})
    grid.page.get_by_role("button", name="More", exact=True).click()
    expect(bar.get_by_role("button", name="Approve")).to_be_visible()
    narrow = bar.bounding_box()
    assert wide
    assert narrow
    assert narrow["height"] == wide["height"]
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
