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


def type_unsent(page: Page, server: Server, where: str, text: str, *, enter: bool = False) -> None:
    address, title, name = FIELDS[where]
    visit(page, server, address, title=title)
    wait_until_idle(page)
    field(page, name).click()
    page.keyboard.type(text + (" and" if enter else ""))
    if enter:
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("frog[+]and"))
        field(page, name).click()  # a search gives the focus to its results
        page.keyboard.press("Control+a")
        page.keyboard.type(text)


def leaves_and_comes_back(page: Page, where: str, text: str, press: Press) -> None:
    _, title, name = FIELDS[where]
    press(entry(page, "Jobs"))
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    press(entry(page, title))
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
    expect(field(page, name)).to_have_value(text)


@pytest.mark.parametrize("where", FIELDS)
def test_a_quick_click_on_a_link_leaves_the_page_and_keeps_the_text(
    page: Page, remembering: Server, where: str
) -> None:
    type_unsent(page, remembering, where, "frog")
    leaves_and_comes_back(page, where, "frog", Locator.click)


@pytest.mark.parametrize("where", ["search", "lore"])
def test_text_that_replaces_a_question_that_was_sent_is_kept_as_well(
    page: Page, remembering: Server, where: str
) -> None:
    type_unsent(page, remembering, where, "frog", enter=True)
    leaves_and_comes_back(page, where, "frog", Locator.click)


@pytest.mark.parametrize("where", ["search", "lore"])
def test_a_quick_click_after_a_question_was_cleared_leaves_the_page(
    page: Page, remembering: Server, where: str
) -> None:
    type_unsent(page, remembering, where, "frog", enter=True)
    page.keyboard.press("Escape")
    leaves_and_comes_back(page, where, "", Locator.click)


@pytest.mark.parametrize("where", ["review", "search"])
def test_a_tap_on_a_link_leaves_the_page_and_keeps_the_text(
    browser: Browser, remembering: Server, where: str
) -> None:
    with browser.new_context(has_touch=True, viewport={"width": 1440, "height": 1000}) as context:
        context.set_default_timeout(TIMEOUT)
        page = context.new_page()
        type_unsent(page, remembering, where, "frog")
        leaves_and_comes_back(page, where, "frog", Locator.tap)


def test_a_quick_click_on_a_switch_of_the_header_counts_and_the_text_is_sent(
    page: Page, remembering: Server
) -> None:
    type_unsent(page, remembering, "search", "frog")
    page.get_by_text("Safe mode").click()
    expect(page.get_by_role("switch", name="Safe mode")).to_be_checked()
    expect(field(page, "Search")).to_have_value("frog")
