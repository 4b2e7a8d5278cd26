"""Decisions kept by the browser are delivered only where they were made."""

from playwright.sync_api import Page, expect

from tests.browser.bare_grid import decided, mount, posted
from tests.browser.bare_page import give, visit

LOG = '{"id": "left", "verb": "approve", "addresses": ["x"], "seen": {}}'


def left(page: Page) -> str:
    """Store one decision that an earlier page left unanswered; return its key."""
    key = "memedex-decisions:a%20library:ann%40x.org:old"
    page.evaluate("([key, log]) => localStorage.setItem(key, log)", [key, f"[{LOG}]"])
    return key


def kept(page: Page, key: str) -> bool:
    return bool(page.evaluate("key => Boolean(localStorage.getItem(key))", key))


def test_a_decision_waits_under_its_library_and_person_and_is_sent_with_them(page: Page) -> None:
    mount(page)
    page.keyboard.press("a")
    message = posted(page)[0]
    assert (message["library"], message["who"]) == ("a library", "ann@x.org")
    assert [entry["verb"] for entry in message["entries"]] == ["approve"]
    keys = page.evaluate("() => Object.keys(localStorage).filter((key) => key.startsWith('memedex-dec'))")
    assert [key.rpartition(":")[0] for key in keys] == ["memedex-decisions:a%20library:ann%40x.org"]


def test_another_person_on_the_same_page_gets_a_separate_log_and_selection(page: Page) -> None:
    mount(page)
    page.keyboard.press("Space")
    page.keyboard.press("a")
    assert decided(page) == ["approve"]
    sent = len(posted(page))
    give(page, who="bob@x.org")
    expect(page.get_by_role("status")).to_contain_text("1 decision of ann@x.org")
    page.keyboard.press("a")
    page.wait_for_function(
        "sent => window.posted.slice(sent).some(({ who }) => who === 'bob@x.org')", arg=sent
    )
    mine = [message for message in posted(page) if message["who"] == "bob@x.org"]
    assert [len(message["entries"]) for message in mine] == [1] * len(mine)


def test_a_read_only_page_keeps_unsent_decisions_for_a_page_that_can_decide(page: Page) -> None:
    visit(page)
    key = left(page)
    mount(page, undoable=False, actions=[])
    assert page.evaluate("() => window.posted") == []
    assert kept(page, key)


def test_malformed_logs_do_not_block_valid_ones(page: Page) -> None:
    visit(page)
    for key, text in (
        ("a", "{"),
        ("%:%:%", "7"),
        ("x:y:z", f"[{LOG}"),
        ("a%20library:ann%40x.org:c", "[{}]"),
    ):
        put = "([key, text]) => localStorage.setItem(`memedex-decisions:${key}`, text)"
        page.evaluate(put, [key, text])
    left(page)
    mount(page)
    assert [entry["id"] for entry in posted(page)[0]["entries"]] == ["left"]
