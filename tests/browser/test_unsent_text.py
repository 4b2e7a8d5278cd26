"""A link or a switch that is pressed while a field has unsent text: the press counts, the text stays."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from store.memory import demo
from store.memory.memory import Memory
from tests.browser.conftest import TIMEOUT, dashboard
from tests.browser.dashboard import Server, visit, wait_until_idle

# Address, heading, and the field's name.
FIELDS = {
    "review": ("pending", "Review", "Words"),
    "search": ("search", "Search", "Search"),
    "map": ("map", "Map", "Which coins"),
    "golden queries": ("evaluation", "Evaluation", "Query"),
    "export": ("exchange", "Import & export", "Filter"),
    "lore": ("lore", "Lore & memory", "Question"),
}
Press = Callable[[Locator], None]


@pytest.fixture(scope="module")
def remembering(chromium: str, seed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard with a text memory, whose page has a field of its own."""
    root = shutil.copytree(seed, tmp_path_factory.mktemp("remembering") / "res")
    with Memory.open(root) as memory:
        demo.load(memory)
    with dashboard(root, model=True) as server:
        yield server


def field(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stMain").locator(f"[aria-label='{name}']:is(input, textarea)").first


def entry(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stSidebar").get_by_role("link", name=name)


def open_page(page: Page, server: Server, where: str) -> None:
    address, title, _ = FIELDS[where]
    visit(page, server, address, title=title)
    wait_until_idle(page)


def type_unsent(page: Page, where: str, text: str) -> None:
    field(page, FIELDS[where][2]).click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def leaves(page: Page, press: Press) -> None:
    press(entry(page, "Jobs"))
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()


def comes_back(page: Page, where: str, text: str, press: Press = Locator.click) -> None:
    _, title, name = FIELDS[where]
    press(entry(page, title))
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
    expect(field(page, name)).to_have_value(text)


def test_a_quick_click_on_a_link_leaves_every_page_and_keeps_its_text(
    page: Page, remembering: Server
) -> None:
    open_page(page, remembering, "review")
    for where, (_, title, _) in FIELDS.items():
        entry(page, title).click()
        expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
        wait_until_idle(page)
        type_unsent(page, where, "frog")
        leaves(page, Locator.click)
        comes_back(page, where, "frog")


@pytest.mark.parametrize("where", ["search", "lore"])
def test_text_that_replaces_or_clears_a_question_that_was_sent_is_kept_as_well(
    page: Page, remembering: Server, where: str
) -> None:
    open_page(page, remembering, where)
    for cleared in (False, True):
        type_unsent(page, where, f"frog and {cleared}")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"frog[+]and[+]{cleared}"))
        wait_until_idle(page)
        type_unsent(page, where, "frog")  # a search gives the focus to its results
        if cleared:
            page.keyboard.press("Escape")
        leaves(page, Locator.click)
        comes_back(page, where, "" if cleared else "frog")


def test_a_tap_on_a_link_leaves_the_page_and_keeps_the_text(browser: Browser, remembering: Server) -> None:
    with browser.new_context(has_touch=True, viewport={"width": 1440, "height": 1000}) as context:
        context.set_default_timeout(TIMEOUT)
        page = context.new_page()
        open_page(page, remembering, "search")
        type_unsent(page, "search", "frog")
        leaves(page, Locator.tap)
        comes_back(page, "search", "frog", Locator.tap)


def test_a_quick_click_on_a_switch_of_the_header_counts_and_the_text_is_sent(
    page: Page, remembering: Server
) -> None:
    open_page(page, remembering, "search")
    type_unsent(page, "search", "frog")
    page.get_by_text("Safe mode").click()
    expect(page.get_by_role("switch", name="Safe mode")).to_be_checked()
    expect(field(page, "Search")).to_have_value("frog")
