"""The map in a real browser: selecting with the lasso, tagging the selection, and search results on a map."""

import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Route, expect
from pydantic import TypeAdapter

from components.map import requests, view
from components.map.colours import Colours
from components.map.points import PointTable
from components.shell import javascript
from components.shell.server import messages
from components.shell.server.messages import Sender
from store.library import Library
from tests.browser import bare_page
from tests.browser.bare_page import captured, mount, told
from tests.browser.coins import COINS, FROG
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.browser.delayed_messages import DelayedMessages
from tests.waiting import eventually

MAP_SCRIPT = javascript.component("map/js/main.js")
MAP = "search?view=Map&map_by=PCA"  # t-SNE is computed meanwhile, and would take its place
PAINTED = "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => go())))"


def wait_for_map(page: Page) -> Locator:
    """Wait until the map shows all its points and the page is idle; return its canvas."""
    expect(page.locator(".memedex-atlas .told")).to_have_text(f"{len(COINS)} of {len(COINS)} in view")
    wait_until_idle(page)
    return page.locator(".memedex-atlas canvas")


def lasso(page: Page) -> None:
    """Draw a lasso around all points."""
    canvas = wait_for_map(page)
    page.get_by_role("button", name="Lasso").click()
    draw_around_all(page, canvas)


def draw_around_all(page: Page, canvas: Locator) -> None:
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box() or {}
    left, top, right, bottom = 12, 12, box["width"] - 12, box["height"] - 12
    canvas.hover(position={"x": left, "y": bottom})
    page.mouse.down()
    for x, y in ((right, bottom), (right, top), (left, top), (left, bottom - 4)):
        page.mouse.move(box["x"] + x, box["y"] + y, steps=3)
    page.mouse.up()


def pictures(page: Page) -> Locator:
    return page.get_by_role("gridcell")


def select_all(page: Page) -> None:
    """Select every coin on the map, and wait for their cards: the map has its final width only then."""
    page.get_by_role("button", name="Select visible").click()
    expect(page.get_by_text(f"{len(COINS)} coins selected")).to_be_visible()
    expect(pictures(page)).to_have_count(len(COINS))
    wait_until_idle(page)


def test_an_open_map_follows_changes_elsewhere_and_keeps_its_view(page: Page, shared: Server) -> None:
    visit(page, shared, MAP, title="Search")
    told = page.locator(".memedex-atlas .told")
    expect(told).to_have_text(f"{len(COINS)} of {len(COINS)} in view")
    select_all(page)
    page.locator(".memedex-atlas canvas").press("+")  # once: after several, the text may belong to any
    expect(told).not_to_contain_text(f"{len(COINS)} of {len(COINS)} in view")
    before = told.inner_text()

    removed = shared.decide("degrade", FROG.address)
    fewer = len(COINS) - 1
    expect(told).to_have_text(re.compile(rf"^{fewer} selected · [0-{fewer - 1}] of {fewer} in view$"))
    expect(page.get_by_text(f"{fewer} coins selected")).to_be_visible()
    shared.decide("undo", undoes=removed)
    expect(told).to_have_text(before)
    expect(page.get_by_text(f"{len(COINS)} coins selected")).to_be_visible()
    page.get_by_role("button", name="Clear", exact=True).click()

    canvas = page.locator(".memedex-atlas canvas")
    canvas.evaluate("canvas => { canvas.isTheFirst = true; }")
    page.get_by_role("searchbox", name="Search").fill('"frog" + picture:gone')
    page.get_by_role("searchbox", name="Search").press("Enter")
    expect(page.get_by_text("No picture gone is kept here")).to_be_visible()  # above the map
    wait_until_idle(page)
    expect(canvas).to_have_js_property("isTheFirst", True)


def test_the_selection_and_zoom_survive_a_visit_to_the_export_page(page: Page, shared: Server) -> None:
    visit(page, shared, MAP, title="Search")
    told = page.locator(".memedex-atlas .told")
    expect(told).to_have_text(f"{len(COINS)} of {len(COINS)} in view")
    select_all(page)
    page.locator(".memedex-atlas canvas").press("+")
    page.locator(".memedex-atlas canvas").press("ArrowLeft")
    page.evaluate(PAINTED)
    expect(told).not_to_contain_text(f"{len(COINS)} of {len(COINS)} in view")
    before = told.inner_text()
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_text(f"{len(COINS)} coins selected")).to_be_visible()
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    page.go_back()
    expect(told).to_have_text(before)
    expect(page.get_by_text(f"{len(COINS)} coins selected")).to_be_visible()
    page.get_by_role("button", name="Open in Library").click()
    expect(page.get_by_role("heading", name="Library", level=1)).to_be_visible()
    expect(pictures(page)).to_have_count(len(COINS))
    page.reload()
    expect(pictures(page)).to_have_count(len(COINS))


def test_a_click_on_a_link_is_not_called_back_by_a_selection_made_after_it(
    page: Page, shared: Server
) -> None:
    server = DelayedMessages(page)
    visit(page, shared, MAP, title="Search")
    wait_for_map(page)
    server.hold()
    page.get_by_role("link", name="Activity").click()
    page.evaluate("new Promise((done) => setTimeout(done, 250))")  # until the server has run its page
    page.get_by_role("button", name="Select visible").click()
    expect(page.get_by_role("button", name="Clear", exact=True)).to_be_visible()
    page.evaluate("new Promise((done) => setTimeout(done, 250))")  # until a report would have arrived there
    server.release()
    expect(page.get_by_role("heading", name="Activity", level=1)).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_role("heading", name="Map", level=1)).to_have_count(0)
    assert page.url == f"{shared.url}/activity"


