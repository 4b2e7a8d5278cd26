"""Home in a real browser: import, figures, decisions and undo."""

import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.coins import PENDING, picture
from tests.browser.conftest import Serve
from tests.browser.dashboard import Server, visit, wait_until_idle


def tile(page: Page, tier: str) -> Locator:
    """The tile of a tier in the figure of the overview."""
    return page.get_by_role("navigation", name="From review to the library").get_by_role("link", name=tier)


@pytest.fixture
def empty(serve: Serve, tmp_path: Path) -> Server:
    return serve(tmp_path / "res")


def said_of(page: Page) -> Locator:
    """The message that takes back what the page has just done."""
    return page.locator(".st-key-memedex-undo")


def token_list(folder: Path) -> Path:
    """A list of two good tokens and one whose picture is text."""
    folder.mkdir()
    names = {"A": "1" * 32, "B": "2" * 32, "C": "3" * 32}
    for name, content in (("A", picture("red")), ("B", picture("blue")), ("C", b"not a picture")):
        (folder / f"{name}.png").write_bytes(content)
    tokens = [
        {
            "address": address,
            "symbol": name,
            "name": f"Token {name}",
            "logoURI": f"{name}.png",
            "chainId": 101,
        }
        for name, address in names.items()
    ]
    path = folder / "tokenlist.json"
    path.write_text(json.dumps({"name": "test", "tokens": tokens}))
    return path


def test_an_import_reports_added_refused_and_existing_coins_and_is_undone_by_a_key_on_another_page(
    page: Page, empty: Server, tmp_path: Path
) -> None:
    path = token_list(tmp_path / "tokens")
    visit(page, empty, "", title="Home")
    page.get_by_role("textbox", name="Or give a path").fill(str(path))
    page.get_by_role("button", name="Import path").click()
    expect(page.get_by_text("2 added")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^\S*\s*1 refused$"))).to_be_visible()
    assert empty.counts()["pending"] == 2
    assert empty.names() == ["Token A", "Token B"]
    expect(said_of(page)).to_contain_text("Imported Token")

    page.get_by_test_id("stMain").get_by_role("link", name="Import coins").click()
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    page.get_by_role("textbox", name="Or give a path on this machine").fill(str(path))
    page.get_by_role("button", name="Import path").click()
    expect(page.get_by_text("2 already there")).to_be_visible()
    expect(page.get_by_text("0 added")).to_be_visible()
    assert empty.counts()["pending"] == 2

    page.get_by_role("link", name="Insights").click()
    expect(page.get_by_role("heading", name="Insights", level=1)).to_be_visible()
    wait_until_idle(page)
    expect(said_of(page)).to_have_count(0)
    page.get_by_role("heading", name="Insights", level=1).press("z")
    expect(page.get_by_text("Undone for 2 coins.")).to_be_visible()
    assert empty.counts()["pending"] == 0


def test_a_dropped_folder_keeps_its_paths(page: Page, empty: Server, tmp_path: Path) -> None:
    for name, color in (("FROG", "green"), ("DOG", "brown")):
        folder = tmp_path / "assets" / name
        folder.mkdir(parents=True)
        (folder / "logo.png").write_bytes(picture(color))
        (folder / "info.json").write_text(json.dumps({"name": name.title(), "symbol": name}))
    visit(page, empty, "", title="Home")
    page.get_by_role("button", name="A folder").click()
    page.get_by_test_id("stPopoverBody").locator("input[type=file]").set_input_files(tmp_path / "assets")
    expect(page.get_by_role("button", name="Import 4 files")).to_be_attached()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Import 4 files").click()
    expect(page.get_by_text("2 added")).to_be_visible()
    assert empty.names() == ["Dog", "Frog"]


def test_an_empty_library_offers_three_ways_to_import_and_undo_reverts_dropped_pictures(
    page: Page, empty: Server
) -> None:
    visit(page, empty, "", title="Home")
    expect(page.get_by_role("button", name="Load the demo library")).to_be_enabled()
    expect(page.get_by_role("textbox", name="Or give a path")).to_be_visible()
    expect(page.get_by_test_id("stFileUploader")).to_be_visible()
    expect(tile(page, "Review")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        [
            {"name": "Red Thing.png", "mimeType": "image/png", "buffer": picture("red")},
            {"name": "Blue Thing.png", "mimeType": "image/png", "buffer": picture("blue")},
        ]
    )
    page.get_by_role("button", name="Import 2 files").click()
    expect(page.get_by_text("2 added")).to_be_visible()
    assert empty.names() == ["Blue Thing", "Red Thing"]
    expect(said_of(page)).to_contain_text("Imported Red Thing and Blue Thing")
    said_of(page).get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone for 2 coins.")).to_be_visible()
    assert empty.counts() == {"pending": 0, "approved": 0, "library": 0, "trash": 2}


def test_a_rejected_coin_can_be_restored(page: Page, shared: Server) -> None:
    visit(page, shared, "review", title="Review")
    expect(page.get_by_role("gridcell")).to_have_count(1)
    page.keyboard.press("r")
    expect(page.get_by_text("Nothing is waiting for review.")).to_be_visible()
    assert shared.tier(PENDING.address) == "trash"
    page.get_by_test_id("stSidebar").get_by_role("link", name="Library").click()
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Rejected").click()
    expect(page.get_by_role("gridcell", name=PENDING.name)).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("No coin is rejected.")).to_be_visible()
    assert shared.tier(PENDING.address) == "pending"


def test_a_server_that_others_can_reach_shows_nothing_without_a_login(
    page: Page, seed: Path, serve: Serve, tmp_path: Path
) -> None:
    server = serve(shutil.copytree(seed, tmp_path / "res"), STREAMLIT_SERVER_ADDRESS="0.0.0.0")
    for path in ("", "search?q=frog", "captions"):
        page.goto(f"{server.url}/{path}")
        expect(page.get_by_text("no login is set up")).to_be_visible()
        wait_until_idle(page)
        expect(page.get_by_text("Frog")).to_have_count(0)
        expect(page.get_by_test_id("stSidebar").get_by_role("link")).to_have_count(0)
