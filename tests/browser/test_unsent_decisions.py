"""What a browser kept of decisions: delivered where they were made, and nowhere else."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare_grid import decided, give, mount, visit

LOG = '{"n": 1, "boot": "before", "verb": "approve", "addresses": ["x"], "seen": {}}'


def left(page: Page, *, library: str = "a library", actor: str = "ann%40x.org", grid: str = "pending") -> str:
    """One decision that an earlier page left unconfirmed; the key it lies under."""
    key = f"memedex-log:{library.replace(' ', '%20')}:{actor}:earlier:{grid}:old"
    page.evaluate("([key, log]) => localStorage.setItem(key, log)", [key, f"[{LOG}]"])
    return key


def sent(page: Page) -> list[dict[str, object]]:
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
    assert sent(page)[0]["library"] == "a library"


def test_what_the_same_person_left_behind_in_this_library_is_sent_until_it_is_confirmed(page: Page) -> None:
    visit(page)
    key = left(page)
    mount(page)
    assert [entry["verb"] for entry in sent(page)[0]["others"]["old"]] == ["approve"]  # type: ignore[index]
    assert kept(page, key)
    give(page, confirmed={"old": {"n": 1, "results": []}})
    assert not kept(page, key)


@pytest.mark.parametrize(
    ("of", "said"),
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
def test_what_was_decided_elsewhere_is_named_kept_and_not_sent(
    page: Page, of: dict[str, str], said: str
) -> None:
    visit(page)
    key = left(page, **of)
    mount(page)
    expect(page.get_by_role("status")).to_contain_text(said)
    page.keyboard.press("a")
    assert sent(page)[0]["others"] == {}
    assert kept(page, key)


def test_decisions_from_before_logs_had_names_are_named_kept_and_never_sent(page: Page) -> None:
    visit(page)
    page.evaluate("log => localStorage.setItem('memedex-log:pending:old', log)", f"[{LOG}, {LOG}]")
    mount(page)
    expect(page.get_by_role("status")).to_contain_text("2 decisions from before an update (2 × approve)")
    page.keyboard.press("a")
    assert sent(page)[0]["others"] == {}
    assert kept(page, "memedex-log-unnamed:pending:old")


def test_another_person_at_the_same_page_begins_a_log_and_a_choice_of_their_own(page: Page) -> None:
    mount(page)
    page.keyboard.press("Space")
    page.keyboard.press("a")
    assert decided(page) == ["approve"]
    told = len(sent(page))
    give(page, who="bob@x.org")
    expect(page.get_by_role("status")).to_contain_text("1 decision of ann@x.org")
    page.keyboard.press("a")
    page.wait_for_function("told => window.told.filter(({ name }) => name === 'log').length > told", arg=told)
    mine = sent(page)[-1]
    assert mine["who"] == "bob@x.org"
    assert {entry["who"] for entry in mine["entries"]} == {"bob@x.org"}  # type: ignore[attr-defined]
    assert mine["others"] == {}


def test_a_page_that_may_only_look_leaves_what_waits_for_one_that_may_decide(page: Page) -> None:
    visit(page)
    key = left(page)
    mount(page, undoable=False, actions=[])
    assert page.evaluate("() => window.told.filter(({ name }) => name === 'log')") == []
    assert kept(page, key)


def test_what_is_no_log_keeps_none_from_being_sent(page: Page) -> None:
    visit(page)
    for key, text in (("a", "{"), ("%:%:%:%:%", "7"), ("x:y:z:pending:c", f"[{LOG}")):
        page.evaluate("([key, text]) => localStorage.setItem(`memedex-log:${key}`, text)", [key, text])
    left(page)
    mount(page)
    assert list(sent(page)[0]["others"]) == ["old"]  # type: ignore[call-overload]
