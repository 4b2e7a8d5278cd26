"""Decisions kept by the browser are delivered only where they were made."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare_grid import decided, mount
from tests.browser.bare_page import give, visit

LOG = '{"n": 1, "boot": "before", "verb": "approve", "addresses": ["x"], "seen": {}}'


def left(page: Page, *, library: str = "a library", actor: str = "ann%40x.org", grid: str = "pending") -> str:
    """Store one decision that an earlier page left unconfirmed; return its key."""
    key = f"memedex-log:{library.replace(' ', '%20')}:{actor}:earlier:{grid}:old"
    page.evaluate("([key, log]) => localStorage.setItem(key, log)", [key, f"[{LOG}]"])
    return key


def sent_logs(page: Page) -> list[dict[str, object]]:
    page.wait_for_function("() => window.told.some(({ name }) => name === 'log')")
    told: list[dict[str, object]] = page.evaluate(
        "() => window.told.filter(({ name }) => name === 'log').map(({ value }) => value)"
    )
    return told


def kept(page: Page, key: str) -> bool:
    return bool(page.evaluate("key => Boolean(localStorage.getItem(key))", key))


def test_a_decision_names_its_library_person_and_session_in_key_and_payload(page: Page) -> None:
    mount(page)
    page.keyboard.press("a")
    (entry,) = json.loads(
        page.evaluate("() => Object.values(localStorage).find((one) => one.includes('approve'))")
    )
    assert (entry["library"], entry["who"], entry["session"]) == ("a library", "ann@x.org", "one")
    (key,) = page.evaluate("() => Object.keys(localStorage).filter((key) => key.startsWith('memedex-log:'))")
    assert key.startswith("memedex-log:a%20library:ann%40x.org:one:pending:")
    assert sent_logs(page)[0]["library"] == "a library"


def test_unconfirmed_decisions_of_the_same_person_are_sent_until_confirmed(page: Page) -> None:
    visit(page)
    key = left(page)
    mount(page)
    assert [entry["verb"] for entry in sent_logs(page)[0]["others"]["old"]] == ["approve"]  # type: ignore[index]
    assert kept(page, key)
    give(page, confirmed={"old": {"n": 1, "results": []}})
    assert not kept(page, key)


@pytest.mark.parametrize(
    ("of", "message"),
    [
        (
            {"library": "another"},
            "1 decision made in another library will be stored when it is opened here again",
        ),
        (
            {"actor": "bob%40x.org"},
            "1 decision of bob@x.org will be stored when bob@x.org opens this library",
        ),
    ],
)
def test_decisions_made_elsewhere_are_reported_and_kept_but_not_sent(
    page: Page, of: dict[str, str], message: str
) -> None:
    visit(page)
    key = left(page, **of)
    mount(page)
    expect(page.get_by_role("status")).to_contain_text(message)
    page.keyboard.press("a")
    assert sent_logs(page)[0]["others"] == {}
    assert kept(page, key)


def test_decisions_from_before_an_update_are_reported_and_kept_but_never_sent(page: Page) -> None:
    visit(page)
    page.evaluate("log => localStorage.setItem('memedex-log:pending:old', log)", f"[{LOG}, {LOG}]")
    mount(page)
    expect(page.get_by_role("status")).to_contain_text("2 decisions from before an update (2 × approve)")
    page.keyboard.press("a")
    assert sent_logs(page)[0]["others"] == {}
    assert kept(page, "memedex-log-unnamed:pending:old")


def test_another_person_on_the_same_page_gets_a_separate_log_and_selection(page: Page) -> None:
    mount(page)
    page.keyboard.press("Space")
    page.keyboard.press("a")
    assert decided(page) == ["approve"]
    told = len(sent_logs(page))
    give(page, who="bob@x.org")
    expect(page.get_by_role("status")).to_contain_text("1 decision of ann@x.org")
    page.keyboard.press("a")
    page.wait_for_function("told => window.told.filter(({ name }) => name === 'log').length > told", arg=told)
    mine = sent_logs(page)[-1]
    assert mine["who"] == "bob@x.org"
    assert {entry["who"] for entry in mine["entries"]} == {"bob@x.org"}  # type: ignore[attr-defined]
    assert mine["others"] == {}


def test_a_read_only_page_keeps_unsent_decisions_for_a_page_that_can_decide(page: Page) -> None:
    visit(page)
    key = left(page)
    mount(page, undoable=False, actions=[])
    assert page.evaluate("() => window.told.filter(({ name }) => name === 'log')") == []
    assert kept(page, key)


def test_malformed_logs_do_not_block_valid_ones(page: Page) -> None:
    visit(page)
    for key, text in (("a", "{"), ("%:%:%:%:%", "7"), ("x:y:z:pending:c", f"[{LOG}")):
        page.evaluate("([key, text]) => localStorage.setItem(`memedex-log:${key}`, text)", [key, text])
    left(page)
    mount(page)
    assert list(sent_logs(page)[0]["others"]) == ["old"]  # type: ignore[call-overload]
