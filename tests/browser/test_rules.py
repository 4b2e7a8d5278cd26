"""A rule is written in the browser, seen before it acts, run for all its coins, and undone by one key."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from store.library import Library
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.browser.grid_page import filled_library
from tests.store.conftest import address, coin
from tests.waiting import eventually


def fill(library: Library) -> None:
    library.add([coin(number, holders=100 * number) for number in range(1, 7)])
    library.reject([address(1)], reason="few", actor="ann")
    library.approve([address(6)], actor="ben")


def pending(server: Server) -> int:
    with server.stored() as library:
        return library.counts()["pending"]


def test_a_rule_is_previewed_saved_run_and_undone(
    page: Page, serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(filled_library(tmp_path / "res", fill))
    visit(page, server, "review?view=Rules", title="Review")
    expect(page.get_by_text("Name it and say which coins it means")).to_be_visible()
    page.get_by_role("button", name="If “dup:exact” finds a coin").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Younger twins")
    expect(page.get_by_role("heading", name="Now: 0 coins")).to_be_visible()
    page.get_by_label("and a coin like it").click()
    page.get_by_role("option", name="(no comparison)").click()
    page.get_by_label("Name", exact=True).fill("Few holders")
    page.get_by_role("textbox", name="If this finds a coin").fill("holders:<450")
    page.get_by_label("as", exact=True).fill("few")
    page.get_by_label("as", exact=True).press("Enter")
    expect(page.get_by_text("If “holders:<450” finds a coin, reject it as “few”.")).to_be_visible()
    expect(page.get_by_role("heading", name="Now: 3 coins")).to_be_visible()
    expect(page.get_by_text("it would have settled 1 of 2 decisions: 1 as people did")).to_be_visible()
    assert pending(server) == 4, "nothing changes before it runs"

    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="Few holders")).to_have_attribute("aria-current", "page")
    wait_until_idle(page)
    page.get_by_text("One click", exact=True).click()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Reject: 3 coins").click()
    assert eventually(lambda: pending(server) == 1)
    expect(page.get_by_role("heading", name="Now: 0 coins")).to_be_visible()
    with server.stored() as library:
        assert library.get(address(2)).tier == "trash"
        assert library.history(address=address(2))[0].reason == "few"
        assert library.history(address=address(5), limit=1)[0].verb == "import"

    page.keyboard.press("z")
    assert eventually(lambda: pending(server) == 4)
