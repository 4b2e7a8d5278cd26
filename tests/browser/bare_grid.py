"""The grid's script alone on an empty page, with the test as its server."""

import json
from typing import Any

from playwright.sync_api import Page, Route

from components.grid import assets
from components.shell import javascript
from tests.store.conftest import address

CARDS = [
    {
        "address": address(number), "name": f"Coin {number}", "ticker": "COIN", "created_at": 0,
        "revision": 1, "tags": [], "description": "", "picture": "", "large": "", "mark": None, "twin": None,
    }
    for number in range(3)
]  # fmt: skip
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

# Like Streamlit: new data calls the default export, and the cleanup of an overtaken call runs as well.
_HOST = """
async ([source, data]) => {
  document.body.innerHTML =
    '<a href="approved">Approved</a> <a href="">Overview</a> <a href="pending">Review</a>' +
    '<div id="host"><div class="memedex-grid"></div></div>';
  const script = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const parentElement = document.getElementById("host");
  window.told = [];
  const setStateValue = (name, value) => window.told.push({ name, value });
  window.run = (more = {}) => script.default({ data: { ...data, ...more }, parentElement, setStateValue });
  const overtaken = window.run();
  window.leave = window.run();
  overtaken();
}
"""
_IS_LOG = "(key) => key.startsWith('memedex-log:')"


def visit(page: Page) -> None:
    """Open an empty page where the components' modules are served."""
    page.route("http://dashboard/**", lambda route: route.fulfill(content_type="text/html", body="<body>"))
    page.route("http://dashboard/javascript/**", _serve)
    page.goto("http://dashboard/pending")


def _serve(route: Route) -> None:
    route.fulfill(content_type="text/javascript", body=javascript.bundle())


def mount(page: Page, **data: Any) -> None:
    """Show the grid with these cards and actions, and links to other pages."""
    if not page.url.startswith("http://dashboard"):
        visit(page)
    page.evaluate(_HOST, [assets.script(), {**DATA, **data}])


def give(page: Page, **data: Any) -> None:
    """Pass new data to the grid, as after a run of the page."""
    page.evaluate("data => void window.run(data)", data)


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
