"""The approved queue: what is ready goes into the library, what is not says what it lacks."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from store.library import Library
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server
from tests.browser.grid_page import GridPage, filled
from tests.store.conftest import address, coin, written

READY, BARE = 8, 9


@pytest.fixture
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    def fill(library: Library) -> None:
        library.add(coin(number) for number in range(10))
        library.approve([address(number) for number in range(5, 10)])
        library.caption(address(READY), caption=written("a frog"))

    with dashboard(filled(tmp_path_factory.mktemp("approved"), fill)) as server:
        yield server


@pytest.fixture
def grid(app: Server, page: Page) -> GridPage:
    return GridPage(page, f"{app.url}/approved")


def tier(app: Server, number: int) -> str:
    with app.stored() as library:
        return library.get(address(number)).tier


def test_only_what_is_captioned_is_promoted(app: Server, grid: GridPage) -> None:
    expect(grid.card(address(READY)).locator(".mark")).to_have_text("ready")
    expect(grid.card(address(BARE)).locator(".mark")).to_have_text("needs caption")
    for number in (READY, BARE):
        grid.card(address(number)).click(modifiers=["Control"])
    grid.press("p")
    expect(grid.card(address(BARE)).locator(".reason")).to_contain_text("needs entity and context")
    expect(grid.card(address(READY))).to_have_count(0)
    assert (tier(app, READY), tier(app, BARE)) == ("library", "approved")
    expect(grid.page.get_by_role("button", name=re.compile("1 promoted"))).to_be_visible()


def test_sent_back_and_deleted_coins_return_by_undo(app: Server, grid: GridPage) -> None:
    grid.card(address(5)).click()
    grid.press("b")
    grid.card(address(6)).click()
    grid.press("x")
    grid.expect_settled()
    assert (tier(app, 5), tier(app, 6)) == ("pending", "trash")
    grid.press("z", "z")
    grid.expect_settled()
    assert (tier(app, 5), tier(app, 6)) == ("approved", "approved")
    expect(grid.card(address(5))).to_be_visible()


def test_the_caption_editor_opens_on_the_coin_under_the_cursor(grid: GridPage) -> None:
    grid.card(address(BARE)).click()
    grid.press("e")
    expect(grid.page).to_have_url(re.compile(f"/captions.*address={address(BARE)}"))
    expect(grid.page.get_by_role("heading", name="Captions", level=1)).to_be_visible()


def test_a_decision_that_the_disk_refuses_brings_the_card_back(app: Server, grid: GridPage) -> None:
    folder = app.root / "memecoins" / "operations"
    folder.rename(folder.with_name("moved away"))
    folder.write_text("where a folder should be")
    grid.card(address(5)).click()
    grid.press("b")
    expect(grid.card(address(5)).locator(".reason")).to_be_visible()
    expect(grid.said).to_contain_text("refused")
    expect(grid.said).to_have_css("white-space", "normal")  # long reasons wrap
    folder.unlink()
    folder.with_name("moved away").rename(folder)
    grid.card(address(5)).click()
    grid.press("b")
    grid.expect_settled()
    assert tier(app, 5) == "pending"


def test_tags_are_given_to_what_is_chosen_by_one_key(app: Server, grid: GridPage) -> None:
    for number in (5, 6):
        grid.card(address(number)).click(modifiers=["Control"])
    grid.press("n")
    dialog = grid.page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 coins")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    grid.press("n")
    field = dialog.get_by_role("combobox").first
    field.fill("moonwalk")
    field.press("Enter")
    expect(dialog).to_contain_text("belongs to other")
    dialog.get_by_text("2 coins").click()  # the list of tags may still lie open above the button
    dialog.get_by_role("button", name="Apply").click()
    expect(dialog).to_have_count(0)
    expect(grid.card(address(5))).to_contain_text("moonwalk")
    with app.stored() as library:
        assert [library.get(address(number)).tags for number in (5, 6, 7)] == [
            ["dog", "moonwalk"], ["dog", "moonwalk"], ["dog"],
        ]  # fmt: skip
    grid.press("z")
    grid.expect_settled()
    with app.stored() as library:
        assert library.get(address(6)).tags == ["dog"]
