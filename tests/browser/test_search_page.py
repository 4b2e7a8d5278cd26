"""Search in a real browser: by words, by picture, by example; filters, links, actions."""

import base64
import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.coins import COINS, DOG, FROG, PIZZA
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.browser.grid_page import SETTLED, GridPage, choose_preset


def results(page: Page) -> Locator:
    """The cards, best first."""
    return page.get_by_role("gridcell")


def chip(page: Page, message: str) -> Locator:
    """The chip with this label."""
    return page.get_by_test_id("stPopover").get_by_role("button", name=message)


def open_search(page: Page, server: Server, address: str = "") -> None:
    visit(page, server, f"search{address}", title="Search")


def test_one_page_answers_words_a_name_a_tag_a_phrase_parts_and_examples(page: Page, shared: Server) -> None:
    open_search(page, shared)
    line = page.get_by_role("searchbox", name="Search")

    def ask(words: str) -> None:
        line.fill(words)
        line.press("Enter")

    page.get_by_role("button", name="to the moon").click()  # an example of the empty page
    expect(results(page).first).to_contain_text(DOG.name)
    expect(page).to_have_url(f"{shared.url}/search?q=to+the+moon")
    ask("an animal in wet weather")
    expect(results(page).first).to_contain_text(FROG.name)
    expect(results(page)).to_have_count(len(COINS))
    expect(page.get_by_text(f"{len(COINS)} coins ranked in")).to_be_visible()
    assert results(page).first.bounding_box()["y"] <= 300, "results begin in the upper third of the window"
    tools = page.get_by_role("toolbar", name="What to do")
    expect(tools.get_by_role("group", name="View")).to_be_visible()
    ask("pizza slice")
    expect(results(page).first.get_by_text("Exact match")).to_be_visible()
    expect(results(page).first).to_contain_text(PIZZA.name)
    ask("animal tag:dog")
    expect(results(page)).to_have_count(1)
    expect(results(page).first).to_contain_text(DOG.name)
    ask('"a toad in a storm"')
    expect(page.get_by_text("No matches. Filter:")).to_be_visible()
    page.get_by_role("button", name="Search by meaning instead").click()
    expect(results(page)).to_have_count(len(COINS))
    ask("pizza")
    expect(results(page).first).to_contain_text(PIZZA.name)
    ask("frgo")
    page.get_by_role("button", name="Did you mean “frog”?").click()
    expect(line).to_have_value("frog")
    expect(results(page).first).to_contain_text(FROG.name)
    expect(page.get_by_role("button", name=re.compile("Did you mean"))).to_have_count(0)
    ask("xqzvkj")
    expect(page.get_by_text("Nothing fits well.")).to_be_visible()
    expect(results(page)).to_have_count(len(COINS))
    ask("🐸")
    expect(results(page).first).to_contain_text(FROG.name)
    expect(page.get_by_text("Nothing fits well.")).to_have_count(0)

    ask('2*"frog" - "rain"')
    chip(page, "− “rain”").click()
    page.get_by_role("button", name="Remove").click()
    expect(line).to_have_value('2 × "frog"')
    expect(chip(page, "rain")).to_have_count(0)
    expect(results(page).first).to_contain_text(FROG.name)
    wait_until_idle(page)
    results(page).first.press("s")
    expect(chip(page, f"visual: like {FROG.name}")).to_be_visible()
    expect(chip(page, f"− entity: like {FROG.name}")).to_be_visible()
    ask("frog in the rain")
    expect(chip(page, "2 × “frog”")).to_have_count(0)
    expect(results(page).first).to_contain_text(FROG.name)
    wait_until_idle(page)
    results(page).first.press("m")
    like = chip(page, f"like {FROG.name}")
    expect(results(page)).to_have_count(len(COINS) - 1)
    page.reload()
    expect(results(page)).to_have_count(len(COINS) - 1)
    expect(results(page).filter(has_text=FROG.name)).to_have_count(0)
    like.click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Describe a coin, show a picture")).to_be_visible()


