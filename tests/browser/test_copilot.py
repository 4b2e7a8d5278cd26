"""The co-pilot in the browser: it watches, says why, decides by one click, is undone, and steps back."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from store.importing.candidate import Candidate
from store.library import Library
from store.progress import Progress
from store.rules import copilot, running
from store.rules.rule import COPILOT
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.browser.grid_page import GridPage, filled_library
from tests.store.conftest import address, normal_picture
from tests.store.rules.taught import TAUGHT, days_ago, decide, judge, looked, past_moment, taught
from tests.waiting import eventually

WATCHED = range(100, 118)  # which she decides in the co-pilot's first week, with the blind ones …
BLIND, SPARED = (119, 123), 159  # … of these; and one that is blind and waits
WAITING = range(126, 136)
BAD = address(127)


def with_one_picture(number: int) -> Candidate:
    """Embedding many pictures takes longer than the test."""
    return Candidate(f"coin {number}", taught(number).sidecar, normal_picture(1))


def fill(library: Library) -> None:
    """Ann taught it and it looked at what waits, today."""
    numbers = [*TAUGHT, *WATCHED, *BLIND, SPARED, *WAITING]
    library.add(map(with_one_picture, numbers), actor="ann")
    looked(library)
    decide(library, TAUGHT)
    running.save(library, judge(), actor="ann")
    copilot.keep_up(library, progress=Progress())


def fill_and_prove(library: Library) -> None:
    """It watched for a week in which Ann decided as it would have."""
    fill(library)
    days_ago(library, 8)
    then = library.for_actor(library.catalog.actor.as_of(past_moment(library)))
    for numbers in (WATCHED, range(119, 120), range(123, 124)):
        decide(then, numbers)
    copilot.keep_up(library, progress=Progress())


def level(server: Server) -> str:
    with server.stored() as library:
        return running.get(library, COPILOT).level


def panel(page: Page, server: Server, number: int) -> Locator:
    visit(page, server, f"review?coin={address(number)}", title="Review")
    found = GridPage(page).panel
    expect(found.get_by_role("heading", name="Comments")).to_be_visible()  # the details have come
    return found


def test_in_its_first_week_it_watches_and_says_nothing_next_to_coins(
    page: Page, serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(filled_library(tmp_path / "res", fill))
    visit(page, server, "review?view=Co-pilot", title="Review")
    expect(page.get_by_role("heading", name="Settles 100 %")).to_contain_text("at no more than 20 % wrong")
    expect(page.get_by_text("Only shown yet: it watches beside you for a week")).to_be_visible()
    page.get_by_text("One click", exact=True).click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("the co-pilot can only be shown: it watches beside you")).to_be_visible()
    assert level(server) == "shown"

    expect(page.get_by_text("Version 1 learned from 60 decisions")).to_be_visible()
    for number in (*WATCHED, *BLIND):
        server.decide("reject" if number % 2 else "approve", address(number))
    expect(page.get_by_text("Version 2 learned from 80 decisions")).to_be_visible()

    wait_until_idle(page)
    page.get_by_text("Shown", exact=True).click()
    bears = page.get_by_role("spinbutton", name="Errors to bear, %")
    bears.fill("1")
    bears.press("Enter")
    expect(page.get_by_role("heading", name="Settles nothing at no more than 1 % wrong")).to_be_visible()

    told = panel(page, server, 127)
    expect(told).to_contain_text("It watches beside you until 2")
    expect(told).not_to_contain_text("Would")
    expect(GridPage(page).card(BAD)).not_to_contain_text("co-pilot")


def test_after_its_week_it_says_why_decides_by_one_click_and_steps_back_when_that_is_taken_back(
    page: Page, serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(filled_library(tmp_path / "res", fill_and_prove))
    told = panel(page, server, 127)
    expect(told.get_by_text("Would reject")).to_be_visible()
    expect(told.locator(".advice li")).to_have_count(3)
    expect(told.locator(".advice li").first).to_contain_text("for rejecting")
    expect(told.locator(".advice a")).to_have_count(3)
    expect(GridPage(page).card(BAD)).to_contain_text("co-pilot: reject, ")
    expect(panel(page, server, SPARED)).not_to_contain_text("Co-pilot")
    expect(GridPage(page).card(address(SPARED))).not_to_contain_text("co-pilot")

    visit(page, server, "review?view=Co-pilot", title="Review")
    page.get_by_text("One click", exact=True).click()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name=f"Decide: {len(WAITING)} coins").click()
    assert eventually(lambda: server.counts()["pending"] == 1), "the blind one is left to a person"
    assert server.tier(BAD) == "trash"
    assert server.tier(address(126)) == "approved"

    expect(page.get_by_role("heading", name="Now: 0 of 1 coin")).to_be_visible()
    expect(page.get_by_title(f"Rejected {len(WAITING)} coins")).to_be_enabled()  # the button that has the key
    page.keyboard.press("z")
    assert eventually(lambda: server.counts()["pending"] == len(WAITING) + 1)
    page.get_by_role("button", name=f"Decide: {len(WAITING)} coins").click()
    expect(
        page.get_by_text("broke its promise and is only shown now: you took back 10 of 10")
    ).to_be_visible()
    expect(page.get_by_text("You took back 10 of 10 coins that it settled.")).to_be_visible()
    visit(page, server, "review?view=Co-pilot", title="Review")
    expect(page.get_by_text("Only shown: you took back 10 of 10 coins that it settled")).to_be_visible()
    assert level(server) == "shown"
    assert server.counts()["pending"] == len(WAITING) + 1
