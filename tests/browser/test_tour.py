"""The tour in a real browser: arrow keys lead through it, a reload stays, and at its end all is as it was."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from components.shell.page.tour import COPYCAT, DRAFTED, STOPS, left_behind
from store import demo
from store.disk.layout import RESOURCES
from store.embedding import open_embedder
from store.reading.reader import Reader
from store.runtime import open_library
from tests.browser.conftest import Serve
from tests.browser.dashboard import visit
from tests.length import LENGTH
from tests.waiting import eventually

# A page that is there before the tour's panel has keys of its own: the cards of Review move by the arrows.
KEYS_OF_A_PAGE = """
    const take = (event) => event.key.startsWith("Arrow") && event.stopImmediatePropagation();
    document.addEventListener("keydown", take, true);
"""
PROMOTED = tuple(f"local-demo-{name}" for name in ("storm-owl", "starry-frog", "shiba-moonwalk"))
COINS = (COPYCAT, DRAFTED, *PROMOTED)


def root_with_demo_coins(root: Path) -> Path:
    with open_library(root, embedder=open_embedder("offline")) as library:
        library.add(
            [entry.candidate() for entry in demo.entries(RESOURCES / "demo") if entry.address in COINS]
        )
        library.approve([DRAFTED, *PROMOTED])
        assert not library.promote(PROMOTED).refused
        library.suggestions.save(
            DRAFTED, {"entity": "Owl in neon tubes", "context": "A pun on a party song"}, model=demo.RECORDED
        )
    return root


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="Tour")


def arrive(page: Page, number: int) -> None:
    expect(page.get_by_role("heading", name=STOPS[number - 1].heading, level=1)).to_be_visible()
    expect(panel(page).get_by_text(f"Tour · {number} of {len(STOPS)}")).to_be_visible()


def is_beside_what_it_marks(page: Page) -> bool:
    """Whether all of what is marked is in the window, and the panel covers nothing of it."""
    size, ring = page.viewport_size, page.locator(".memedex-tour-ring").bounding_box()
    box = panel(page).bounding_box()
    if not (size and ring and box):
        return False
    is_inside = ring["y"] >= 0 and ring["y"] + ring["height"] <= size["height"]
    is_above = ring["y"] + ring["height"] <= box["y"]
    return is_inside and (is_above or ring["x"] + ring["width"] <= box["x"])


def state(library: Reader) -> list[object]:
    return [
        *((one.address, one.tier, one.caption) for one in map(library.get, sorted(COINS))),
        [one.text for one in library.suggestions.of(DRAFTED)],
    ]


@pytest.mark.parametrize(
    ("width", "height"), [(1440, 900), (390, 844), *([(1920, 1080)] if LENGTH >= 1 else [])]
)
def test_arrow_keys_lead_through_the_tour_which_covers_nothing_and_all_is_taken_back(
    page: Page, serve: Serve, tmp_path: Path, width: int, height: int
) -> None:
    page.set_viewport_size(ViewportSize(width=width, height=height))
    server = serve(root_with_demo_coins(tmp_path / "res"))
    with server.stored() as library:
        before = state(library)
    page.add_init_script(KEYS_OF_A_PAGE)
    visit(page, server, "", title="Home")
    page.get_by_role("button", name="Take the tour").click()
    for number, stop in enumerate(STOPS, start=1):
        arrive(page, number)
        if stop.verb:
            expect(panel(page).get_by_role("button", name=stop.verb)).to_be_visible()
        assert eventually(lambda: is_beside_what_it_marks(page)), stop.title
        if number == 5:  # the memory is empty
            wanted = page.get_by_role("button", name="Load the demo memory").bounding_box()
            ring = page.locator(".memedex-tour-ring").bounding_box()
            assert ring["x"] < wanted["x"]
            assert ring["x"] + ring["width"] > wanted["x"] + wanted["width"]
        if number == 3:
            page.reload()
            arrive(page, number)
            with server.stored() as library:
                assert state(library) != before
                assert len(left_behind(library)) == 2  # type: ignore[arg-type]
        page.keyboard.press("ArrowRight")
    expect(panel(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Take the tour")).to_be_visible()
    with server.stored() as library:
        assert state(library) == before


def test_its_keys_wait_while_something_is_open_over_the_page_and_a_closed_tab_leaves_an_offer_to_take_it_back(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    server = serve(root_with_demo_coins(tmp_path / "res"))
    visit(page, server, "?tour=1", title="Review")
    arrive(page, 1)
    page.get_by_role("gridcell").first.click()
    for key, name, text in (("Enter", "Coin", "1 of 1"), ("?", "Keys", "Move and select")):
        page.keyboard.press(key)
        opened = page.get_by_role("dialog", name=name)
        opened.get_by_text(text).click()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Escape")
        expect(opened).to_be_hidden()
    panel(page).get_by_role("button", name="Reject the copycat").click()
    arrive(page, 2)
    page.goto("about:blank")
    visit(page, server, "", title="Home")
    page.get_by_role("button", name="Undo 1 change of a tour").click()
    expect(page.get_by_text("What the tour did is undone.")).to_be_visible()
    assert server.tier(COPYCAT) == "pending"
