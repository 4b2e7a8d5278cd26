"""What columns count as is changed in the preview of an import, and stored as it was chosen."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from store.catalog.filters import Filter
from tests.browser.coins import picture
from tests.browser.conftest import Serve
from tests.browser.dashboard import Server, visit, wait_until_idle

ODD = "wot,koin label,blurb,secret\na.png,Frog,Rides the dip,42\n"


@pytest.fixture
def empty(serve: Serve, tmp_path: Path) -> Server:
    return serve(tmp_path / "res")


def count_as(page: Page, column: str, meant: str) -> None:
    """Choose in the table of the preview what a column counts as."""
    wait_until_idle(page)  # else the table moves from under the pointer
    table = page.get_by_test_id("stDataFrame")
    cells = table.locator("[role=gridcell]")
    expect(cells).to_have_count(12)
    row = next(at for at in range(4) if cells.nth(3 * at).text_content() == column)
    table.locator(".dvn-scroller").first.click(position={"x": 20, "y": 35 * (row + 1.5)})
    page.keyboard.press("ArrowRight")
    expect(table.locator("[role=gridcell][aria-selected=true]")).to_have_text("kept")
    page.keyboard.press("Enter")
    page.locator("input[id^=react-select]").fill(meant)
    page.keyboard.press("Enter")
    expect(cells.nth(3 * row + 1)).to_have_text(meant)


def test_columns_of_a_table_are_stored_as_what_a_person_says_they_are(page: Page, empty: Server) -> None:
    visit(page, empty, "settings?section=Import", title="Settings")
    wait_until_idle(page)  # else the field that gets the files may be replaced by the next one drawn
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
        [
            {"name": "odd.csv", "mimeType": "text/csv", "buffer": ODD.encode()},
            {"name": "a.png", "mimeType": "image/png", "buffer": picture("green")},
        ]
    )
    wait_until_idle(page)
    page.get_by_text("What columns and keys count as (4)").click()
    for column, meant in {
        "wot": "picture", "koin label": "token_name", "blurb": "description", "secret": "left out"
    }.items():  # fmt: skip
        count_as(page, column, meant)
    expect(page.get_by_text("token_name: Frog")).to_be_visible()
    page.get_by_role("button", name="Import 2 files").click()
    expect(page.get_by_text("1 added")).to_be_visible()
    with empty.stored() as library:
        (record,) = library.find(Filter())
    assert (record.name, record.description) == ("Frog", "Rides the dip")
    assert not {"wot", "koin label", "blurb", "secret"} & record.sidecar.keys()
