"""The grid's script alone on an empty page, with the test as its server."""

import json
from typing import Any

from playwright.sync_api import Page

from components.grid import assets
from tests.browser import bare_page
from tests.browser.bare_page import give
from tests.store.conftest import address


def cards(count: int, **more: Any) -> list[dict[str, Any]]:
    """So many cards, as the server sends them."""
    return [
        {
            "address": address(number), "name": f"Coin {number}", "ticker": "COIN", "created_at": 0,
            "revision": 1, "tags": [], "description": "", "picture": "", "large": "", "mark": None,
            "twin": None, **more,
        }
        for number in range(count)
    ]  # fmt: skip


CARDS = cards(3)
APPROVE = {
    "verb": "approve",
    "label": "Approve",
    "message": "Approved",
    "key": "a",
    "leaves": True,
    "tone": "",
}
DATA: dict[str, Any] = {
    "key": "pending", "boot": "now", "actions": [APPROVE], "undoable": True, "confirmed": {}, "cards": CARDS,
    "beacon": {"url": "/decisions", "token": ""}, "details": {}, "pages": False,
    "library": "a library", "who": "ann@x.org", "session": "one",
}  # fmt: skip

_LINKS = '<a href="approved">Approved</a> <a href="">Overview</a> <a href="pending">Review</a>'
_IS_LOG = "(key) => key.startsWith('memedex-log:')"


def mount(page: Page, *, styled: bool = False, **data: Any) -> None:
    """Show the grid with these cards and actions, and links to other pages."""
    bare_page.mount(
        page,
        script=assets.script(),
        html=assets.HTML,
        style=assets.style() if styled else "",
        around=_LINKS,
        data={**DATA, **data},
    )


def confirm(page: Page, n: int) -> None:
    """Answer like a server that has applied the log up to this number."""
    client = page.evaluate(f"() => Object.keys(localStorage).find({_IS_LOG}).split(':').at(-1)")
    give(page, confirmed={client: {"n": n, "results": []}})


def decided(page: Page) -> list[str]:
    """The verbs of the unconfirmed decisions, in order."""
    return [entry["verb"] for entry in written(page)]


def written(page: Page) -> list[dict[str, Any]]:
    """The unconfirmed decisions, in order."""
    logs = page.evaluate(f"() => Object.keys(localStorage).filter({_IS_LOG}).map((key) => localStorage[key])")
    return [entry for log in logs for entry in json.loads(log)]
