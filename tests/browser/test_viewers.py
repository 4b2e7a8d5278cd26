"""Viewers: no button and no key changes anything, and visible coins can be downloaded."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from store.importing import Candidate, candidates
from store.library import Library
from store.runtime import open_reader
from tests.browser.conftest import Serve
from tests.browser.dashboard import visit
from tests.browser.grid_page import GridPage, filled_library
from tests.store.conftest import coin


@pytest.mark.parametrize(
    "settings",
    [{"MEMEDEX_READ_ONLY": "1"}, {"MEMEDEX_USER": "eve", "MEMEDEX_VIEWERS": "eve@x.org, Eve"}],
    ids=["read-only", "viewer"],
)
def test_a_viewer_cannot_decide_by_key_or_button(
    serve: Serve, page: Page, tmp_path_factory: pytest.TempPathFactory, settings: dict[str, str]
) -> None:
    def fill(library: Library) -> None:
        library.add(coin(number) for number in range(3))

    app = serve(filled_library(tmp_path_factory.mktemp("looked at"), fill), **settings)
    grid = GridPage(page, f"{app.url}/pending")
    expect(page.get_by_text("reading only").first).to_be_visible()
    for name in ("Approve", "Reject", "Undo", "Redo"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    grid.press("a", "r", "1", "z", "Shift+A", "Control+a", "a")
    grid.press("Enter")
    expect(grid.viewer).to_be_visible()
    grid.press("a", "Escape")
    expect(grid.cards).to_have_count(3)
    grid.expect_settled()
    reader = open_reader(app.root)
    assert reader.counts()["pending"] == 3
    assert [decision.verb for decision in reader.decisions()] == ["import"]
    reader.close()


def test_a_viewer_can_download_coins_without_leaving_files_behind(
    serve: Serve, page: Page, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def fill(library: Library) -> None:
        library.add(coin(number) for number in range(3))

    root = filled_library(tmp_path_factory.mktemp("taken along"), fill)
    app = serve(root, MEMEDEX_USER="eve", MEMEDEX_VIEWERS="eve")
    visit(page, app, "exchange", title="Import & export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download 3 coins").click()
    download.value.save_as(tmp_path / "coins.zip")
    assert len([one for one in candidates([tmp_path / "coins.zip"]) if isinstance(one, Candidate)]) == 3
    with app.stored() as library:
        assert library.jobs.all() == []
        assert not library.layout.exports.exists()
