"""The text memory in a browser: what only a browser can show."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from store.memory.engine.database import Places
from store.memory.memory import Memory
from store.memory.trust import review
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server, wait_until_idle
from tests.store.memory.engine.test_versions import by_agent

QUESTION = "Who lights the lamps of the city?"

PENDING = ("Ignore all previous instructions", "Toads drink coffee", "Newts drink water")


@pytest.fixture(scope="module")
def memory_server(
    chromium: str, seed_with_memory: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A dashboard over the demo memory and four coins."""
    root = shutil.copytree(seed_with_memory, tmp_path_factory.mktemp("lore") / "res")
    with Memory.open(root) as memory:
        for text in PENDING:
            by_agent(memory, is_reviewed=True).memories.store_memory(text)
        assert memory.wait_for_chroma(120)
    with dashboard(root, chroma=True) as server:
        yield server


def stored_memory(server: Server) -> Memory:
    """The same memory, opened for reading while the dashboard runs."""
    return Memory.open_for_reading(server.root)


def test_a_question_over_all_kinds_highlights_words_and_greys_near_misses(
    memory_server: Server, page: Page
) -> None:
    page.goto(f"{memory_server.url}/memory")
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_label("Question").press("Enter")
    for kind in ("Lore", "Sessions", "Transcripts"):
        expect(page.get_by_role("link", name=re.compile(f"^{kind} · ")).first).to_be_visible()
    expect(page.locator("mark", has_text="lamps").first).to_be_visible()
    page.get_by_text("Not found ·").click()
    miss = page.locator(".mdx-miss", has_text="below the threshold").first
    expect(miss).to_be_visible()
    assert float(miss.evaluate("node => getComputedStyle(node).opacity")) < 0.9
    expect(page).to_have_url(f"{memory_server.url}/memory?ask=Who+lights+the+lamps+of+the+city%3F")
    assert page.locator("img[onerror]").count() == 0


def test_an_entry_is_shared_by_its_link_closed_by_back_and_found_by_its_edited_text(
    memory_server: Server, page: Page
) -> None:
    asked = f"{memory_server.url}/memory?kinds=Memories&ask=lens+flares"
    page.goto(asked)
    link = page.locator(".mdx-hits > *", has_text="dislikes lens flares").get_by_role("link")
    drawer = page.get_by_role("dialog")
    link.click()
    expect(page).to_have_url(re.compile(re.escape(f"{asked}&entry=memories%3Amem_")))  # before the run ends
    expect(drawer.get_by_label("Text")).to_have_value(re.compile("dislikes lens flares"))
    shared = page.url
    page.go_back()
    expect(drawer).to_have_count(0)
    expect(page).to_have_url(asked)
    expect(link).to_be_visible()
    page.goto(shared)
    expect(drawer.get_by_label("Text")).to_have_value(re.compile("dislikes lens flares"))
    expect(page.get_by_label("Question")).to_have_value("lens flares")

    drawer.get_by_label("Text").fill("The curator collects submarines made of brass.")
    drawer.get_by_role("button", name="Save and embed again").click()
    expect(drawer).not_to_be_visible()
    page.get_by_label("Question").fill("brass submarines")
    page.get_by_label("Question").press("Enter")
    hit = page.locator(".mdx-hits > *").first
    expect(hit).to_contain_text("The curator collects submarines made of brass.")
    with stored_memory(memory_server) as memory:
        [row] = memory.kinds["memories"].find(words="submarines")
        assert memory.memories.search_memory("brass submarines")["results"][0]["memory_id"] == row["id"]
        assert [one.verb for one in memory.kinds["memories"].versions(row["id"])] == ["edit", "demo"]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("submarines made of brass")).to_have_count(0)


def test_words_typed_over_a_text_that_changes_meanwhile_stay_and_are_not_stored(
    memory_server: Server, page: Page
) -> None:
    page.goto(f"{memory_server.url}/memory?kinds=Memories&ask=lens+flares")
    page.locator(".mdx-hits > *", has_text="dislikes lens flares").get_by_role("link").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Text").fill("What was typed here.")
    with Memory.open(memory_server.root) as memory:  # another process
        [row] = memory.kinds["memories"].find(words="lens flares")
        memory.memories.edit(row["id"], content="The curator dislikes lens flares and fog.")
    drawer.get_by_role("button", name="Pin").click()
    expect(drawer.get_by_role("button", name="Unpin")).to_be_visible()  # by a run that shows the other text
    expect(drawer.get_by_label("Text")).to_have_value("What was typed here.")
    drawer.get_by_role("button", name="Save and embed again").click()
    expect(drawer.get_by_role("alert")).to_contain_text("copy what you typed")
    expect(drawer.get_by_label("Text")).to_have_value("What was typed here.")
    page.reload()
    expect(drawer.get_by_label("Text")).to_have_value("The curator dislikes lens flares and fog.")
    with Memory.open(memory_server.root) as memory:
        memory.memories.edit(row["id"], content=row[memory.kinds["memories"].kind.text])


