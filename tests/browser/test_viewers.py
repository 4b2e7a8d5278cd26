"""Viewers: no button and no key changes anything, and visible coins can be downloaded."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from store.importing import Candidate, candidates
from store.library import Library
from tests.browser.conftest import Serve
from tests.browser.dashboard import visit
from tests.browser.grid_page import GridPage, filled_library
from tests.store.conftest import coin


def test_a_viewer_decides_by_no_key_or_button_and_downloads_coins_without_leaving_files_behind(
    serve: Serve, page: Page, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def fill(library: Library) -> None:
        library.add(coin(number) for number in range(3))

    root = filled_library(tmp_path_factory.mktemp("looked at"), fill)
    app = serve(root, MEMEDEX_USER="eve", MEMEDEX_VIEWERS="eve@x.org, Eve")
    grid = GridPage(page, f"{app.url}/review")
    expect(page.get_by_text("reading only").first).to_be_visible()
    for name in ("Approve", "Reject", "Undo", "Redo"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    grid.press("a", "r", "1", "z", "Shift+A", "Control+a", "a")
    grid.press("Enter")
    expect(grid.panel).to_be_visible()
    grid.press("a", "Escape")
    expect(grid.cards).to_have_count(3)
    grid.expect_settled()
    visit(page, app, "settings", title="Settings")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download 3 coins").click()
    download.value.save_as(tmp_path / "coins.zip")
    assert len([one for one in candidates([tmp_path / "coins.zip"]) if isinstance(one, Candidate)]) == 3
    with app.stored() as library:
        assert library.counts()["pending"] == 3
        assert [decision.verb for decision in library.decisions()] == ["import"]
        assert library.jobs.all() == []
        assert not library.layout.exports.exists()
