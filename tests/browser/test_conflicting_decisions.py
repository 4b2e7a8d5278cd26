"""Streamlit runs the cleanup of each overtaken run of a component's script; the page itself stays."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.bare_grid import confirm, mount, posted

_SEND_COUNT = "() => window.posted.length"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A context for each test: a fake clock belongs to its context."""
    with browser.new_context() as context:
        yield context


def test_keys_count_while_new_data_replaces_old(page: Page) -> None:
    mount(page)
    page.keyboard.press("a")
    page.keyboard.press("z")
    page.wait_for_function("() => window.posted.at(-1)?.entries.length === 2")
    approves, undo = posted(page)[-1]["entries"]
    assert (approves["verb"], undo["verb"], undo["undoes"]) == ("approve", "undo", approves["id"])


def test_a_page_the_user_left_ignores_keys(page: Page) -> None:
    mount(page)
    page.evaluate("() => { document.body.replaceChildren(); window.leave(); }")
    page.keyboard.press("a")
    assert not page.evaluate("() => window.told.length + window.posted.length")


def test_a_closing_page_sends_its_unanswered_decisions(page: Page) -> None:
    mount(page)
    page.keyboard.press("a")
    with page.expect_request("http://dashboard/message/decisions") as sent:
        page.evaluate("() => void window.dispatchEvent(new PageTransitionEvent('pagehide'))")
    assert [entry["verb"] for entry in sent.value.post_data_json["entries"]] == ["approve"]


def test_retries_to_an_absent_server_become_less_frequent(page: Page) -> None:
    mount(page)
    page.clock.install()
    page.clock.run_for(60_000)  # it begins at zero: what was pressed before the page stood would be dropped
    page.keyboard.press("a")
    for seconds, sendings in ((1, 1), (2, 2), (5, 3), (10, 4), (20, 5), (20, 6)):
        page.clock.run_for(seconds * 1000)
        assert page.evaluate(_SEND_COUNT) == sendings
    confirm(page)
    page.keyboard.press("a")
    page.clock.run_for(3000)
    assert page.evaluate(_SEND_COUNT) == 9


def test_unanswered_decisions_are_sent_again_as_they_are_and_named(page: Page) -> None:
    mount(page)
    page.keyboard.press("a")
    page.wait_for_function("() => window.posted.length === 2")
    first, again = posted(page)
    assert first == again
    expect(page.locator(".message")).to_contain_text("1 decision not stored yet: the server is away or busy")
    confirm(page)
    expect(page.locator(".message")).to_have_text("All that was decided is stored")
