"""The canary: what is read of Streamlit's own page is there, and means what it is taken for.

`make canary` runs it, and the stories that depend most on Streamlit, against the newest Streamlit.
"""

from typing import Any

from playwright.sync_api import Page, expect

from components.shell import javascript
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.waiting import eventually

_WATCH = """() => {
  window.states = new Set(); // all values, also those between two looks
  new MutationObserver((changes) => changes.forEach(({ oldValue }) => window.states.add(oldValue)))
    .observe(document.body, {
      subtree: true, attributeFilter: ["data-test-script-state"], attributeOldValue: true,
    });
}"""

STATES = {"initial", "notRunning", "running", "rerunRequested", "stopRequested", "compilationError"}


def ask(page: Page, call: str) -> Any:
    """The value of this expression, in which `its` is the module that reads Streamlit's page."""
    look = f"({{ moduleAt }}) => {{ const its = moduleAt('shell/js/streamlit_page.js'); return {call}; }}"
    return page.evaluate(f"(modules) => import(modules).then({look})", javascript.addresses()[0])


def is_covered(page: Page) -> bool:
    covering = "[...document.querySelectorAll(its.COVERS)].some((node) => node.checkVisibility())"
    return bool(ask(page, covering))


def test_what_is_read_of_streamlits_page_is_there(page: Page, shared: Server) -> None:
    visit(page, shared, "search?q=frog", title="Search")
    wait_until_idle(page)
    assert eventually(lambda: ask(page, "its.isAtWork()") is False)  # a run may follow another
    assert ask(page, "its.headerHeight()") == 0, "pages begin beside it"
    assert eventually(lambda: ask(page, "its.fieldOfKey('q')?.value") == "frog")
    assert is_covered(page) is False
    page.get_by_role("button", name="Saved").click()
    expect(page.get_by_role("button", name="Save search")).to_be_visible()
    assert is_covered(page) is True
    page.keyboard.press("Escape")

    page.set_viewport_size({"width": 1440, "height": 300})
    main = page.get_by_test_id("stMain")
    scrolled = "node => (node.scrollTo({ top: 100, behavior: 'instant' }), node.scrollTop)"
    assert eventually(lambda: main.evaluate(scrolled) > 0)  # once the results have their height
    ask(page, "its.scrollToTop()")
    assert main.evaluate("node => node.scrollTop") == 0
    page.set_viewport_size({"width": 1440, "height": 1000})

    page.evaluate(_WATCH)
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    expect(page.get_by_test_id("stFileUploaderDropzone").first).to_be_visible()
    wait_until_idle(page)
    seen = set(page.evaluate("[...window.states]"))  # none if the run was short
    assert seen <= STATES, "isAtWork() may have to know the others"
