"""The caption editor's script alone on an empty page, with the app's own routes behind it."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route, expect

from components.editor import editor
from components.shell import javascript
from store.library import Library
from tests.browser.bare_page import captured, mount, visit
from tests.components.conftest import Client


def data_of(library: Library, address: str) -> dict[str, Any]:
    """What the page of this coin sends to its editor."""
    with captured(editor) as sent:
        editor.show(library, library.get(address), go=lambda address: None)
    return sent


def edit(page: Page, library: Library, address: str) -> None:
    """Open the editor alone on this coin, with what its page sends to it."""
    client = Client()

    def answer(route: Route) -> None:
        request = route.request
        found = client.post(urlsplit(request.url).path, content=request.post_data or "")
        route.fulfill(status=found.status_code, content_type=found.headers["content-type"], body=found.text)

    visit(page, "captions")
    page.route("**/message/*", answer)
    script, style = javascript.component("editor/js/main.js"), Path(editor.__file__).with_name("editor.css")
    mount(
        page, script=script, html=editor.HTML, style=style.read_text("utf-8"), data=data_of(library, address)
    )
    expect(page.get_by_role("textbox", name="Entity")).to_be_visible()