def test_a_new_query_starts_at_its_first_result_without_a_selection(page: Page, shared: Server) -> None:
    page.set_viewport_size({"width": 800, "height": 480})  # so that results lie below the edge of the window
    grid = GridPage(page, f"{shared.url}/search?q=sad+cat")
    grid.press("End", "Space", "ArrowLeft", "Space")
    grid.expect_selected(2)
    for words, found in (("frog in the rain", FROG), ("dog in a space suit", DOG)):
        grid.press("End", "/")
        page.keyboard.press("Control+a")
        page.keyboard.type(words)
        grid.press("Enter")
        expect(results(page).first).to_contain_text(found.name)
        expect(page.locator(".card").first).to_be_in_viewport()
        expect(grid.cursor).to_have_attribute("aria-rowindex", "1")
        expect(grid.cursor).to_have_attribute("aria-colindex", "1")
        grid.expect_selected(0)
    expect(page.get_by_role("button", name="Bring back 2 selected coins")).to_be_visible()
    page.reload()
    expect(grid.cards.first).to_be_visible()
    grid.expect_selected(0)


# What a browser does when somebody pastes or drops a picture anywhere on the page.
_GIVE = """([text, way]) => {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const given = new DataTransfer();
    given.items.add(new File([bytes], "photo.jpg", { type: "image/jpeg" }));
    const message = { bubbles: true, cancelable: true, clipboardData: given, dataTransfer: given };
    document.body.dispatchEvent(new (way === "paste" ? ClipboardEvent : DragEvent)(way, message));
}"""


def test_a_pasted_or_dropped_picture_finds_itself_and_another_file_is_refused(
    page: Page, shared: Server
) -> None:
    open_search(page, shared)
    with shared.stored() as library:
        content = base64.b64encode(library.picture(PIZZA.address).read_bytes()).decode()
    expect(page.get_by_text("Drop or paste a picture")).to_be_visible()
    page.locator(".well input[type=file]").set_input_files(
        {"name": "lie.png", "mimeType": "image/png", "buffer": b"plain text"}
    )
    expect(page.get_by_text("This picture cannot be searched with:")).to_be_visible()
    page.evaluate(_GIVE, [content, "paste"])
    expect(results(page).first).to_contain_text(PIZZA.name)
    expect(results(page).first).to_contain_text("1.000")
    expect(chip(page, "picture").locator("img")).to_have_js_property("complete", True)
    assert chip(page, "picture").locator("img").evaluate("image => image.naturalWidth")
    chip(page, "picture").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Describe a coin, show a picture")).to_be_visible()
    page.evaluate(_GIVE, [content, "drop"])
    expect(results(page).first).to_contain_text(PIZZA.name)
    expect(page).to_have_url(re.compile(r"\?q="))
    page.goto(page.url)
    expect(results(page).first).to_contain_text(PIZZA.name)


def test_a_link_restores_the_query_and_weights_and_a_broken_one_what_it_can(
    page: Page, shared: Server
) -> None:
    open_search(page, shared, "?q=space&w=0,1,5,0,0")
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("space")
    expect(page.get_by_label("Weight of context")).to_have_value("5")
    expect(page.get_by_label("Weight of visual")).to_have_value("0")
    expect(results(page).first).to_contain_text(DOG.name)
    choose_preset(page, "Default 4/3/2/1")
    expect(page).not_to_have_url("w=")
    open_search(page, shared, "?q=frog&w=0,0,0,0,0")
    expect(page.get_by_text("All weights are zero, so nothing is searched.")).to_be_visible()
    expect(results(page)).to_have_count(0)
    choose_preset(page, "Default 4/3/2/1")
    expect(results(page).first).to_contain_text(FROG.name)
    open_search(page, shared, "?q=frog&w=nonsense&like=nobody")
    expect(page.get_by_text("the example is not there")).to_be_visible()
    expect(results(page).first).to_contain_text(FROG.name)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_coin_removed_from_the_library_leaves_the_results_until_undo(page: Page, shared: Server) -> None:
    faults: list[object] = []
    page.on("pageerror", lambda fault: faults.append(fault))
    open_search(page, shared, "?q=frog in the rain")
    expect(results(page).first).to_contain_text(FROG.name)
    page.keyboard.press("t")
    expect(results(page).filter(has_text=FROG.name)).to_have_count(0)
    expect(page.get_by_text(f"{len(COINS) - 1} coins ranked in")).to_be_visible()
    assert shared.tier(FROG.address) == "approved"
    assert shared.tier(DOG.address) == "library"
    page.wait_for_function(SETTLED)
    page.keyboard.press("z")
    expect(results(page).first).to_contain_text(FROG.name)
    page.wait_for_function(SETTLED)
    assert shared.tier(FROG.address) == "library"
    assert not faults
