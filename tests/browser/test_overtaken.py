"""Streamlit cleans up after each run of a component's script that a newer one overtook; the page stays."""

from typing import Any

from playwright.sync_api import Page

from components.grid import assets
from tests.store.conftest import address

CARDS = [
    {
        "address": address(number), "name": f"Coin {number}", "ticker": "COIN", "created_at": 0,
        "revision": 1, "tags": [], "description": "", "picture": "", "large": "", "mark": None, "twin": None,
    }
    for number in range(3)
]  # fmt: skip
APPROVE = {"verb": "approve", "label": "Approve", "said": "Approved", "key": "a", "leaves": True, "tone": ""}
DATA: dict[str, Any] = {
    "key": "pending", "boot": "now", "actions": [APPROVE], "undoable": True, "confirmed": {}, "cards": CARDS,
    "beacon": {"url": "/decisions", "token": ""}, "details": {}, "pages": False,
}  # fmt: skip

# As Streamlit does: new data calls the default export; what an overtaken call returned is called too.
_HOST = """
async ([source, data]) => {
  document.body.innerHTML = '<div id="host"><div class="memedex-grid"></div></div>';
  const script = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const parentElement = document.getElementById("host");
  window.told = [];
  const setStateValue = (name, value) => window.told.push({ name, value });
  const run = () => script.default({ data, parentElement, setStateValue });
  const overtaken = run();
  window.leave = run();
  overtaken();
}
"""
_ENTRIES = (
    "() => window.told.filter(({ name }) => name === 'log').at(-1)?.value.entries.map(({ verb }) => verb)"
)


def test_keys_count_while_new_data_overtakes_old(page: Page) -> None:
    page.evaluate(_HOST, [assets.script(), DATA])
    page.keyboard.press("a")
    page.keyboard.press("z")
    page.wait_for_function(
        "() => window.told.some(({ value }) => value.entries?.length === 2)", timeout=5_000
    )
    assert page.evaluate(_ENTRIES) == ["approve", "undo"]


def test_a_page_that_was_left_hears_no_keys(page: Page) -> None:
    page.evaluate(_HOST, [assets.script(), DATA])
    page.evaluate("() => { document.body.replaceChildren(); window.leave(); }")
    page.keyboard.press("a")
    assert not page.evaluate("() => window.told.length")


def test_what_is_not_confirmed_is_sent_again_as_something_new(page: Page) -> None:
    page.evaluate(_HOST, [assets.script(), DATA])
    page.keyboard.press("a")
    page.wait_for_function("() => window.told.length === 2", timeout=20_000)
    first, again = page.evaluate("() => window.told.map(({ value }) => value)")
    assert first["entries"] == again["entries"]
    assert first != again
