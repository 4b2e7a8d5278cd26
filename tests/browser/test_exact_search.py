"""Exact matches and matching words in a real browser."""

import re
from urllib.parse import quote_plus

from playwright.sync_api import Page, expect

from store.search.query import Part, Query
from tests.browser.coins import CAT, COINS, FROG
from tests.browser.dashboard import Server, wait_until_idle
from tests.browser.grid_page import GridPage, choose_preset


def search(page: Page, server: Server, line: str, more: str = "") -> GridPage:
    return GridPage(page, f"{server.url}/search?q={quote_plus(line)}{more}")


def test_an_exact_match_is_the_first_card_for_keys_and_at_any_weights(page: Page, shared: Server) -> None:
    results = search(page, shared, CAT.name.split()[-1].lower())
    line = page.get_by_role("searchbox", name="Search")
    for words in (line.input_value(), CAT.name.upper(), CAT.address):
        line.fill(words)
        line.press("Enter")
        expect(page).to_have_url(re.compile(re.escape(quote_plus(words))))
        expect(results.cards).to_have_count(len(COINS))
        expect(results.cards.first).to_have_attribute("data-address", CAT.address)
        expect(results.card(CAT.address).get_by_text("Exact match")).to_be_visible()
        expect(page.get_by_text("Exact match").filter(visible=True)).to_have_count(1)
    expect(results.card(CAT.address)).to_have_attribute("aria-rowindex", "1")
    first, second = (results.cards.nth(at).bounding_box() for at in (0, 1))
    assert second["y"] == first["y"]  # no row of its own: the cards close up
    wait_until_idle(page)
    results.cards.first.focus()
    assert results.at() == CAT.address
    results.press("ArrowRight")
    expect(results.card(results.addresses()[1])).to_have_class(re.compile(r"\bat\b"))
    results.press("ArrowLeft", " ")
    results.expect_selected(1)
    choose_preset(page, "Picture only")
    expect(page).to_have_url(re.compile(r"\bw=4%2C0%2C0%2C0%2C0"))
    assert results.addresses()[0] == CAT.address
    expect(results.cards).to_have_count(len(COINS))
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_role("row").nth(1)).to_contain_text("Exact match")


def test_one_click_removes_matching_words_from_the_score(page: Page, shared: Server) -> None:
    results = search(page, shared, "frog")
    with shared.stored() as library:
        fused = library.search(Query((Part(text="frog"),), fused=True)).hits[0]
        plain = library.search(Query((Part(text="frog"),))).hits[0]
    card = results.card(FROG.address)
    expect(card.locator(".score")).to_have_text(f"{fused.score:.3f}")
    card.locator(".bar").dispatch_event("pointerover")
    words = page.locator(".tip tr").filter(has_text="words")
    expect(words.locator(".number")).to_have_text(f"{fused.words.contribution:.3f}")
    switch = page.get_by_label("Matching words")
    expect(switch).to_be_checked()
    switch.click()
    expect(card.locator(".score")).to_have_text(f"{plain.score:.3f}")
    expect(page).to_have_url(re.compile(r"\bwords=0"))
    wait_until_idle(page)
    page.reload()
    expect(page.get_by_label("Matching words")).not_to_be_checked()
    expect(results.card(FROG.address).locator(".score")).to_have_text(f"{plain.score:.3f}")
    page.get_by_label("Matching words").click()
    expect(page).not_to_have_url(re.compile(r"\bwords=0"))
    expect(results.card(FROG.address).locator(".score")).to_have_text(f"{fused.score:.3f}")
