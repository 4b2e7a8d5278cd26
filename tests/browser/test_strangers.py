"""Strangers' markup is never run, and no page contacts another server or breaks the content policy."""

import re
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from components.shell.page.places import PLACES
from store.library import Library
from store.memory.memory import Memory
from store.search.query import SavedSearch
from tests.browser.conftest import Serve
from tests.browser.dashboard import wait_until_idle
from tests.browser.grid_page import filled_library
from tests.store.conftest import address, coin

MARKUP = (
    "<img src=x onerror='window.__xss=1'><script>window.__xss=1</script>"
    "<svg onload='window.__xss=1'></svg>[a](javascript:window.__xss=1)![b](http://evil.example/b.png)"
)
SHORT = "<img src=x onerror='window.__xss=1'>"
ELSEWHERE = "http://evil.example/c.png"
WATCH = """
window.__broken = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.__broken.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}`));
"""
VIEWS = ".memedex-views a"


def fill(library: Library) -> None:
    caption = dict.fromkeys(("entity", "context", "visual", "emotions"), MARKUP)
    hostile = {
        "token_name": MARKUP, "ticker": "<b onclick=alert(1)>", "description": f"{MARKUP} {ELSEWHERE}",
        "tags": ["<i>", "dog"], "caption": caption, "logoURI": ELSEWHERE,
    }  # fmt: skip
    assert not library.add([coin(number, **hostile) for number in range(6)], actor=MARKUP).refused
    addresses = [address(number) for number in range(6)]
    library.approve(addresses[:4], actor=MARKUP)
    assert not library.promote(addresses[:2], actor=MARKUP).refused
    library.reject(addresses[5:], actor=MARKUP, reason=MARKUP)
    library.drafts.save(addresses[2], caption, actor=MARKUP)
    library.filters.save(SHORT, "dog")
    library.searches.save(SHORT, SavedSearch("dog"))
    library.golden.save("dog <b onclick=alert(1)>", addresses[:1], actor=MARKUP)
    library.prompts.save("strange", f"{MARKUP} {{name}}", actor=MARKUP)


@pytest.fixture(scope="module")
def root(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = filled_library(tmp_path_factory.mktemp("strangers") / "res", fill)
    with Memory.open(root) as memory:
        memory.memories.store_memory(MARKUP, tags=["<i>"], actor=MARKUP)
        paper = Path("<img src=x onerror='window.__xss=1'>.md")
        memory.documents.import_document(paper, protocol="harbor", content=MARKUP.encode(), actor=MARKUP)
    return root


def test_every_page_opens_runs_no_markup_and_contacts_no_other_server(
    root: Path, serve: Serve, page: Page
) -> None:
    app = serve(root, MEMEDEX_USER=MARKUP)
    asked, broken = set[str](), list[str]()
    page.on("request", lambda request: asked.add(request.url))
    page.on("websocket", lambda socket: asked.add(socket.url))
    page.add_init_script(WATCH)

    def check() -> None:
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        wait_until_idle(page)
        expect(page).to_have_title(re.compile(r".+ · Memedex"))
        expect(page.get_by_test_id("stException")).to_have_count(0)
        assert page.evaluate("window.__xss") is None, page.url
        broken.extend(f"{page.url}: {one}" for one in page.evaluate("window.__broken"))

    line = quote(MARKUP)
    page.goto(app.url)
    check()
    for path in (
        *PLACES,
        "search?view=Map",
        "search?view=Use+as+prompt",
        f"search?q={line}",
        f"review?q={line}",
    ):
        if path in PLACES:
            entry = page.get_by_test_id("stSidebar").get_by_role("link", name=re.compile(f"^{path}"))
            entry.click()
            expect(page.get_by_role("heading", name=path, level=1, exact=True)).to_be_visible()
        else:
            page.goto(f"{app.url}/{path}")
        check()
        for view in page.locator(VIEWS).all():
            view.click()
            check()
        if path == "Review":
            page.locator(".memedex-grid .card").first.dblclick()
            expect(page.get_by_role("dialog", name="Coin", exact=True)).to_be_visible()
            check()
            page.keyboard.press("Escape")
    assert not broken
    elsewhere = {url for url in asked if urlsplit(url).scheme not in {"blob", "data"}}
    assert {urlsplit(url).netloc for url in elsewhere} == {urlsplit(app.url).netloc}, elsewhere

    # Were markup ever shown as such, the browser would not run it.
    page.evaluate("markup => document.body.insertAdjacentHTML('beforeend', markup)", MARKUP)
    # A function is parsed once; an expression is parsed again at each look, which the page's policy forbids.
    page.wait_for_function("() => window.__broken.some((one) => one.startsWith('script-src'))")
    assert page.evaluate("window.__xss") is None