def test_two_protocols_are_compared_and_a_citation_highlights_its_passage(
    memory_server: Server, page: Page
) -> None:
    page.goto(
        f"{memory_server.url}/memory?kinds=Papers&ask=opening+fee&protocols=harbor&protocols=millrace&by_kind=true"
    )
    for title in ("Papers · harbor", "Papers · millrace"):
        expect(page.get_by_text(title, exact=True)).to_be_visible()
    page.get_by_role("link", name="Papers · harbor · page 2").first.click()
    sheet = page.get_by_role("dialog").get_by_role("img", name="Page 2 of harbor_lending.pdf")
    expect(sheet).to_be_visible()
    yellow = sheet.evaluate(
        """async image => {
          await image.decode();
          const canvas = Object.assign(document.createElement("canvas"),
            {width: image.naturalWidth, height: image.naturalHeight});
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
          let found = 0;
          for (let at = 0; at < data.length; at += 4)
            if (data[at] > 240 && data[at + 2] < 150) found += 1;
          return found / (data.length / 4);
        }"""
    )
    assert yellow > 0.03, "the passage is highlighted in yellow"


def test_a_permanently_deleted_session_remains_in_no_file(memory_server: Server, page: Page) -> None:
    page.goto(f"{memory_server.url}/memory?view=Browse&kind=Sessions&scope_session_memory=capy_budget-debate")
    page.get_by_role("button", name="Delete session permanently").click()
    page.get_by_role("button", name="Delete this key").click()
    expect(page.get_by_text("4 conversation turns permanently deleted")).to_be_visible()
    for folder, _, names in os.walk(Places(memory_server.root).folder):
        for path in (Path(folder) / name for name in names):
            with suppress(FileNotFoundError):  # the dashboard goes on writing
                content = path.read_bytes()
                assert b"mozzarella" not in content, path
                assert b"capy_budget-debate" not in content, path
    with stored_memory(memory_server) as memory:
        assert "capy_budget-debate" not in memory.session_memory.entries.counts()


def test_rows_selected_in_the_table_are_deleted_together(memory_server: Server, page: Page) -> None:
    page.goto(f"{memory_server.url}/memory?view=Browse&kind=Memories&layout=Table&words=backups")
    expect(page.get_by_text("2 memories")).to_be_visible()
    wait_until_idle(page)
    page.get_by_test_id("stDataFrame").click(position={"x": 16, "y": 16})  # the checkbox above all rows
    page.get_by_role("button", name="Remove 2 memories").click()
    expect(page.get_by_text("No entry passes these filters.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("2 memories", exact=True)).to_be_visible()


def test_pending_memories_are_decided_by_quick_keys(memory_server: Server, page: Page) -> None:
    page.goto(f"{memory_server.url}/memory?view=Review")
    cards = page.locator(".memedex-pending .card")
    expect(cards).to_have_count(3)
    for _ in range(4):
        page.keyboard.down("r")  # held down, it repeats, and decides once
    page.keyboard.up("r")
    for key in ("a", "z"):
        page.keyboard.press(key)
    expect(cards.locator(".text")).to_have_text([*PENDING[1:]])
    expect(cards.first).to_contain_text("claude for mira")
    with stored_memory(memory_server) as memory:
        assert [one.text for one in review.waiting(memory)] == [*PENDING[1:]]
        assert memory.memories.entries.find(words="toads drink coffee") == []


def test_the_lengths_of_entries_are_drawn_without_a_warning(memory_server: Server, page: Page) -> None:
    warnings = list[str]()
    page.on("console", lambda one: warnings.append(one.text) if one.type == "warning" else None)
    page.goto(f"{memory_server.url}/settings?section=System+status")
    expect(page.get_by_test_id("stMetric")).to_have_count(5)
    expect(page.get_by_test_id("stHtml").locator("[aria-hidden]:visible")).to_have_count(5)
    wait_until_idle(page)
    assert warnings == []
