"""Coins saved as one file: opened from a disk, it ranks them as the library does, and loads nothing."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from store.catalog.filters import Filter
from store.library import Library
from store.records import FACETS, Facet
from store.search.query import Part, Query
from store.showcase import asked
from store.showcase import page as saved_page
from tests.browser.coins import CAT, COINS, Coin
from tests.browser.dashboard import Server, visit
from tests.length import repeated
from tests.store.conftest import demo_library  # noqa: F401

EVIL = "</script><script>window.obeyed = 1</script><img src=x onerror='window.obeyed = 1'>"

# Moves the sliders to these weights; the addresses in the order that follows.
RANKED = """(weights) => {
  const sliders = [...document.querySelectorAll(".sliders input[type=range]")];
  sliders.forEach((slider, at) => (slider.value = String(weights[at])));
  sliders[0].dispatchEvent(new Event("input"));
  return [...document.querySelectorAll(".card")].map((card) => card.dataset.address);
}"""

Open = Callable[[bytes], None]


@pytest.fixture
def show(page: Page, tmp_path: Path) -> Open:
    """Open a file with this content, which must ask for nothing else and report no error."""
    path, noticed = tmp_path / "coins.html", list[str]()
    page.on("request", lambda request: noticed.append(request.url))
    page.on("pageerror", lambda error: noticed.append(str(error)))
    page.on("console", lambda message: noticed.append(message.text))

    def show(content: bytes) -> None:
        noticed.clear()
        path.write_bytes(content)
        page.goto(path.as_uri())
        expect(page.locator(".card.loaded").first).to_be_visible()
        assert [one for one in noticed if not one.startswith("data:")] == [path.as_uri()]

    return show


def some_weights(count: int) -> list[dict[Facet, float]]:
    """Positions of five sliders; in every third, one facet alone weighs something."""
    dice = random.Random(36)
    found: list[dict[Facet, float]] = []
    for number in range(count):
        weights = {facet: round(dice.uniform(0, 10), 1) for facet in FACETS}
        alone: dict[Facet, float] = {**dict.fromkeys(FACETS, 0.0), dice.choice(FACETS): 1.0}
        found.append(weights if number % 3 else alone)
    return found


def ranked(library: Library, query: Query, coins: Sequence[str], *, first: Sequence[str] = ()) -> list[str]:
    """These coins in the order of the library."""
    found = library.search(replace(query, top=1_000)).exact_first(first)
    return [hit.address for hit in found if hit.address in coins]


@pytest.mark.parametrize("line", ["sad frog", "STFG", "frog − crown"])
def test_by_random_weights_coins_have_the_order_of_the_library(
    page: Page,
    show: Open,
    demo_library: Library,  # noqa: F811
    line: str,
) -> None:
    question = asked(demo_library, line)
    coins = [hit.address for hit in demo_library.search(replace(question.query, top=50)).hits]
    coins = [*dict.fromkeys([*question.pinned, *coins])][:50]
    content = saved_page(demo_library, coins, asked=question)
    assert len(content) < 6_000_000
    show(content)
    for weights in some_weights(repeated(100, least=15)):
        query = replace(question.query, weights=weights)
        expected = ranked(demo_library, query, coins, first=question.pinned)
        assert page.evaluate(RANKED, [*weights.values()]) == expected


def test_each_coin_says_how_well_it_answers(
    page: Page,
    show: Open,
    demo_library: Library,  # noqa: F811
) -> None:
    question = asked(demo_library, "sad frog")
    coins = [hit.address for hit in demo_library.search(replace(question.query, top=50)).hits]
    show(saved_page(demo_library, coins, asked=question))
    expect(page.locator(".card").first).to_contain_text("strong")
    expect(page.locator(".strength", has_text="below the threshold").first).to_be_visible()


def test_without_a_question_coins_are_ranked_by_likeness_to_one_of_them(
    page: Page,
    show: Open,
    demo_library: Library,  # noqa: F811
) -> None:
    coins = demo_library.addresses(Filter(tier="library"))[:20]
    show(saved_page(demo_library, coins))
    expect(page.locator(".strength", has_text="below")).to_have_count(0)  # an example has no threshold
    for weights in some_weights(repeated(20, least=9)):
        query = Query((Part(like=coins[0]),), weights=weights)
        assert page.evaluate(RANKED, [*weights.values()]) == ranked(demo_library, query, coins)
    other = page.locator(".card").first.get_attribute("data-address")
    page.locator(".card").first.click()
    page.get_by_role("button", name="More like this").click()
    expect(page.locator(f".card[data-address='{other}']")).to_have_count(0)
    expect(page.locator(f".card[data-address='{coins[0]}']")).to_have_count(1)


def test_search_results_are_saved_as_they_are_ranked(page: Page, show: Open, shared: Server) -> None:
    visit(page, shared, "search?q=a+crying+cat", title="Search")
    expect(page.locator(".card").first).to_have_attribute("data-address", CAT.address)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as a file").click()
    assert saved.value.suggested_filename == "memedex.html"
    page.goto("about:blank")
    show(saved.value.path().read_bytes())
    expect(page.get_by_label("Ranked by")).to_have_text(re.compile("a crying cat"))
    expect(page.locator(".card")).to_have_count(len(COINS))
    expect(page.locator(".card").first).to_have_attribute("data-address", CAT.address)


def test_the_keys_move_open_and_explain(page: Page, show: Open, seeded_library: Library) -> None:
    question = asked(seeded_library, "sad cat")
    show(saved_page(seeded_library, [coin.address for coin in COINS], asked=question))
    expect(page.get_by_role("status").filter(has_text="First because")).to_have_text(
        "First because its ticker is CAT."
    )
    cards = page.locator(".card")
    expect(cards.first).to_have_attribute("data-address", CAT.address)
    page.keyboard.press("ArrowRight")
    expect(cards.nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text(CAT.entity)
    page.keyboard.press("y")
    expect(page.get_by_role("dialog")).to_contain_text("ranks above")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_markup_in_what_people_wrote_is_text(page: Page, show: Open, seeded_library: Library) -> None:
    coin = Coin("local-evil", EVIL, "purple", entity=EVIL, context=EVIL, visual=EVIL, tags=(EVIL[:20],))
    seeded_library.add([coin.candidate()])
    seeded_library.approve([coin.address])
    assert not seeded_library.promote([coin.address]).refused
    show(saved_page(seeded_library, [coin.address, CAT.address], asked=asked(seeded_library, EVIL)))
    page.locator(".card").first.click()
    expect(page.get_by_role("dialog")).to_contain_text(EVIL)
    expect(page).to_have_title(f"{EVIL} · Memedex")
    assert page.evaluate("window.obeyed") is None
