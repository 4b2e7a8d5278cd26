"""Other views of the results: a table, two settings side by side, the explanation, relevance marks."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from store.search.query import Part, Query
from tests.browser.bare_grid import CARDS, mount
from tests.browser.bare_page import give
from tests.browser.coins import COINS, DOG, FROG
from tests.browser.dashboard import Server, wait_until_idle
from tests.browser.grid_page import GridPage, choose_preset
from tests.waiting import eventually

TEXT = "a frog in the rain"


@pytest.fixture
def results(shared: Server, page: Page) -> GridPage:
    return GridPage(page, f"{shared.url}/search?q={TEXT.replace(' ', '+')}")


def view(results: GridPage, name: str) -> None:
    results.page.get_by_role("group", name="View").get_by_role("button", name=name).click()


def test_the_order_is_explained_a_table_is_downloaded_as_shown_and_two_weight_settings_compared(
    results: GridPage, shared: Server, tmp_path: Path
) -> None:
    results.press("y")
    sheet = results.page.get_by_role("dialog", name="Why this order")
    expect(sheet).to_contain_text("ranks above")
    with shared.stored() as library:
        first, second = library.search(Query((Part(text=TEXT),), fused=True)).hits[:2]
    expect(sheet).to_contain_text(re.compile("Rainy Frog comes first because .* fits? better than"))
    for hit in (first, second):
        expect(sheet.locator(".total")).to_contain_text(f"{hit.score:.3f}")
    results.press("Escape")
    expect(sheet).to_be_hidden()
    view(results, "Table")
    rows = results.page.locator(".results-table tbody tr")
    expect(rows).to_have_count(len(COINS))
    expect(rows.first).to_contain_text(FROG.name)
    results.page.locator(".results-table").get_by_role("button", name="Name").click()
    names = sorted(coin.name for coin in COINS)
    expect(rows.first).to_contain_text(names[0])
    with results.page.expect_download() as download:
        results.page.get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "results.csv")
    with (tmp_path / "results.csv").open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["token_name"] for line in lines] == names
    assert {line["token_address"] for line in lines} == {coin.address for coin in COINS}

    view(results, "Compare")
    sentence = results.page.locator(".versus-sentence")
    expect(sentence).to_have_text(
        "Overlap 100 % · rank correlation 1.00 · 0 new · 0 dropped · 0 changed rank"
    )
    choose_preset(results.page, "Mood")
    expect(results.page.get_by_text("B: current weights · context 1 · visual 1 · emotions 4")).to_be_visible()
    expect(
        results.page.get_by_text("A: saved weights · entity 4 · context 3 · visual 2 · emotions 1")
    ).to_be_visible()
    expect(sentence).to_have_text(
        re.compile(r"Overlap 100 % · rank correlation -?[01]\.\d\d · 0 new · 0 dropped · \d changed rank")
    )
    expect(results.page).to_have_url(re.compile(r"\bw=0%2C0%2C1%2C1%2C4"))
    expect(results.page).to_have_url(re.compile(r"against=0%2C4%2C3%2C2%2C1"))
    results.page.reload()
    expect(results.page.get_by_text("B: current weights · context 1 · visual 1 · emotions 4")).to_be_visible()
    expect(
        results.page.get_by_text("A: saved weights · entity 4 · context 3 · visual 2 · emotions 1")
    ).to_be_visible()
    twin = results.page.locator(".versus section").first.locator("li").first
    twin.hover()
    expect(results.page.locator(".versus li.lit")).to_have_count(2)
    view(results, "Cards")
    tools = results.page.get_by_role("toolbar", name="What to do")
    expect(tools).to_be_visible()
    assert tools.evaluate("node => node.scrollWidth <= node.clientWidth"), "buttons without room are hidden"


def test_the_same_key_sets_and_clears_a_relevance_mark(page: Page, shared: Server) -> None:
    results = GridPage(page, f"{shared.url}/search?q=frog")

    def stored_relevance() -> dict[str, bool]:
        with shared.stored() as library:
            return library.golden.relevance_of("frog")

    results.press(".")
    assert eventually(lambda: stored_relevance() == {FROG.address: True})
    expect(results.card(FROG.address).locator(".mark")).to_have_text("good")
    wait_until_idle(page)
    results.press(",")
    assert eventually(lambda: stored_relevance() == {FROG.address: False})
    results.expect_settled()
    wait_until_idle(page)
    results.press(",")
    assert eventually(lambda: stored_relevance() == {})
    assert DOG.address not in stored_relevance()


# Like the server's table: a column for each facet. Long timers are dropped, so that waiting cannot help.
_RANKED = """
([ranking, cards]) => {
  const own = window.setTimeout;
  window.setTimeout = (work, delay, ...rest) => (delay < 5000 ? own(work, delay, ...rest) : -1);
  const column = { length: 3, get: (row) => 1 - row / 10 };
  window.run({ ranking, cards, similarities: { getChild: (name) => (name === "group" ? null : column) } });
}
"""


RANKING: dict[str, Any] = {
    "query": "frog", "means": [0] * 5, "weights": {"entity": 1}, "usual": None, "top": 3, "presets": [],
    "calibrated": None, "uncalibrated": "", "calibrate": False, "words": None, "fused": False,
    "pictures": None, "pinned": [], "view": "cards", "held": None,
}  # fmt: skip


def test_a_csv_download_waits_for_the_cards_it_lists(page: Page) -> None:
    cards = [{**card, "row": row, "facets": True} for row, card in enumerate(CARDS)]
    cards[0]["name"] = "＝Coin 0"  # a spreadsheet may read this as a formula
    ranking = {**RANKING, "view": "table"}
    mount(page, cards=[], key="search")
    page.evaluate(_RANKED, [ranking, cards[:2]])
    expect(page.locator(".results-table tbody tr")).to_have_count(3)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
        give(page, ranking=ranking, cards=cards)
    lines = csv.DictReader(download.value.path().read_text("utf-8-sig").splitlines())
    assert [line["token_name"] for line in lines] == ["'＝Coin 0", "Coin 1", "Coin 2"]


def test_the_score_breakdown_shows_calibrated_values(page: Page) -> None:
    cards = [{**card, "row": row, "facets": True} for row, card in enumerate(CARDS[:3])]
    calibrated = {"centre": [0.3] * 5, "spread": [0.2] * 5}
    ranking = {
        **RANKING, "weights": {"entity": 2, "context": 1}, "calibrated": calibrated, "calibrate": True,
    }  # fmt: skip
    mount(page, cards=[], key="search")
    page.evaluate(_RANKED, [ranking, cards])
    page.get_by_role("gridcell").first.locator(".bar").dispatch_event("pointerover")
    expect(page.locator(".tip tr").first).to_contain_text("1.000 → 3.50 × 66.7 %")
    expect(page.locator(".tip tr").first.locator(".number")).to_have_text("2.333")
    expect(page.locator(".tip .total .number")).to_have_text("3.500")


def test_a_slider_draws_cards_elsewhere_without_an_attribute_of_their_places(page: Page) -> None:
    mount(page, cards=[], key="search")
    page.evaluate(_RANKED, [RANKING, [{**card, "row": row} for row, card in enumerate(CARDS)]])
    expect(page.get_by_role("gridcell")).to_have_count(3)
    page.get_by_role("slider", name="Weight of image").fill("5")
    expect(page.locator(".card").first).to_have_attribute("style", re.compile("translate"))
    expect(page.locator(".card[slot]")).to_have_count(0)


def test_similarities_that_did_not_arrive_are_requested_until_they_do(page: Page) -> None:
    cards = [{**card, "row": row} for row, card in enumerate(CARDS)]
    requests = "window.told.filter(({ name }) => name === 'requested').length"
    mount(page, cards=[], key="search")
    give(page, ranking=RANKING, cards=cards)
    give(page, ranking=RANKING, cards=cards)
    assert page.evaluate(requests) == 2
    page.evaluate(_RANKED, [RANKING, cards])
    expect(page.get_by_role("gridcell")).to_have_count(3)
    give(page, ranking=RANKING, cards=cards)
    assert page.evaluate(requests) == 2


def test_choosing_a_preset_twice_sends_two_different_values(page: Page) -> None:
    """The weights of a saved search apply until the sliders send a new value, even an equal one."""
    weights = {"image": 0, "entity": 0, "context": 0, "visual": 0, "emotions": 4}
    ranking = {**RANKING, "presets": [("Mine", weights, "")]}
    mount(page, cards=[], key="search")
    page.evaluate(_RANKED, [ranking, [{**card, "row": row} for row, card in enumerate(CARDS)]])
    for times in (1, 2):
        choose_preset(page, "Mine")
        told = (
            "window.told.filter(({ name }) => name === 'weights').map(({ value }) => JSON.stringify(value))"
        )
        page.wait_for_function(f"() => {told}.length === {times}")
    assert len(set(page.evaluate(told))) == 2
    page.get_by_label("Weight of emotions").press("ArrowRight")
    expect(page.get_by_label("Weight of emotions")).to_have_value("4.1")
    page.keyboard.press("y")  # the slider still has the focus
    expect(page.get_by_text("ranks above")).to_be_visible()
