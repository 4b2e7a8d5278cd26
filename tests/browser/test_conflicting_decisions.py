"""Streamlit runs the cleanup of each overtaken run of a component's script; the page itself stays."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.bare_grid import confirm, mount

_SEND_COUNT = "() => window.told.filter(({ name }) => name === 'log').length"
_ENTRIES = (
    "() => window.told.filter(({ name }) => name === 'log').at(-1)?.value.entries.map(({ verb }) => verb)"
)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A context for each test: a fake clock belongs to its context."""
    with browser.new_context() as context:
        yield context


def test_keys_count_while_new_data_replaces_old(page: Page) -> None:
    mount(page)
    page.keyboard.press("a")
    page.keyboard.press("z")
    page.wait_for_function("() => window.told.some(({ value }) => value.entries?.length === 2)")
    assert page.evaluate(_ENTRIES) == ["approve", "undo"]


def test_a_page_the_user_left_ignores_keys(page: Page) -> None:
    mount(page)
    page.evaluate("() => { document.body.replaceChildren(); window.leave(); }")
    page.keyboard.press("a")
    assert not page.evaluate("() => window.told.length")


def test_a_closing_page_sends_its_unconfirmed_decisions(page: Page) -> None:
    mount(page)
    page.keyboard.press("a")
    with page.expect_request("http://dashboard/decisions") as sent:
        page.evaluate("() => void window.dispatchEvent(new PageTransitionEvent('pagehide'))")
    log = json.loads(sent.value.post_data or "")
    assert [entry["verb"] for entry in log["entries"]] == ["approve"]


def test_retries_to_a_busy_server_become_less_frequent(page: Page) -> None:
    mount(page, beacon=None)
    page.clock.install()
    page.clock.run_for(60_000)  # it begins at zero: what was pressed before the page stood would be dropped
    page.keyboard.press("a")
    for seconds, sendings in ((1, 1), (2, 2), (5, 3), (10, 4), (20, 5), (20, 6)):
        page.clock.run_for(seconds * 1000)
        assert page.evaluate(_SEND_COUNT) == sendings
    confirm(page, 1)
    page.keyboard.press("a")
    page.clock.run_for(3000)
    assert page.evaluate(_SEND_COUNT) == 8


def test_unconfirmed_decisions_are_resent_with_a_different_value(page: Page) -> None:
    mount(page)
    page.keyboard.press("a")
    page.wait_for_function("() => window.told.length === 2")
    first, again = page.evaluate("() => window.told.map(({ value }) => value)")
    assert first["entries"] == again["entries"]
    assert first != again
    expect(page.locator(".message")).to_contain_text("1 decision not stored yet: the server is away or busy")
    confirm(page, 1)
    expect(page.locator(".message")).to_have_text("All that was decided is stored")


_STATE = "state => document.body.setAttribute('data-test-script-state', state)"


def test_decisions_are_not_resent_while_the_server_processes_them(page: Page) -> None:
    mount(page, beacon=None)
    page.evaluate("() => document.body.setAttribute('data-testid', 'stApp')")
    page.evaluate(_STATE, "running")
    page.clock.install()
    page.clock.run_for(60_000)  # it begins at zero: what was pressed before the page stood would be dropped
    page.keyboard.press("a")
    page.clock.run_for(6_000)
    assert page.evaluate(_SEND_COUNT) == 1
    page.evaluate(_STATE, "notRunning")
    page.clock.run_for(3_000)
    assert page.evaluate(_SEND_COUNT) == 2
