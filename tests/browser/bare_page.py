"""A component's script alone on an empty page, with the test as its server."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from components.shell import javascript

ORIGIN = "http://dashboard"

# Like Streamlit: the component is in a shadow root, new data calls its default export, and the cleanup of an
# overtaken call runs as well.
_HOST = """
async ([source, html, style, around, data]) => {
  document.body.innerHTML = `${around}<div id="host"></div>`;
  const script = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const shadow = document.getElementById("host").attachShadow({ mode: "open" });
  shadow.innerHTML = `<style>${style}</style><div>${html}</div>`;
  const parentElement = shadow.lastChild;
  window.told = [];
  const setStateValue = (name, value) => window.told.push({ name, value });
  const host = { parentElement, setStateValue, setTriggerValue: setStateValue };
  window.run = (more = {}) => script.default({ data: { ...data, ...more }, ...host });
  const overtaken = window.run();
  window.leave = window.run();
  overtaken();
}
"""


def visit(page: Page, path: str = "pending") -> None:
    """Open an empty page where the components' modules are served."""
    page.route(f"{ORIGIN}/**", lambda route: route.fulfill(content_type="text/html", body="<body>"))
    page.route(f"{ORIGIN}/javascript/**", _serve)
    page.goto(f"{ORIGIN}/{path}")


def mount(
    page: Page, *, script: str, html: str, style: str = "", around: str = "", data: Mapping[str, Any]
) -> None:
    """Show a component with this data, below what stands `around` it."""
    if not page.url.startswith(ORIGIN):
        visit(page)
    page.evaluate(_HOST, [script, html, style, around, data])


@contextmanager
def captured(module: Any) -> Iterator[dict[str, Any]]:
    """What this module, run outside of a page, would send to its component."""
    sent: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_component", lambda **given: sent.update(given["data"]))
        yield sent


def give(page: Page, **data: Any) -> None:
    """Pass new data to the component, as after a run of the page."""
    page.evaluate("data => void window.run(data)", data)


def told(page: Page, name: str) -> list[Any]:
    """The values that the component reported by this name, in order."""
    of_that_name = "name => window.told.filter((one) => one.name === name).map(({ value }) => value)"
    values: list[Any] = page.evaluate(of_that_name, name)
    return values


def _serve(route: Route) -> None:
    route.fulfill(content_type="text/javascript", body=javascript.bundle())
