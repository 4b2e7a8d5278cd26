"""A browser keeps a switch in a cookie, which the address of a page sets."""

import pytest

from components.shell.browser_switch import BrowserSwitch

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
