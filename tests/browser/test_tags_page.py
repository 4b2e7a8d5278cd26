"""Tags are renamed and merged on their page: only those that somebody named, and undone by one click."""

from playwright.sync_api import Page, expect

from store.catalog.filters import Filter
from tests.browser.dashboard import Server, at_rest, visit
from tests.waiting import eventually


def tags(server: Server) -> dict[str, int]:
    with server.stored() as library:
        return library.tag_counts(Filter())


def test_enter_pressed_again_and_again_chooses_no_tag_that_was_not_typed(page: Page, seeded: Server) -> None:
    before = tags(seeded)
    visit(page, seeded, "tags", title="Tags")
    field = page.get_by_role("combobox", name="Tags")
    chips = page.locator(".tag-field .chip")
    expect(chips).to_have_count(0)
    field.click()
    for _ in range(3):
        page.keyboard.press("Enter")
    expect(chips).to_have_count(0)
    page.keyboard.type("fro")
    for _ in range(4):
        page.keyboard.press("Enter")
    page.keyboard.type("no such tag")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No coin has such a tag.")).to_be_visible()
    expect(chips).to_have_count(1)
    expect(chips).to_contain_text("frog")
    expect(field).to_be_focused()
    at_rest(page)
    expect(page.get_by_role("button", name="Rename")).to_be_disabled()
    assert tags(seeded) == before


def test_old_and_new_name_are_shown_then_merged_and_undone(page: Page, seeded: Server) -> None:
    before = tags(seeded)
    visit(page, seeded, "tags", title="Tags")
    field = page.get_by_role("combobox", name="Tags")
    field.click()
    for tag in ("frog", "cat"):
        page.keyboard.type(tag)
        page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Their new name").fill("beast")
    expect(page.get_by_text("frog, cat → beast")).to_be_visible()
    page.get_by_role("button", name="Rename on 2 coins").dblclick()
    expect(page.locator(".tag-field .chip")).to_have_count(0)
    expect(page.get_by_role("textbox", name="Their new name")).to_have_value("")
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    merged = {**{tag: n for tag, n in before.items() if tag not in ("frog", "cat")}, "beast": 2}
    assert eventually(lambda: tags(seeded) == merged)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone for 2 coins.")).to_be_visible()
    assert tags(seeded) == before
