"""The Library's coins as a table: chosen numbers and links as columns, sorted, kept, downloaded."""

import csv
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, expect

from store.library import Library
from tests.browser.coins import COINS
from tests.browser.conftest import Serve
from tests.browser.dashboard import visit
from tests.browser.grid_page import filled_library

NUMBERS = {"holders": "40", "twitter": "https://www.x.example/frog"}, {"holders": 7_000, "tax": -2.5}, {}


def fill(library: Library) -> None:
    coins = [coin.candidate() for coin in COINS[:3]]
    library.add(replace(coin, sidecar=coin.sidecar | more) for coin, more in zip(coins, NUMBERS, strict=True))


def test_numbers_and_links_are_columns_that_sort_and_stay(page: Page, serve: Serve, tmp_path: Path) -> None:
    server = serve(filled_library(tmp_path / "res", fill))
    visit(page, server, "library?tab=All", title="Library")
    page.get_by_role(
        "button", name="Menu", exact=True
    ).click()  # the verbs of all tiers leave no room beside them
    page.get_by_role("group", name="View").get_by_role("button", name="Table").click()
    table, (small, large, none) = page.locator(".results-table"), [coin.name for coin in COINS[:3]]
    names = table.locator("td.name")
    for order in ([large, small, none], [small, large, none]):  # without a number at the end either way
        table.get_by_role("button", name="Holders").click()
        expect(names).to_have_text(order)
    expect(table.locator("th[aria-sort=descending]")).to_have_text("Holders")
    link = table.get_by_role("link")
    expect(link).to_have_text("x.example/frog")
    expect(link).to_have_attribute("href", "https://www.x.example/frog")
    expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")

    table.get_by_role("button", name="Columns").click()
    columns = page.get_by_role("group", name="Columns")
    columns.get_by_role("checkbox", name="Tax").uncheck()
    expect(table.get_by_role("button", name="Tax")).to_have_count(0)
    columns.get_by_role("checkbox", name="Width").check()
    page.keyboard.press("Escape")
    page.reload()
    expect(table.get_by_role("button", name="Width")).to_be_visible()
    expect(table.get_by_role("button", name="Tax")).to_have_count(0)

    table.get_by_role("button", name="Holders").click()
    names.first.click()
    page.keyboard.press("ArrowDown")
    expect(table.locator("tr.at td.name")).to_have_text(small)
    page.get_by_role("button", name="Menu", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "coins.csv")
    with (tmp_path / "coins.csv").open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(one["token_name"], one["Holders"], one["Twitter"]) for one in lines] == [
        (large, "7000", ""),
        (small, "40", "https://www.x.example/frog"),
        (none, "", ""),
    ]
