"""Sliders: the page ranks results itself, exactly as the store would."""

import re

import pytest
from playwright.sync_api import Page, expect

from store.records import FACETS
from store.search.query import Part, Query
from tests.browser.dashboard import Server
from tests.browser.grid_page import GridPage, choose_preset

TEXT = "a frog in the rain"
WEIGHTS = [(0, 4, 3, 2, 1), (0, 0.5, 9, 0, 3), (7, 1, 0, 4, 0), (0, 0, 0, 10, 0), (3, 0, 0, 0, 0)]


@pytest.fixture
def results(shared: Server, page: Page) -> GridPage:
    return GridPage(page, f"{shared.url}/search?q={TEXT.replace(' ', '+')}")


def shown(results: GridPage) -> list[tuple[str, str]]:
    """Address and score of each card, in the order in which they are displayed and announced."""
    return results.page.eval_on_selector_all(
        ".card",
        """cards => cards
            .map(card => [card.ariaRowIndex * 1000 + +card.ariaColIndex, card])
            .sort(([a], [b]) => a - b)
            .map(([, card]) => [card.dataset.address, card.querySelector('.score').textContent])""",
    )


def drag(results: GridPage, weights: tuple[float, ...]) -> None:
    """Move every slider, faster than the server is notified."""
    results.page.evaluate(
        """weights => {
            const host = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")];
            const root = host.map((each) => each.shadowRoot).find((each) => each.querySelector(".sliders"));
            root.querySelectorAll("input[type=range]").forEach((input, at) => {
                input.value = weights[at];
                input.dispatchEvent(new Event("input"));
            });
        }""",
        list(weights),
    )


def test_the_page_ranks_like_the_store_and_explains_each_score(shared: Server, results: GridPage) -> None:
    results.cards.first.locator(".bar").hover()
    tip = results.page.locator(".tip")
    expect(tip).to_be_visible()
    given = [float(text) for text in tip.locator("tr:not(.total) .number").all_text_contents()]
    total = float(tip.locator(".total .number").text_content() or "nan")
    assert sum(given) == pytest.approx(total, abs=0.003)
    expect(tip).to_contain_text("not written")
    expect(tip).to_contain_text("σ above the library’s mean")
    expect(results.cards.first.locator(".strength")).to_have_text(re.compile("^(strong|weak)$"))
    with shared.stored() as library:
        for fused in (True, False):
            results.page.get_by_label("Matching words").set_checked(fused)
            for weights in WEIGHTS:
                drag(results, weights)
                of_facets = dict(zip(FACETS, weights, strict=True))
                hits = library.search(Query((Part(text=TEXT),), weights=of_facets, fused=fused)).hits
                assert shown(results) == [[hit.address, f"{hit.score:.3f}"] for hit in hits]
    expect(results.page.locator(".card[style*=translate]")).to_have_count(0)  # at rest no card is shifted
    assert results.addresses() == [hit.address for hit in hits]
    drag(results, (0, 0, 0, 0, 0))
    expect(results.cards).to_have_count(0)
    expect(results.page.get_by_text("All weights are zero").first).to_be_visible()
    drag(results, WEIGHTS[0])
    expect(results.cards.first).to_be_visible()


def test_results_that_arrive_while_a_slider_moves_count_words_and_keys_move_a_slider_alone(
    shared: Server, results: GridPage
) -> None:
    slider = results.page.get_by_role("slider", name="Weight of visual")
    moving = slider.evaluate("slider => setInterval(() => slider.dispatchEvent(new Event('input')), 100)")
    line = results.page.get_by_role("searchbox", name="Search")
    line.fill("a cat")
    line.press("Enter")
    with shared.stored() as library:
        best = library.search(Query((Part(text="a cat"),), fused=True)).hits[0]
    expect(results.cards.first.locator(".score")).to_have_text(f"{best.score:.3f}")
    results.page.evaluate("moving => clearInterval(moving)", moving)
    expect(results.page.get_by_label("Matching words")).to_be_checked()
    before = results.at()
    slider.focus()
    results.press("ArrowRight")
    expect(slider).to_have_value("2.1")
    assert results.at() == before
    choose_preset(results.page, "Meaning")  # settled weights reach the link
    expect(results.page).to_have_url(re.compile("w=0"))
    expect(results.page.get_by_role("slider", name="Weight of context")).to_have_value("4")
