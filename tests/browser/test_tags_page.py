"""The table of tags merges the tags whose names were typed; one click undoes it."""

from playwright.sync_api import Page, expect

from components.review.tags import rows_of
from store.catalog.filters import Filter
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.waiting import eventually

ROW = 35  # px of the table


def tags(server: Server) -> dict[str, int]:
    with server.stored() as library:
        return library.tag_counts(Filter())


def place(server: Server, tag: str) -> int:
    """The row of a tag in the table."""
    with server.stored() as library:
        return [one["tag"] for one in rows_of(library.tag_counts(Filter()), library.taxonomy)].index(tag)


def below_first(server: Server, *names: str) -> list[str]:
    """In this order none is marked, as the next row is after Enter, when it is clicked."""
    return sorted(names, key=lambda tag: -place(server, tag))


def type_name(page: Page, server: Server, tag: str, name: str) -> None:
    """Type another name over a tag in the table."""
    wait_until_idle(page)  # else the table moves from under the pointer
    table = page.get_by_test_id("stDataFrame")
    table.locator(".dvn-scroller").first.click(position={"x": 100, "y": ROW * (place(server, tag) + 1.5)})
    expect(table.locator("[role=gridcell][aria-selected=true]")).to_have_text(tag)
    page.keyboard.press("Enter")
    page.locator(".gdg-input").fill(name)
    page.keyboard.press("Enter")


def test_a_merge_shows_old_and_new_names_and_can_be_undone(page: Page, shared: Server) -> None:
    before = tags(shared)
    visit(page, shared, "settings?section=Tags", title="Settings")
    save = page.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    for tag in below_first(shared, "frog", "cat"):
        type_name(page, shared, tag, "beast")
        expect(page.get_by_text(f"{tag} → beast")).to_be_visible()
    expect(page.get_by_text("→ beast (merged)")).to_be_visible()
    assert tags(shared) == before, "nothing changes before it is saved"
    page.get_by_role("button", name="Save for 2 coins").dblclick()
    merged = {**{tag: n for tag, n in before.items() if tag not in ("frog", "cat")}, "beast": 2}
    assert eventually(lambda: tags(shared) == merged)
    expect(save).to_be_disabled()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone for 2 coins.")).to_be_visible()
    assert tags(shared) == before