def test_coins_selected_with_the_lasso_can_be_tagged(page: Page, shared: Server) -> None:
    visit(page, shared, MAP, title="Search")
    lasso(page)
    expect(page.get_by_text(f"{len(COINS)} coins selected")).to_be_visible()
    expect(pictures(page)).to_have_count(len(COINS))
    page.get_by_role("button", name="Tag", exact=True).click()
    dialog = page.get_by_role("dialog", name="Tags")
    expect(dialog).to_contain_text(f"Tags of {len(COINS)} coins")
    dialog.get_by_role("combobox").fill("mapped")
    dialog.get_by_role("button", name="Apply").click()  # the first click only shows the new tag
    expect(dialog.locator(".chip.added")).to_contain_text("new tag")
    dialog.get_by_role("button", name="Apply").click()

    def tagged() -> set[str]:
        with shared.stored() as library:
            return {coin.address for coin in COINS if "mapped" in library.get(coin.address).tags}

    assert eventually(lambda: tagged() == {coin.address for coin in COINS})
    page.goto(f"{shared.url}/search?map_by=PCA&q=frog+tag%3Amapped")
    page.get_by_role("link", name="Map", exact=True).click()
    lasso(page)
    expect(page.get_by_text(f"{len(COINS)} coins selected")).to_be_visible()
    expect(page).to_have_url(f"{shared.url}/search?view=Map&map_by=PCA&q=frog+tag%3Amapped")
    page.get_by_role("link", name="Results", exact=True).click()
    expect(pictures(page).first).to_contain_text(FROG.name)
    with shared.stored() as library:
        tagging = library.decisions(limit=1)[0].id
    shared.decide("undo", undoes=tagging)


@pytest.fixture
def alone(page: Page) -> Iterator[Page]:
    """A map of four coins alone on a page, with their points from the app's own table."""
    addresses = [coin.address for coin in COINS]
    joined = {address: 1_700_000_000 + 86_400 * number for number, address in enumerate(addresses)}
    table = PointTable("four coins")
    table.update(
        addresses, np.array([(0, 0), (1, 0), (0, 1), (3, 2)], np.float32), changed=(), joined=lambda: joined
    )
    library = cast(Library, SimpleNamespace(records=lambda addresses: []))
    with captured(view) as data, pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "server", lambda library: {"url": "/message", "token": "any"})
        colours = Colours(addresses, np.zeros(len(addresses), np.uint8))
        view._draw("atlas", library, table, colours)

    def answer(route: Route) -> None:
        asked = TypeAdapter(requests.PointsRequest).validate_json(route.request.post_data or "")
        route.fulfill(json=requests.answer_points(library, asked, Sender("")))

    bare_page.visit(page, "map")
    page.route("**/message/map-points", answer)
    page.route("**/message/map-sprites", lambda route: route.fulfill(status=404))
    style = (Path(view.__file__).parent / "canvas.css").read_text("utf-8")
    mount(page, script=MAP_SCRIPT, html='<div class="memedex-atlas"></div>', style=style, data=data)
    expect(page.locator(".told")).to_have_text("4 of 4 in view")
    yield page
    del table  # until now: a table lives as long as the page that draws it


def test_a_lasso_or_a_button_selects_the_coins_inside_and_escape_none(alone: Page) -> None:
    canvas = alone.locator("canvas")
    alone.get_by_role("button", name="Lasso").click()
    draw_around_all(alone, canvas)
    expect(alone.locator(".told")).to_have_text("4 selected · 4 of 4 in view")
    canvas.press("Escape")
    expect(alone.locator(".told")).to_have_text("4 of 4 in view")
    canvas.press("+")
    expect(alone.locator(".told")).to_have_text(re.compile("^[0-3] of 4 in view$"))
    canvas.press("0")
    alone.get_by_role("button", name="Select visible").click()
    expect(alone.locator(".told")).to_have_text("4 selected · 4 of 4 in view")
    bits = [b64decode(one["bits"]) for one in told(alone, "chosen")]
    assert bits == [b"\xf0", b"", b"\xf0"]


def test_the_growth_of_the_library_is_saved_as_a_film(alone: Page) -> None:
    time = alone.get_by_label("Coins in the library until")
    alone.get_by_role("button", name="Save video").click()
    expect(time).not_to_have_value("0")
    with alone.expect_download() as saving:
        alone.get_by_role("button", name="Stop and save").click()
    assert saving.value.suggested_filename == "memedex-map.webm"
    assert saving.value.path().read_bytes().startswith(b"\x1a\x45\xdf\xa3")  # EBML, as WebM begins
    expect(alone.get_by_role("button", name="Save video")).to_be_visible()


def test_the_whole_map_fills_the_page_even_when_it_becomes_wider(alone: Page) -> None:
    alone.set_viewport_size({"width": 500, "height": 900})
    canvas = alone.locator("canvas")
    expect(canvas).not_to_have_js_property("width", 1424)
    narrow = canvas.evaluate("canvas => canvas.width")
    alone.set_viewport_size({"width": 1440, "height": 900})
    expect(canvas).not_to_have_js_property("width", narrow)  # the map has taken the width, not only the page
    expect(alone.locator(".told")).to_have_text("4 of 4 in view")
    canvas.press("+")
    expect(alone.locator(".told")).not_to_have_text("4 of 4 in view")
