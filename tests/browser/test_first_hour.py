"""The first five minutes of somebody who has never seen the dashboard, by what is on the screen alone."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from store import demo
from store.catalog.filters import Filter
from store.memory.memory import Memory
from tests.browser.conftest import Serve
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.length import LENGTH
from tests.store.language_model_server import GOOD, running, says
from tests.waiting import eventually

TAGGED = {"Owl Street": "local-demo-owl-street", "Koala Krona": "local-demo-koala-krona",
          "Level One Clown": "local-demo-level-one-clown"}  # fmt: skip
COPYCAT, COPIED, SOUGHT = "local-demo-sh1ba-moonwalk", "local-demo-shiba-moonwalk", "local-demo-frog-punch"


def some_of_the_demo() -> list[str]:
    """Every twentieth coin, every fourth that is in no library yet, and those that are looked at.

    Comparing the pictures of all takes half a minute.
    """
    if LENGTH >= 1:
        return []
    entries = demo.entries()
    some = [*entries[::20], *[entry for entry in entries if entry.tier != "library"][::4]]
    return [COPYCAT, COPIED, SOUGHT, *TAGGED.values(), *(entry.address for entry in some)]


@pytest.mark.slow
def test_somebody_new_reviews_searches_captions_and_asks_the_memory(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    with running() as model:
        model.answers = [says(json.dumps({**GOOD, "emotions": None}))]
        server = serve(
            tmp_path,
            looks="for copies",
            demo=some_of_the_demo(),
            MEMEDEX_CAPTION_MODEL="openai/any-model",
            MEMEDEX_CAPTION_API_BASE=model.address,
            OPENAI_API_KEY="none",
        )
        load_the_demo(page, server)
        reject_a_copycat(page)
        tag_three_coins_and_undo_one(page)
        find_a_coin_and_see_why_it_is_first(page)
        name = finish_a_draft_and_promote_it(page)
        ask_the_memory(page)
    with server.stored() as library:
        assert sum(library.counts().values()) >= len({*some_of_the_demo()} or demo.entries())
        assert library.get(COPYCAT).tier == "trash"
        assert library.history(address=COPYCAT, limit=1)[0].reason == "copycat"
        tagged = [address for address in TAGGED.values() if "cozy" in library.get(address).tags]
        assert len(tagged) == 2
        assert eventually(lambda: bool(library.named(name, Filter(tier="library"), limit=1)))
        [promoted] = library.named(name, Filter(tier="library"), limit=1)
        assert promoted.caption["entity"] == GOOD["entity"]
        assert promoted.caption["emotions"] == "Proud and calm"
    assert Memory.open_for_reading(server.root).status().counts["world_lore"] == 6


def go(page: Page, name: str) -> None:
    """Open a page by its link in the sidebar."""
    page.get_by_role("link", name=re.compile(rf"^{re.escape(name)}")).first.click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()


def coin(page: Page, name: str) -> Locator:
    return page.get_by_role("gridcell", name=name)


def choose(page: Page, name: str) -> None:
    """Click the circle on a coin's card."""
    coin(page, name).get_by_role("checkbox", name="Select").click()


def load_the_demo(page: Page, server: Server) -> None:
    visit(page, server, "", title="Home")
    page.get_by_role("button", name="Load the demo library").click()
    bar = page.get_by_role("progressbar", name="Load the demo library")
    expect(bar).to_be_visible()
    expect(page.get_by_role("link", name=re.compile(r"^Review \d\d")).first).to_be_visible()
    expect(bar).to_have_count(0)


def reject_a_copycat(page: Page) -> None:
    go(page, "Review")
    # The newest pictures are compared first; on a busy machine even those take minutes.
    expect(coin(page, "Sh1ba Moonwalk")).to_contain_text("Shiba Moonwalk", timeout=300_000)
    choose(page, "Sh1ba Moonwalk")
    menu, reason = (page.get_by_role("button", name=name) for name in ("Reject with a reason", "copycat"))
    menu.click()
    page.keyboard.press("Escape")
    expect(reason).to_be_hidden()
    menu.click()
    reason.click()
    expect(page.get_by_text("Rejected Sh1ba Moonwalk: copycat")).to_be_visible()


def tag_three_coins_and_undo_one(page: Page) -> None:
    for name in TAGGED:
        choose(page, name)
        page.get_by_role("button", name="Tags").click()
        dialog = page.get_by_role("dialog", name="Tags")
        dialog.get_by_role("combobox", name="Tags").fill("cozy")
        page.keyboard.press("Enter")
        dialog.get_by_role("button", name="Apply").click()
        expect(dialog).to_be_hidden()
        choose(page, name)
    page.locator(".message").get_by_role("button", name="Undo").click()


def find_a_coin_and_see_why_it_is_first(page: Page) -> None:
    go(page, "Search")
    for words in ("FPCH", "frog in a karate robe with a red headband"):
        line = page.get_by_role("searchbox", name="Search")
        line.fill(words)
        line.press("Enter")
        first = page.get_by_role("gridcell").first
        expect(first).to_have_accessible_name(re.compile("^Frog Punch"))
        wait_until_idle(page)
    page.get_by_role("gridcell").first.get_by_role("button", name="Open").click()
    why = page.get_by_role("dialog", name="Coin", exact=True)
    expect(why.get_by_role("table")).to_contain_text("entity")
    expect(why.get_by_role("table")).to_contain_text("words")
    page.keyboard.press("Escape")


def finish_a_draft_and_promote_it(page: Page) -> str:
    """The name of the coin."""
    go(page, "Captions")
    heading = page.get_by_role("heading", level=2).first
    name = heading.inner_text()
    page.get_by_role("button", name="Suggest a caption").click()
    expect(page.get_by_text(GOOD["entity"])).to_be_visible()  # above the recorded draft
    page.get_by_role("button", name="Accept all").click()
    page.get_by_role("textbox", name="Emotions").fill("Proud and calm")
    page.get_by_label("More").click()
    page.get_by_role("button", name="Save & promote").click()
    expect(heading).not_to_have_text(name)
    return name


def ask_the_memory(page: Page) -> None:
    go(page, "Memory")
    everything = re.compile("^Asks 6 lore entries, .*transcript chunks")
    expect(page.get_by_text(everything)).to_be_visible()
    question = page.get_by_role("searchbox", name="Question")
    question.fill("Who guards the vault?")
    question.press("Enter")
    expect(page.get_by_text("What a model is told")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("The Silver Skull guards the vault")
    expect(page.locator(".mdx-prompt .mdx-lit").first).to_contain_text("The Silver Skull guards the vault")
