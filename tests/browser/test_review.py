"""Review by keyboard: nothing is lost, and everything can be undone."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from store.disk.layout import Layout
from tests.browser.conftest import Serve, dashboard
from tests.browser.dashboard import Server
from tests.browser.delayed_messages import DelayedMessages
from tests.browser.grid_page import GridPage, filled_library
from tests.browser.pending_coins import add_pending, tier
from tests.store.conftest import coin

REVIEW = "pending?pending_per=24+a+page"


@pytest.fixture(scope="module")
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with dashboard(filled_library(tmp_path_factory.mktemp("review"), add_pending)) as server:
        yield server


@pytest.fixture
def grid(app: Server, page: Page) -> GridPage:
    return GridPage(page, f"{app.url}/{REVIEW}")


def test_a_burst_of_thirty_keys_is_thirty_decisions(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/pending")
    first = grid.addresses()[:30]
    grid.press(*("a" if number % 3 else "r" for number in range(30)))
    grid.expect_settled()
    with app.stored() as library:
        tiers = [library.get(address).tier for address in first]
        decisions = library.decisions(limit=30)
    assert tiers == ["approved" if number % 3 else "trash" for number in range(30)]
    assert {decision.count for decision in decisions} == {1}
    grid.press(*["z"] * 30)
    grid.expect_settled()
    assert all(tier(app, address) == "pending" for address in first)
    assert grid.addresses()[:30] == first


def test_undo_works_after_a_reload(app: Server, grid: GridPage) -> None:
    address = grid.at()
    grid.press("a")
    grid.expect_settled()
    again = GridPage(grid.page, f"{app.url}/{REVIEW}")
    expect(again.card(address)).to_have_count(0)
    again.press("z")
    expect(again.card(address)).to_have_count(1)
    assert tier(app, address) == "pending"
    again.press("Shift+Z")
    expect(again.card(address)).to_have_count(0)
    again.expect_settled()
    assert tier(app, address) == "approved"
    again.press("z")
    again.expect_settled()


def test_a_key_pressed_right_before_the_tab_closes_still_counts(
    app: Server, grid: GridPage, context: BrowserContext
) -> None:
    address = grid.at()
    grid.press("a")
    grid.page.close(run_before_unload=True)
    # Sent while the tab closes; if the browser ends it too early, the next page sends it.
    GridPage(context.new_page(), f"{app.url}/{REVIEW}").expect_settled()
    assert tier(app, address) == "approved"


def test_a_key_pressed_right_before_a_reload_still_counts(app: Server, grid: GridPage) -> None:
    address = grid.at()
    grid.press("r")
    grid.page.reload()
    expect(grid.cards.first).to_be_visible()
    grid.expect_settled()
    assert tier(app, address) == "trash"


def test_a_coin_decided_by_another_curator_is_refused_with_a_reason(
    app: Server, grid: GridPage, browser: Browser
) -> None:
    held = DelayedMessages(grid.page)
    grid = GridPage(grid.page, f"{app.url}/{REVIEW}")
    other = GridPage(browser.new_page(), f"{app.url}/{REVIEW}")
    address = grid.at()
    with app.stored() as library:
        before = len(library.history(address=address))
    held.hold()  # this page learns of it only after its own decision
    other.card(address).click()
    other.press("a")
    other.expect_settled()
    grid.press("a")
    held.release()
    expect(grid.message).to_contain_text("approved")  # the reason: where the coin is now
    with app.stored() as library:
        assert [event.verb for event in library.history(address=address)[:-before]] == ["approve"]
    other.page.close()


def test_a_coin_decided_in_another_window_stays_as_a_shadow_under_the_cursor(
    app: Server, grid: GridPage, browser: Browser
) -> None:
    other = GridPage(browser.new_page(), f"{app.url}/{REVIEW}")
    address, following = other.addresses()[:2]
    assert grid.at() == address
    other.press("a")
    shadow = grid.card(address)
    expect(shadow).to_have_class(re.compile(r"\bshadow\b"))
    expect(shadow).to_contain_text("approved by you in another window")
    assert grid.at() == address
    other.press("z")
    expect(shadow).not_to_have_class(re.compile(r"\bshadow\b"))
    other.press("r")
    expect(shadow).to_contain_text("rejected by you in another window")
    expect(other.cards).to_have_count(grid.cards.count() - 1)  # its own decision leaves none
    other.press("z")
    expect(other.card(address)).to_be_visible()
    expect(other.card(address)).not_to_have_class(re.compile(r"\bshadow\b"))
    expect(shadow).not_to_have_class(re.compile(r"\bshadow\b"))
    other.press("r")
    expect(shadow).to_contain_text("rejected by you in another window")
    other.expect_settled()
    grid.press("ArrowRight", "a")
    expect(shadow).to_have_count(0)  # it goes when cards move anyway
    grid.expect_settled()
    assert (tier(app, address), tier(app, following)) == ("trash", "approved")
    other.page.close()


def test_a_refused_decision_brings_the_card_back_with_the_reason(app: Server, grid: GridPage) -> None:
    address = grid.at()
    with app.stored() as library:
        key = f"memedex-decisions:{library.id}:{library.actor_name}:before"
    stale = {"id": uuid4().hex, "verb": "return", "addresses": [address], "seen": {}}
    grid.page.evaluate("([key, log]) => localStorage.setItem(key, log)", [key, json.dumps([stale])])
    again = GridPage(grid.page, f"{app.url}/{REVIEW}")
    again.expect_settled()
    expect(again.message).to_contain_text("It is in review, not approved")
    expect(again.card(address)).to_be_visible()
    assert tier(app, address) == "pending"


def test_deciding_a_coin_edited_by_hand_is_refused_once_and_shows_the_new_text(
    serve: Serve, page: Page, tmp_path: Path
) -> None:
    app = serve(
        filled_library(tmp_path / "res", lambda library: library.add(coin(number) for number in range(3)))
    )
    grid = GridPage(page, f"{app.url}/{REVIEW}")
    edited = grid.at()
    sidecar = Layout(app.root).sidecar("pending", edited)
    sidecar.write_text(json.dumps({**json.loads(sidecar.read_text()), "token_name": "Renamed by hand"}))
    grid.press("a")
    expect(grid.message).to_contain_text("they count now, look at it again")
    expect(grid.card(edited)).to_contain_text("Renamed by hand")
    assert tier(app, edited) == "pending"
    grid.card(edited).click()
    grid.press("a")
    expect(grid.card(edited)).to_have_count(0)
    grid.expect_settled()
    assert tier(app, edited) == "approved"
