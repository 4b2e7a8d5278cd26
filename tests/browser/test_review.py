"""Review by keyboard: nothing is lost, everything can be undone; its pages, links, words and selection."""

import json
import re
from uuid import uuid4

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from store.catalog.filters import Filter
from store.disk.layout import Layout
from store.library import Library
from store.runtime import open_reader
from tests.browser.dashboard import Server
from tests.browser.delayed_messages import DelayedMessages
from tests.browser.grid_page import GridPage
from tests.store.conftest import CREATED_AT, address, coin
from tests.waiting import eventually

REVIEW = "pending?pending_per=24+a+page"
COINS = 90
CAT = address(COINS)
MARKUP = '<img src=x onerror="window.obeyed = true"> **bold** [link](http://example.com)'


def fill(library: Library) -> None:
    """Coins that wait for review: one of them a cat, and one with a name that would be markup."""
    library.add(coin(number) for number in range(COINS))
    library.add(
        [
            coin(COINS, tags=["cat"], created_at=CREATED_AT - 1),
            coin(COINS + 1, token_name=MARKUP, description=MARKUP, created_at=CREATED_AT + 50),
        ]
    )


@pytest.fixture
def grid(app: Server, page: Page) -> GridPage:
    return GridPage(page, f"{app.url}/{REVIEW}")


