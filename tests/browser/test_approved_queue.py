"""The approved queue: ready coins go into the library, the others say what is missing."""

import re

import pytest
from playwright.sync_api import Page, expect

from store.library import Library
from tests.browser.dashboard import Server
from tests.browser.grid_page import GridPage
from tests.store.conftest import address, coin, written
from tests.waiting import eventually

READY, BARE, FAILING = 8, 9, 10


def fill(library: Library) -> None:
    library.add(coin(number) for number in range(11))
    library.approve([address(number) for number in range(5, 11)])
    library.caption(address(READY), caption=written("a frog"))


@pytest.fixture
def grid(app: Server, page: Page) -> GridPage:
    return GridPage(page, f"{app.url}/approved")


def test_only_captioned_coins_are_promoted(app: Server, grid: GridPage) -> None:
    expect(grid.card(address(READY)).locator(".mark")).to_have_text("ready")
    expect(grid.card(address(BARE)).locator(".mark")).to_have_text("needs caption")
    for number in (READY, BARE):
        grid.card(address(number)).click(modifiers=["Control"])
    grid.press("p")
    expect(grid.card(address(BARE)).locator(".reason")).to_contain_text("write entity and context")
    expect(grid.card(address(READY))).to_have_count(0)
    assert eventually(lambda: app.tier(address(READY)) == "library")
    assert app.tier(address(BARE)) == "approved"
    expect(grid.page.get_by_role("button", name=re.compile("1 promoted"))).to_be_visible()


def test_undo_restores_coins_moved_back_to_review_or_deleted(app: Server, grid: GridPage) -> None:
    grid.card(address(5)).click()
    grid.press("b")
    grid.card(address(6)).click()
    grid.press("x")
    grid.expect_settled()
    assert app.tiers(address(5), address(6)) == ["pending", "trash"]
    grid.press("z", "z")
    grid.expect_settled()
    assert app.tiers(address(5), address(6)) == ["approved", "approved"]
    expect(grid.card(address(5))).to_be_visible()


def test_the_caption_editor_opens_on_the_coin_under_the_cursor(grid: GridPage) -> None:
    grid.card(address(BARE)).click()
    grid.press("e")
    expect(grid.page).to_have_url(re.compile(f"/captions.*address={address(BARE)}"))
    expect(grid.page.get_by_role("heading", name="Captions", level=1)).to_be_visible()


def test_a_failed_write_brings_the_card_back(app: Server, grid: GridPage) -> None:
    folder = app.root / "memecoins" / "operations"
    folder.rename(folder.with_name("moved away"))
    folder.write_text("where a folder should be")
    grid.card(address(FAILING)).click()
    grid.press("b")
    reason = grid.card(address(FAILING)).locator(".reason")
    expect(reason).not_to_be_empty()
    expect(grid.message).to_contain_text(reason.inner_text(), ignore_case=True)
    expect(grid.message).to_have_css("white-space", "normal")  # long reasons wrap
    folder.unlink()
    folder.with_name("moved away").rename(folder)
    grid.card(address(FAILING)).click()
    grid.press("b")
    grid.expect_settled()
    assert app.tier(address(FAILING)) == "pending"


def tags(app: Server, *numbers: int) -> list[list[str]]:
    with app.stored() as library:
        return [library.get(address(number)).tags for number in numbers]


def test_tags_are_edited_by_keyboard_without_losing_keystrokes(app: Server, grid: GridPage) -> None:
    for number in (5, 6):
        grid.card(address(number)).click(modifiers=["Control"])
    grid.page.keyboard.type("nmoonwalk")  # without a pause: the field is there immediately
    dialog = grid.page.get_by_role("dialog", name="Tags")
    expect(dialog).to_contain_text("Tags of 2 coins")
    expect(dialog.get_by_role("combobox")).to_be_focused()
    expect(dialog.get_by_role("combobox")).to_have_value("moonwalk")
    expect(dialog.get_by_role("option", selected=True)).to_have_text("“moonwalk”new tag")
    grid.press("Enter")
    expect(dialog.locator(".chip.added")).to_contain_text("moonwalk")
    assert tags(app, 5) == [["dog"]]
    grid.press("Enter")
    expect(dialog).to_be_hidden()
    expect(grid.cursor).to_be_focused()
    grid.expect_settled()
    assert tags(app, 5, 6, 7) == [["dog", "moonwalk"], ["dog", "moonwalk"], ["dog"]]

    # Typed faster than the server sends the tags: a prefix completes to its tag, a minus removes a tag.
    grid.page.keyboard.type("ncapyb\n-moon\n")
    expect(dialog.locator(".chip.removed")).to_contain_text("moonwalk")
    grid.press("Enter")
    grid.expect_settled()
    assert tags(app, 5, 6, 7) == [["dog", "capybara"], ["dog", "capybara"], ["dog"]]
    grid.press("z", "z")
    grid.expect_settled()
    assert tags(app, 5, 6) == [["dog"], ["dog"]]
