"""The Tags page renames and merges only the tags that were entered; one click undoes it."""

from playwright.sync_api import Page, expect

from store.catalog.filters import Filter
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.waiting import eventually


def tags(server: Server) -> dict[str, int]:
    with server.stored() as library:
        return library.tag_counts(Filter())


def test_pressing_enter_repeatedly_selects_only_typed_tags(page: Page, shared: Server) -> None:
    before = tags(shared)
    visit(page, shared, "settings?section=Tags", title="Settings")
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
    wait_until_idle(page)
    expect(page.get_by_role("button", name="Rename")).to_be_disabled()
    assert tags(shared) == before


def test_a_merge_shows_old_and_new_names_and_can_be_undone(page: Page, shared: Server) -> None:
    before = tags(shared)
    visit(page, shared, "settings?section=Tags", title="Settings")
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
    assert eventually(lambda: tags(shared) == merged)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone for 2 coins.")).to_be_visible()
    assert tags(shared) == before
