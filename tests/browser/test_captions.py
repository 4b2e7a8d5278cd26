"""Captions in the browser: checking, drafts of other coins, replacing, categories, and untrusted text."""

import json

from playwright.sync_api import Locator, Page, Route, expect

from store.library import Library
from tests.browser.bare_editor import data_of, edit
from tests.browser.bare_page import give
from tests.browser.coins import CAT, COINS, DOG, FROG, UNCAPTIONED, picture
from tests.browser.dashboard import Server, visit, wait_until_idle


def state(page: Page) -> Locator:
    """The editor's own status: saved, draft, failed."""
    return page.locator(".memedex-editor .state")


def test_one_click_leads_from_a_check_up_finding_to_the_editor_and_back(page: Page, shared: Server) -> None:
    visit(page, shared, "captions?captions_view=Check+up&captions_kind=unwritten", title="Captions")
    rows = page.locator(".memedex-rows li")
    expect(rows).to_have_count(len(COINS))
    for row in rows.all()[:2]:
        expect(row.locator(".who b")).not_to_be_empty()  # rows are drawn before their names arrive
    name = rows.nth(0).locator(".who b").inner_text()
    following = rows.nth(1).locator(".who b").inner_text()
    rows.nth(0).click()
    heading = page.get_by_role("heading", level=2).first
    expect(heading).to_have_text(name)
    page.keyboard.press("Alt+ArrowDown")
    expect(heading).to_have_text(following)
    page.get_by_role("button", name="Back to the list").click()
    expect(rows).to_have_count(len(COINS))


def test_replacing_leaves_unchecked_texts_unchanged(page: Page, shared: Server) -> None:
    visit(page, shared, "approved", title="Approved")
    expect(page.get_by_role("gridcell")).to_have_count(1)
    wait_until_idle(page)
    page.keyboard.press("w")
    expect(page.get_by_text("1 coin chosen")).to_be_visible()
    page.get_by_role("button", name="Search all captions").click()
    expect(page.get_by_role("radiogroup", name="Among")).to_be_visible()
    wait_until_idle(page)
    page.get_by_role("textbox", name="Find", exact=True).fill("a ")
    page.get_by_role("textbox", name="Replace with").fill("one ")
    expect(page.locator(".memedex-rows li")).to_have_count(4)
    page.get_by_role("checkbox", name=f"Change Entity of {DOG.name}").uncheck()
    page.get_by_role("button", name="Replace in 3 texts").click()
    expect(page.locator(".memedex-rows li")).to_have_count(1)
    with shared.stored() as library:
        assert library.get(DOG.address).caption["entity"] == DOG.entity
        assert library.get(FROG.address).caption["entity"].startswith("One green frog")
        replacing = library.decisions(limit=1)[0].id
    shared.decide("undo", undoes=replacing)


def test_categories_follow_from_the_tags(page: Page, seeded_library: Library) -> None:
    edit(page, seeded_library, UNCAPTIONED.address)
    tags = page.get_by_role("combobox", name="Tags")
    for tag in ("neon", "quite free"):
        tags.fill(tag)
        tags.press("Enter")
    expect(page.get_by_text("Categories: style, other")).to_be_visible()
    expect(page.locator(".chip", has_text="quite free")).to_contain_text("new")
    tags.fill("neno")  # misspelt
    tags.press("Enter")
    expect(page.get_by_text("“neno” is not in the taxonomy")).to_be_visible()
    expect(page.get_by_role("button", name="+ neon")).to_be_visible()
    tags.fill("neo")  # half typed
    page.keyboard.press("Control+s")
    expect(page.get_by_text("“neo” is not in the taxonomy")).to_be_visible()
    tags.fill("")
    page.keyboard.press("Control+s")
    expect(state(page)).to_have_text("Tags only")
    stored = seeded_library.get(UNCAPTIONED.address)
    assert (stored.tags, stored.categories) == (["neon", "quite free"], ["style", "other"])


def test_next_steps_through_all_coins(page: Page, shared: Server) -> None:
    visit(page, shared, "captions", title="Captions")
    page.get_by_test_id("stButtonGroup").get_by_text("Library").click()
    heading = page.get_by_role("heading", level=2).first
    expect(heading).not_to_have_text(UNCAPTIONED.name)
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    seen = [heading.inner_text()]
    for _ in COINS[1:]:
        page.get_by_role("button", name="Next", exact=True).click()
        expect(heading).not_to_have_text(seen[-1])
        seen.append(heading.inner_text())
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_disabled()
    assert sorted(seen) == sorted(coin.name for coin in COINS)

    page.get_by_test_id("stButtonGroup").get_by_text("To caption").click()
    expect(heading).to_have_text(UNCAPTIONED.name)


def test_a_draft_that_is_not_stored_is_named_until_it_is(page: Page, seeded_library: Library) -> None:
    def keep(route: Route) -> None:
        if json.loads(route.request.post_data or "{}")["address"] == UNCAPTIONED.address:
            route.fulfill(status=409, body="the disk is full")
        else:
            route.fallback()

    edit(page, seeded_library, UNCAPTIONED.address)
    page.route("**/editor-keep", keep)
    visual = page.get_by_role("textbox", name="Visual")
    visual.fill("Soft light")
    expect(state(page)).to_contain_text("the disk is full")
    give(page, **data_of(seeded_library, FROG.address))
    expect(page.get_by_role("heading", level=2).first).to_have_text(FROG.name)
    message = page.get_by_text(f"The draft of {UNCAPTIONED.name} is not stored yet: the disk is full")
    expect(message).to_be_visible()
    visual.fill("A grainy photograph")
    expect(state(page)).to_have_text("Draft")
    expect(message).to_be_visible()
    page.unroute("**/editor-keep")
    visual.fill("A grainy photograph of a frog")  # whatever waits is sent with what is typed
    expect(message).to_be_hidden()
    drafts = seeded_library.drafts.of(UNCAPTIONED.address)
    assert [draft.fields["caption"]["visual"] for draft in drafts] == ["Soft light"]


def test_no_coin_has_the_picture_of_the_one_before(page: Page, seeded_library: Library) -> None:
    held: list[Route] = []
    edit(page, seeded_library, FROG.address)
    page.route("**/pictures/*", lambda one: one.fulfill(content_type="image/png", body=picture("red")))
    give(page, **data_of(seeded_library, CAT.address))
    drawn = page.locator(".memedex-editor img.picture")
    expect(drawn).to_be_visible()
    page.route("**/pictures/*", lambda one: held.append(one))
    give(page, **data_of(seeded_library, DOG.address))
    expect(page.get_by_role("heading", level=2).first).to_have_text(DOG.name)
    expect(drawn).to_be_hidden()
    for route in held:
        route.fulfill(content_type="image/png", body=picture("blue"))
    expect(drawn).to_be_visible()