def test_a_burst_of_thirty_keys_is_thirty_decisions(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/review")
    first = grid.addresses()[:30]
    grid.press(*("a" if number % 3 else "r" for number in range(30)))
    grid.expect_settled()
    with app.stored() as library:
        decisions = library.decisions(limit=30)
    assert app.tiers(*first) == ["approved" if number % 3 else "trash" for number in range(30)]
    assert {decision.count for decision in decisions} == {1}
    grid.press(*["z"] * 30)
    grid.expect_settled()
    assert app.tiers(*first) == ["pending"] * 30
    assert grid.addresses()[:30] == first


def test_a_key_pressed_right_before_a_reload_counts_and_is_undone_and_redone_after_it(
    app: Server, grid: GridPage
) -> None:
    address = grid.at()
    grid.press("r")
    grid.page.reload()
    expect(grid.cards.first).to_be_visible()
    grid.expect_settled()
    assert app.tier(address) == "trash"
    expect(grid.card(address)).to_have_count(0)
    grid.press("z")
    expect(grid.card(address)).to_have_count(1)
    grid.expect_settled()
    assert app.tier(address) == "pending"
    grid.press("Shift+Z")
    expect(grid.card(address)).to_have_count(0)
    grid.expect_settled()
    assert app.tier(address) == "trash"


def test_a_key_pressed_right_before_the_tab_closes_still_counts(
    app: Server, grid: GridPage, context: BrowserContext
) -> None:
    address = grid.at()
    grid.press("a")
    grid.page.close(run_before_unload=True)
    # Sent while the tab closes; if the browser ends it too early, the next page sends it.
    GridPage(context.new_page(), f"{app.url}/{REVIEW}").expect_settled()
    assert app.tier(address) == "approved"


def test_a_coin_decided_by_another_curator_is_refused_with_a_reason(app: Server, page: Page) -> None:
    held = DelayedMessages(page)
    grid = GridPage(page, f"{app.url}/{REVIEW}")
    address = grid.at()
    with app.stored() as library:
        before = len(library.history(address=address))
    held.hold()  # this page learns of it only after its own decision
    app.decide("approve", address, who="bob")
    grid.press("a")
    held.release()
    expect(grid.message).to_contain_text("approved")  # the reason: where the coin is now
    with app.stored() as library:
        assert [event.verb for event in library.history(address=address)[:-before]] == ["approve"]


def test_a_coin_decided_in_another_window_stays_as_a_shadow_under_the_cursor(
    app: Server, grid: GridPage
) -> None:
    address, following = grid.addresses()[:2]
    assert grid.at() == address
    approval = app.decide("approve", address)
    shadow = grid.card(address)
    expect(shadow).to_have_class(re.compile(r"\bshadow\b"))
    expect(shadow).to_contain_text("approved by you in another window")
    assert grid.at() == address
    app.decide("undo", undoes=approval)
    expect(shadow).not_to_have_class(re.compile(r"\bshadow\b"))
    app.decide("reject", address)
    expect(shadow).to_contain_text("rejected by you in another window")
    grid.press("ArrowRight", "a")
    expect(shadow).to_have_count(0)  # it goes when cards move anyway
    expect(grid.card(following)).to_have_count(0)  # a window's own decision leaves none
    grid.expect_settled()
    assert app.tiers(address, following) == ["trash", "approved"]


def test_a_refused_decision_brings_the_card_back_with_the_reason(app: Server, page: Page) -> None:
    with app.stored() as library:
        address = library.addresses(Filter(tier="pending"))[0]
        key = f"memedex-decisions:{library.id}:{library.actor_name}:before"
    stale = {"id": uuid4().hex, "verb": "return", "addresses": [address], "seen": {}}
    page.goto(f"{app.url}/_stcore/health")
    page.evaluate("([key, log]) => localStorage.setItem(key, log)", [key, json.dumps([stale])])
    grid = GridPage(page, f"{app.url}/{REVIEW}")
    grid.expect_settled()
    expect(grid.message).to_contain_text("It is in review, not approved")
    expect(grid.card(address)).to_be_visible()
    assert app.tier(address) == "pending"


def test_deciding_a_coin_edited_by_hand_is_refused_once_and_shows_the_new_text(
    app: Server, grid: GridPage
) -> None:
    edited = grid.at()
    sidecar = Layout(app.root).sidecar("pending", edited)
    sidecar.write_text(json.dumps({**json.loads(sidecar.read_text()), "token_name": "Renamed by hand"}))
    grid.press("a")
    expect(grid.message).to_contain_text("they count now, look at it again")
    expect(grid.card(edited)).to_contain_text("Renamed by hand")
    assert app.tier(edited) == "pending"
    grid.card(edited).click()
    grid.press("a")
    expect(grid.card(edited)).to_have_count(0)
    grid.expect_settled()
    assert app.tier(edited) == "approved"


def test_the_text_in_a_picture_is_corrected_in_the_panel(app: Server, grid: GridPage) -> None:
    first = grid.addresses()[0]
    grid.press("Enter")
    text = grid.panel.locator(".picture-text")
    text.get_by_role("button", name="Write").click()
    grid.page.keyboard.type("a WEN LAMBO")
    expect(grid.panel.locator(".history").get_by_text("Imported by")).to_be_visible()
    assert grid.at() == first, "keys are typed, not obeyed"
    grid.page.keyboard.press("Control+Enter")
    expect(text.get_by_text("a WEN LAMBO")).to_be_visible()
    expect(text.get_by_text("Written by a person")).to_be_visible()
    grid.expect_settled()
    with open_reader(app.root) as library:
        assert library.get(first).picture_text == "a WEN LAMBO"
        assert [record.address for record in library.find(Filter(picture_texts=("lambo",)))] == [first]
    grid.press("Escape")
    grid.press("z")
    grid.expect_settled()


def test_a_link_shows_the_same_view(app: Server, page: Page) -> None:
    view = "pending_sort=Oldest&pending_per=24+a+page&pending_page=2"
    grid = GridPage(page, f"{app.url}/review?{view}")
    with app.stored() as library:
        expected = library.addresses(Filter(tier="pending"))[::-1][24:48]
    assert grid.addresses() == expected
    page.reload()
    expect(grid.cards.first).to_be_visible()
    expect(grid.cards).to_have_count(24)
    assert grid.addresses() == expected
    grid.press("[")
    expect(grid.card(expected[0])).to_have_count(0)
    expect(page).not_to_have_url(re.compile("pending_page=2"))


def test_two_keys_turn_two_pages_though_the_browser_has_not_heard_of_the_first(
    app: Server, page: Page
) -> None:
    held = DelayedMessages(page)
    grid = GridPage(page, f"{app.url}/{REVIEW}")
    with app.stored() as library:
        third = library.addresses(Filter(tier="pending"))[48]
    held.hold()
    grid.press("]", "]")
    held.release()
    expect(grid.card(third)).to_be_visible()
    expect(page).to_have_url(re.compile("pending_page=3"))


def test_all_matching_coins_are_decided_and_undone_across_pages_and_a_new_filter_selects_none(
    app: Server, page: Page
) -> None:
    grid = GridPage(page, f"{app.url}/review")
    count = app.counts()["pending"]
    page.get_by_role("button", name=f"All {count} that match").click()
    expect(page.locator(".chosen-count")).to_have_text(f"All {count} that match selected")
    expect(page.get_by_role("button", name=f"Approve {count}")).to_be_enabled()
    kept = grid.at()
    grid.press(" ")  # one is excluded
    expect(page.locator(".chosen-count")).to_have_text(f"{count - 1} that match selected")

    page.reload()
    page.get_by_role("button", name=f"Bring back {count - 1} selected coins").click()
    expect(page.locator(".chosen-count")).to_have_text(f"{count - 1} that match selected")
    grid.press("Shift+A")  # selects, but decides nothing
    assert app.counts()["pending"] == count

    grid.press("a")
    expect(grid.cards).to_have_count(1)
    assert eventually(lambda: app.counts()["pending"] == 1)
    assert grid.at() == kept
    with app.stored() as library:
        assert library.decisions(limit=1)[0].count == count - 1

    grid.press("z")
    assert eventually(lambda: app.counts()["pending"] == count)
    expect(grid.cards).to_have_count(60)
    page.get_by_role("button", name=f"All {count} that match").click()
    expect(page.locator(".chosen-count")).to_have_text(f"All {count} that match selected")
    page.get_by_role("searchbox").fill("Coin 6")
    expect(page.locator(".chosen-count")).to_have_text("")
    assert app.counts()["pending"] == count


def test_the_filter_line_narrows_the_grid_and_survives_a_reload(app: Server, page: Page) -> None:
    grid = GridPage(page, f"{app.url}/review?pending_words=onerror")
    expect(grid.cards).to_have_count(1)
    page.get_by_placeholder("words, tag:dog …").fill("no such coin")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(grid.cards).to_have_count(60)
    page.get_by_role("searchbox").fill("tag:cat -tag:dog coin")
    expect(grid.cards).to_have_count(1)
    assert grid.addresses() == [CAT]
    page.wait_for_url("**pending_words=**")
    page.reload()
    expect(grid.cards).to_have_count(1)
    page.get_by_role("searchbox").fill("before:soon")
    expect(page.get_by_text("is no date")).to_be_visible()
    expect(grid.cards).to_have_count(0)


def test_text_typed_before_the_field_loads_is_kept_and_decides_nothing(app: Server, page: Page) -> None:
    held: list[Route] = []
    is_held, count = True, app.counts()["pending"]
    page.route("**/TextInput*.js", lambda route: held.append(route) if is_held else route.continue_())
    with page.expect_request("**/TextInput*.js"):
        grid = GridPage(page, f"{app.url}/review")
    grid.press("/")
    page.keyboard.type("tag:car")
    grid.press("Backspace")
    page.keyboard.type("t")
    is_held = False
    for route in held:
        route.continue_()
    line = page.get_by_label("Words", exact=True)
    expect(line).to_have_value("tag:cat")
    expect(line).to_be_focused()
    expect(grid.cards).to_have_count(1)
    assert grid.addresses() == [CAT]
    assert app.counts()["pending"] == count


def test_new_words_clear_the_selection_and_start_at_the_first_card(grid: GridPage) -> None:
    grid.press("End", "Space", "ArrowLeft", "Space")
    grid.expect_selected(2)
    grid.press("/")
    grid.page.keyboard.type("coin")
    grid.press("Enter")
    expect(grid.page.get_by_role("button", name="Bring back 2 selected coins")).to_be_visible()
    expect(grid.cursor).to_be_focused()
    assert grid.at() == grid.addresses()[0]
    expect(grid.cards.first).to_be_in_viewport()
    grid.expect_selected(0)


def test_pictures_have_signed_addresses_a_double_click_undoes_one_decision_and_a_selection_is_undone_as_one(
    app: Server, grid: GridPage
) -> None:
    expect(grid.page.locator(".card.loaded").first).to_be_visible()
    assert grid.cards.first.locator("img").get_attribute("src").startswith("/pictures/")
    expect(grid.page.locator(".card.broken")).to_have_count(0)

    first, second = grid.addresses()[:2]
    grid.press("a", "a")
    grid.expect_settled()
    grid.message.get_by_role("button", name="Undo").dblclick()
    expect(grid.message).to_have_text(re.compile(r"^Undone: approved Coin \d+$"))
    expect(grid.card(second)).to_have_count(1)
    grid.expect_settled()
    assert app.tiers(first, second) == ["approved", "pending"]
    grid.page.locator(".card.at").focus()
    grid.press("z")
    grid.expect_settled()

    chosen = grid.addresses()[:3]
    for number in range(3):
        grid.cards.nth(number).click(modifiers=["Control"])
    expect(grid.page.locator("[data-verb=approve]")).to_contain_text("Approve 3")
    grid.page.locator("[data-verb=approve]").click()
    grid.expect_settled()
    with app.stored() as library:
        assert app.tiers(*chosen) == ["approved"] * 3
        assert library.decisions(limit=1)[0].count == 3
    grid.press("z")
    grid.expect_settled()
    assert app.tiers(*chosen) == ["pending"] * 3
