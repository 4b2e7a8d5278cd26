"""The grid's script alone on an empty page, with the test as its server."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from playwright.sync_api import Page, Route

from components.grid import actions, grid
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
APPROVE = actions.APPROVE.as_json()
DATA: dict[str, Any] = {
    "key": "pending", "actions": [APPROVE], "undoable": True, "undo": [], "redo": [], "cards": CARDS,
    "server": {"url": "http://dashboard/message", "token": ""}, "pages": False,
    "library": "a library", "who": "ann@x.org", "generation": 1, "acted": None,
    "line": None, "presents": False, "safe": None,
}  # fmt: skip

_LINKS = '<a href="approved">Approved</a> <a href="">Overview</a> <a href="pending">Review</a>'
_IS_LOG = "(key) => key.startsWith('memedex-decisions:')"

# The messages with decisions are in `posted`: those in `confirmed` are answered, others reach nobody.
_SERVER = """
() => {
  window.posted = [];
  window.confirmed = new Set();
  const fetched = window.fetch;
  window.fetch = async (url, options) => {
    if (!url.endsWith("/decisions")) return fetched(url, options);
    const message = JSON.parse(options.body);
    window.posted.push(message);
    const ids = message.entries.map(({ id }) => id).filter((id) => window.confirmed.has(id));
    if (!ids.length) throw new TypeError("away");
    const answer = { generation: 2, verb: "", reason: "", again: {}, done: [], message: "", refused: [] };
    const answers = Object.fromEntries(ids.map((id) => [id, answer]));
    return new Response(JSON.stringify({ answers }), { headers: { "Content-Type": "application/json" } });
  };
}
"""


def mount(
    page: Page, *, styled: bool = False, coins: Mapping[str, Mapping[str, Any]] | None = None, **data: Any
) -> None:
    """Show the grid with these cards and actions, and links to other pages; `coins`: what is said of each."""
    if not page.url.startswith(bare_page.ORIGIN):
        bare_page.visit(page)

    def say(route: Route) -> None:
        coin = (coins or {}).get((route.request.post_data_json or {})["address"])
        route.fulfill(json=coin) if coin else route.fulfill(status=404)

    page.route("**/message/coin", say)
    page.evaluate(_SERVER)
    bare_page.mount(
        page,
        script=grid.script(),
        html=grid.HTML,
        style=grid.style() if styled else "",
        around=_LINKS,
        data={**DATA, **data},
    )


def confirm(page: Page) -> None:
    """Answer what was decided up to now."""
    ids = [entry["id"] for entry in written(page)]
    page.evaluate("ids => ids.forEach((id) => window.confirmed.add(id))", ids)
    give(page, server={"url": "http://dashboard/message", "token": uuid4().hex})
    page.wait_for_function("() => window.posted.at(-1).entries.every(({ id }) => window.confirmed.has(id))")


def posted(page: Page) -> list[dict[str, Any]]:
    """The messages with decisions, as soon as there is one."""
    page.wait_for_function("() => window.posted.length")
    messages: list[dict[str, Any]] = page.evaluate("() => window.posted")
    return messages


def asked(page: Page) -> list[str]:
    """The verbs that the next run of the page is to do, in order."""
    told = "() => window.told.findLast(({ name }) => name === 'asked')?.value.entries ?? []"
    return [entry["verb"] for entry in page.evaluate(told)]


def decided(page: Page) -> list[str]:
    """The verbs of the unconfirmed decisions, in order."""
    return [entry["verb"] for entry in written(page)]


def written(page: Page) -> list[dict[str, Any]]:
    """The unconfirmed decisions, in order."""
    logs = page.evaluate(f"() => Object.keys(localStorage).filter({_IS_LOG}).map((key) => localStorage[key])")
    return [entry for log in logs for entry in json.loads(log)]
