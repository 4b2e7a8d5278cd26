"""A review session over a thousand pending coins, by keyboard only."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from store.catalog.filters import Filter
from store.disk.layout import Layout
from store.library import Library
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server
from tests.browser.grid_page import GridPage
from tests.length import repeated
from tests.store.conftest import CREATED_AT, normal_picture
from tests.waiting import eventually

COINS = repeated(1_000, least=600)  # half of them are more than a page waits for
PICTURES = 25


def write_coins(root: Path) -> Path:
    """Write the files of so many pending coins; opening the library imports them."""
    layout = Layout(root)
    layout.sidecar("pending", "local-0").parent.mkdir(parents=True)
    for number in range(COINS):
        address = f"local-{number:04}"
        sidecar = {
            "token_name": f"Coin {number}",
            "ticker": "",
            "description": "",
            "token_address": address,
            "created_at": CREATED_AT - number,
            "tags": ["even"] if number % 2 == 0 else [],
        }
        layout.sidecar("pending", address).write_text(json.dumps(sidecar))
        layout.image("pending", address).write_bytes(normal_picture(number % PICTURES))
    return root


@pytest.fixture(scope="module")
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with dashboard(write_coins(tmp_path_factory.mktemp("thousand"))) as server:
        yield server


def coin(number: int) -> str:
    return f"local-{number:04}"


def pending(library: Library) -> int:
    return library.counts()["pending"]


def test_a_whole_review_session_by_keyboard(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/review")
    assert grid.at() == coin(0)
    expect(page.get_by_text(f"1–60 of {COINS:,}")).to_be_attached()

    # One by one: a mistake is undone and redone.
    grid.press("a", "r", "2", "z", "z", "Shift+Z")
    assert grid.at() == coin(2)

    # A few selected across pages, decided together.
    grid.press("Space", "Shift+ArrowRight")
    grid.expect_selected(2)
    grid.press("]")
    expect(grid.card(coin(70))).to_be_visible()
    grid.press("Home", "Space")
    expect(page.locator(".chosen-count")).to_have_text("3 selected, 2 not on this page")
    chosen = [coin(2), coin(3), grid.at()]
    grid.press("a", "[")
    expect(grid.card(coin(4))).to_be_visible()

    # The panel: next, decide, close.
    grid.press("Home", "Enter", "ArrowRight", "a", "Escape")
    expect(grid.panel).to_be_hidden()
    assert grid.at() == coin(6)

    # The comparison with its duplicates; a reason key rejects the coin from there.
    grid.press("d")
    beside = page.get_by_role("dialog", name="Comparison")
    expect(beside.get_by_text("same picture").first).to_be_visible()
    grid.press("u", "1")
    expect(beside).to_be_hidden()
    grid.expect_settled()

    with app.stored() as library:
        tiers = {number: library.get(coin(number)).tier for number in range(8)}
        assert {library.get(address).tier for address in chosen} == {"approved"}
        assert library.history(address=coin(6))[0].reason == "copycat"
        [message] = library.duplicates.judgements(coin(6))
        assert message.verdict == "different"
    assert tiers == {
        0: "approved", 1: "trash", 2: "approved", 3: "approved",
        4: "pending", 5: "approved", 6: "trash", 7: "pending",
    }  # fmt: skip

    # All that match a typed line are rejected by a job and restored.
    with app.stored() as library:
        before, even = pending(library), library.count(Filter(tier="pending", tags=("even",)))
    grid.press("/")
    page.keyboard.type("tag:even")
    expect(page.get_by_role("button", name=f"All {even} that match")).to_be_visible()  # the grid has them
    grid.press("Enter")
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    grid.press("Shift+A")
    expect(page.locator(".chosen-count")).to_have_text(f"All {even} that match selected")
    grid.press("Space", "r")  # all but the one under the cursor: many enough for a job
    expect(page.get_by_role("gridcell")).to_have_count(1)
    with app.stored() as library:
        assert eventually(lambda: pending(library) == before - even + 1)
    expect(page.get_by_text(f"1–60 of {even}")).to_have_count(0, timeout=40_000)  # the page knows it
    grid.press("z")
    expect(page.get_by_text(f"1–60 of {even}")).to_be_attached()
    with app.stored() as library:
        assert eventually(lambda: pending(library) == before)
