"""While somebody presents, the server sends numbers in place of people's names; cookies keep switches."""

import pytest

from components.shell.session import presenter
from components.shell.session.presenter import BrowserSwitch
from store.catalog.filter_syntax import parsed
from store.demo import WHO
from store.settings import settings

PRESENTS = {presenter.SWITCH.cookie: "1"}


def test_names_are_numbers_the_same_for_every_request_and_none_of_them_twice() -> None:
    with presenter.request(PRESENTS):
        first, second = presenter.name("ann@x.org"), presenter.name("bob@x.org")
    with presenter.request(PRESENTS):
        assert presenter.name("ann@x.org") == first != second
        assert first.startswith("Reviewer ")
        assert (presenter.name(""), presenter.name(WHO)) == ("", WHO)
    with presenter.request({}):
        assert presenter.name("ann@x.org") == "ann@x.org"


def test_the_setting_presents_to_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "presenter", True)
    with presenter.request({}):
        assert presenter.is_on()
    with presenter.request({presenter.SWITCH.cookie: "0"}):
        assert not presenter.is_on()


def test_a_line_shows_a_number_for_a_name_and_finds_the_same_coins() -> None:
    line = "tag:dog (by:ann@x.org OR -by:me) moon"
    with presenter.request(PRESENTS):
        shown = presenter.concealed(line)
        assert "ann" not in shown
        assert 'by:"Reviewer ' in shown
        assert "by:me" in shown
        assert presenter.concealed(shown) == shown
        assert "ann" not in presenter.concealed("BY:ann@x.org"), "keys may be written in capitals"
        assert parsed(presenter.revealed(shown)).filter == parsed(line).filter
    with presenter.request({}):
        assert presenter.concealed(line) == line


SWITCH = BrowserSwitch("safe", "memedex_safe", lambda: True)


@pytest.mark.parametrize(
    ("query", "set_to"), [("safe=1", "1"), ("a=b&safe=0", "0"), ("safe=2", None), ("", None)]
)
def test_an_address_switches_it(query: str, set_to: str | None) -> None:
    made = SWITCH.set_cookie({"method": "GET", "query_string": query.encode(), "type": "http"})
    assert (made or "").partition(";")[0] == (f"memedex_safe={set_to}" if set_to else "")


def test_the_default_counts_until_a_browser_chooses() -> None:
    assert SWITCH.is_on({})
    assert not SWITCH.is_on({SWITCH.cookie: "0"})
