"""The panel of one coin, beside the cards and enlarged; its address."""

import re
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, Route, expect

from components.grid.actions import APPROVE
from components.grid.cards import card
from components.grid.coin import comparison, detail
from store.catalog.filters import Filter
from store.library import Library
from store.runtime import open_reader
from tests.browser.bare_grid import decided, mount, written
from tests.browser.bare_page import give, visit
from tests.browser.coins import PENDING
from tests.browser.dashboard import Server, wait_until_idle
from tests.browser.grid_page import GridPage, filled_library
from tests.store.conftest import address, coin

STRANGE = '<img src=x onerror="window.obeyed = true"> **bold** [link](http://example.com)'
SAFE = {"mark": "unfit", "shown": "shown"}


@pytest.fixture(scope="module")
def coins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Four coins of a library as a page sends them: one with a name that would be markup."""

    def fill(library: Library) -> None:
        library.add(
            [*(coin(number) for number in range(3)), coin(3, token_name=STRANGE, description=STRANGE)]
        )

    reader = open_reader(filled_library(tmp_path_factory.mktemp("large"), fill))
    records = reader.find(Filter())
    sent = {
        "cards": [card(reader, record, unfit=frozenset()) for record in records],
        "coins": {
            record.address: {"detail": detail(reader, record), "comparison": comparison(reader, record)}
            for record in records
        },
    }
    reader.close()
    return sent


@pytest.fixture
def grid(page: Page, coins: dict[str, Any]) -> GridPage:
    visit(page)
    page.route("**/pictures/**", lambda route: route.fulfill(content_type="image/png", body=picture()))
    mount(page, styled=True, actions=[APPROVE.as_json()], **coins)
    return GridPage(page)


def picture() -> bytes:
    file = BytesIO()
    Image.new("RGB", (320, 320), "teal").save(file, "PNG")
    return file.getvalue()


def shown_picture(grid: GridPage) -> Locator:
    return grid.panel.get_by_role("img", name="Picture of")


def test_an_untrusted_name_is_shown_as_plain_text(grid: GridPage) -> None:
    strange = grid.card(address(3))
    expect(strange.locator(".name")).to_have_text(STRANGE)
    strange.click()
    grid.press("Enter")
    expect(grid.panel.locator("h2")).to_contain_text(STRANGE)
    expect(grid.panel.locator(".description")).to_have_text(STRANGE)
    assert grid.page.evaluate("window.obeyed") is None


def test_it_draws_no_picture_of_the_coin_before(grid: GridPage) -> None:
    held: list[Route] = []
    grid.press("Enter")
    expect(shown_picture(grid)).to_be_visible()
    heading = grid.panel.locator("h2")
    before = heading.inner_text()
    grid.page.route("**/pictures/**", lambda one: held.append(one))
    grid.press("ArrowRight")
    expect(heading).not_to_have_text(before)
    expect(grid.panel.locator("img[alt^='Picture of']")).to_be_hidden()
    for route in held:
        route.fulfill(content_type="image/png", body=picture())
    expect(shown_picture(grid)).to_be_visible()


def test_deciding_moves_to_the_next_coin(grid: GridPage) -> None:
    _, second, third = grid.addresses()[:3]
    grid.press("Enter")
    expect(grid.panel.locator(".history").get_by_text("Imported by")).to_be_visible()
    grid.press("ArrowRight")
    assert grid.at() == second
    grid.press("a")
    assert grid.at() == third
    expect(grid.panel).to_be_visible()
    grid.press("Escape")
    expect(grid.panel).to_be_hidden()
    assert [(one["verb"], one["addresses"]) for one in written(grid.page)] == [("approve", [second])]


def test_only_a_real_address_links_to_a_block_explorer(grid: GridPage) -> None:
    made_up = next(address for address in grid.addresses() if address.startswith("local-"))
    solana = next(address for address in grid.addresses() if address.startswith("So"))
    for at, links in ((solana, 1), (made_up, 0)):
        grid.card(at).dblclick()
        expect(grid.panel.locator(".history").get_by_text("Imported by")).to_be_visible()
        link = grid.panel.get_by_role("link", name=re.compile("Solscan|Etherscan"))
        expect(link).to_have_count(links)
        if links:
            expect(link).to_have_attribute("rel", "noopener noreferrer")
        grid.press("Escape")


def test_it_is_enlarged_and_zooms_in_and_out_without_deciding(grid: GridPage) -> None:
    grid.press("Enter", "Enter")
    picture = shown_picture(grid)
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("complete", True)
    fitted = (picture.bounding_box() or {})["width"]
    grid.press("+", "+")
    assert (picture.bounding_box() or {})["width"] > fitted * 1.4
    picture.hover()
    grid.page.mouse.wheel(0, -100)
    expect(grid.panel).to_have_css("--zoom", "3")
    grid.press("-", "-", "-")
    expect(grid.panel).to_have_css("--zoom", "1")
    assert (picture.bounding_box() or {})["width"] == fitted
    grid.press("+", "ArrowRight")
    expect(grid.panel).to_have_css("--zoom", "1")
    assert decided(grid.page) == []


def test_a_picture_blurred_by_safe_mode_is_shown_by_keyboard(grid: GridPage, coins: dict[str, Any]) -> None:
    blurred = [{**one, "large": f"{one['large']}?unfit=1"} for one in coins["cards"]]
    give(grid.page, cards=blurred, safe=SAFE)
    grid.press("Enter")
    expect(shown_picture(grid)).to_have_attribute("src", re.compile(r"\?unfit=1$"))
    grid.panel.get_by_role("button", name="Show the picture").press("Enter")
    expect(shown_picture(grid)).to_have_attribute("src", re.compile(r"&shown=1$"))
    expect(grid.panel.get_by_role("button", name="Show the picture")).to_have_count(0)


def test_beside_the_cards_keys_act_on_the_selection_and_buttons_on_the_open_coin(grid: GridPage) -> None:
    first, second, third, _ = grid.addresses()
    grid.press("Space", "ArrowRight", "Space", "ArrowRight", "Enter")
    grid.panel.get_by_role("button", name="Approve a", exact=True).click()
    grid.press("a")
    assert [one["addresses"] for one in written(grid.page)] == [[third], [first, second]]


def test_a_coin_has_an_address_which_back_leaves_and_a_link_opens(shared: Server, page: Page) -> None:
    grid = GridPage(page, f"{shared.url}/library?tab=All&library_words=frog")
    wait_until_idle(page)
    listed = page.url
    grid.press("Enter")
    expect(grid.panel.get_by_role("heading", level=3, name="History")).to_be_attached()
    expect(page).to_have_url(re.compile(f"&coin={grid.at()}$"))
    link = page.url
    page.go_back()
    expect(grid.panel).to_be_hidden()
    expect(page).to_have_url(listed)
    grid.press("Enter", "Escape")
    expect(page).to_have_url(listed)
    page.goto(link)
    expect(grid.panel).to_be_visible()
    assert grid.at() in link


def test_a_link_to_a_coin_of_another_page_shows_it_there_and_leads_to_where_it_is_decided(
    shared: Server, page: Page
) -> None:
    grid = GridPage(page, f"{shared.url}/library?coin={PENDING.address}")
    expect(grid.panel.get_by_role("heading", level=2)).to_contain_text(PENDING.name)
    grid.press("t")
    expect(grid.message).to_have_text("Open in Review to decide this coin")
    grid.panel.get_by_role("button", name="Open in Review").click()
    expect(page.get_by_role("heading", name="Review", level=1)).to_be_attached()
    expect(grid.panel.get_by_role("button", name="Approve a", exact=True)).to_be_visible()
    assert shared.tier(PENDING.address) == "pending"


def test_an_address_of_no_coin_says_so_and_leaves_the_page(shared: Server, page: Page) -> None:
    grid = GridPage(page, f"{shared.url}/library?coin=nobody")
    expect(grid.message).to_have_text("There is no coin at this address.")
    expect(page).to_have_url(f"{shared.url}/library")
    expect(grid.panel).to_be_hidden()


def test_a_comment_is_typed_in_the_panel_and_kept_while_the_coin_is_left(grid: GridPage) -> None:
    grid.press("Enter")
    field = grid.panel.get_by_role("textbox", name="Comment")
    send = grid.panel.get_by_role("button", name="Comment")
    expect(send).to_be_hidden()
    field.fill("a copy? r and a are letters here")
    grid.press("Escape", "ArrowRight", "ArrowLeft")
    expect(field).to_have_value("a copy? r and a are letters here")
    field.press("Control+Enter")
    [entry] = written(grid.page)
    assert (entry["verb"], entry["text"]) == ("comment", "a copy? r and a are letters here")
    assert entry["addresses"] == [grid.at()]
    expect(grid.panel.locator(".comments")).to_contain_text("a copy? r and a are letters here you, just now")
    expect(field).to_have_value("")
