"""A family in the browser: from a coin's panel to its tree, where one key settles the rest."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from store.library import Library
from tests.browser.dashboard import Server, visit
from tests.browser.grid_page import GridPage, filled_library
from tests.store.conftest import address, coin
from tests.store.rules.conftest import copied
from tests.waiting import eventually

FAMILY = FIRST, SECOND, OTHER, SPARED = tuple(address(number) for number in (1, 2, 3, 4))


def fill(library: Library) -> None:
    library.add([coin(1, ticker="ONE"), *(copied(number, of=1, ticker=f"T{number}") for number in (2, 3, 4))])
    library.duplicates.examine()


def test_one_key_keeps_a_coin_and_rejects_the_rest_and_one_takes_it_back(
    page: Page, serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(filled_library(tmp_path / "res", fill))
    visit(page, server, f"library?tab=Family&family={OTHER}", title="Library")
    grid = GridPage(page)
    expect(grid.cards).to_have_count(4)
    assert grid.addresses() == [*FAMILY]
    expect(grid.card(SECOND)).to_contain_text("same picture, 100 %")
    indent = "card => card.getBoundingClientRect().left"
    assert grid.card(SECOND).evaluate(indent) > grid.card(FIRST).evaluate(indent)

    grid.press("Home", "0")
    assert eventually(lambda: server.tiers(*FAMILY) == ["pending", "trash", "trash", "trash"])
    expect(grid.card(SECOND)).to_contain_text("copy of Coin 1")
    expect(grid.cards).to_have_count(4)
    grid.press("z")
    assert eventually(lambda: server.tiers(*FAMILY) == ["pending"] * 4)

    expect(grid.card(SPARED)).to_contain_text("in review")
    grid.card(SECOND).click(modifiers=["Control"])
    grid.card(OTHER).click(modifiers=["Control"])
    grid.press("Home", "0")
    assert eventually(lambda: server.tiers(*FAMILY) == ["pending", "trash", "trash", "pending"]), (
        "only the selected ones"
    )
