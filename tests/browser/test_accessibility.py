"""axe-core finds nothing on any page, in either theme."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import BrowserType, Page, ViewportSize, expect

from components.shell.page.places import PLACES
from store.library import Library
from store.showcase import page as saved_page
from tests.browser.coins import COINS
from tests.browser.conftest import TIMEOUT
from tests.browser.dashboard import Server, wait_until_idle
from tests.length import LENGTH

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
REQUIRED = os.environ.get("MEMEDEX_REQUIRE_NODE") == "1"
VIEWS = {
    "review?view=Rules": "Review",
    "captions?view=Check": "Captions",
    "captions?view=AI+drafts": "Captions",
    "captions?view=Find+and+replace": "Captions",
    "library?tab=Rejected": "Library",
    "library?tab=All": "Library",
    "search?view=Map": "Search",
    "search?view=Use+as+prompt": "Search",
    "insights?view=Reviewing": "Insights",
    "insights?view=Search+quality": "Insights",
    "memory?ask=frogs": "Memory",
    "memory?view=Browse": "Memory",
    "memory?view=Review": "Memory",
    "activity?view=Jobs": "Activity",
    "settings?section=Tags": "Settings",
    "settings?section=Language+model": "Settings",
    "settings?section=Embedding+model": "Settings",
    "settings?section=Past+prompts": "Settings",
    "settings?section=Safe+mode": "Settings",
    "settings?section=System+status": "Settings",
    "search?q=tagg:frog": "Search",
    "search?q=frog": "Search",
}
# Light differs from dark in its colours alone.
THEMES: dict[Literal["dark", "light"], tuple[str, dict[str, object]]] = {
    "dark": ("rgb(13, 14, 19)", {"rules": {"label-content-name-mismatch": {"enabled": True}}}),
    "light": ("rgb(252, 252, 254)", {"runOnly": ["color-contrast"]}),
}
WIDE, PHONE = ViewportSize(width=1440, height=1000), ViewportSize(width=390, height=844)
# Rule, impact and element of each finding. What is drawn again is pale until then: a change of colours is
# ended at once, and a page that was drawn again meanwhile is examined once more.
FINDINGS = """async ([exclude, options]) => {
    const context = { exclude };
    const isPale = () => document.querySelector("[data-stale=true]");
    for (;;) {
        while (isPale()) await new Promise(requestAnimationFrame);
        for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
        const asked = { resultTypes: ["violations"], preload: false, ...options };
        const { violations } = await axe.run(context, asked);
        if (!isPale()) return violations.flatMap(({ id, impact, nodes }) =>
            nodes.map(({ html, failureSummary }) => `${id} (${impact}): ${html} ${failureSummary}`));
    }
}"""


# Streamlit's own file uploader gives a region a name and no role.
EXCLUDED = ["[data-testid=stFileUploaderDropzone]"]
ON_ALL_PAGES = ["[data-testid=stSidebar]"]  # examined on the first


@pytest.fixture
def checked(browser_type: BrowserType, browser_type_launch_args: dict[str, Any]) -> Iterator[Page]:
    """A page in which axe may run: the content policy allows no scripts but our own.

    Axe runs long enough to be worth optimising, other than the scripts of short visits.
    """
    if not AXE.exists():
        (pytest.fail if REQUIRED else pytest.skip)("axe-core is not installed: npm ci")
    arguments = [one for one in browser_type_launch_args["args"] if not one.startswith("--js-flags")]
    with (
        browser_type.launch(**{**browser_type_launch_args, "args": arguments}) as browser,
        browser.new_context(viewport=WIDE, reduced_motion="reduce", bypass_csp=True) as context,
    ):
        context.set_default_timeout(TIMEOUT)
        context.add_init_script(path=AXE)
        yield context.new_page()


def test_axe_finds_nothing_on_any_page_in_either_theme(checked: Page, shared: Server) -> None:
    found = {}
    themes, sizes = [*THEMES], (PHONE, WIDE)

    def check(name: str) -> None:
        """Both themes, on a phone and on a wide window; in short one on each, in turns."""
        themes.reverse()  # each page begins with the colours that the one before ended with
        for theme, one in zip(themes, sizes, strict=True):
            background, asked = THEMES[theme]
            checked.emulate_media(color_scheme=theme)
            expect(checked.get_by_test_id("stApp")).to_have_css("background-color", background)
            excluded = EXCLUDED + (ON_ALL_PAGES if name != "Home" else [])
            for size in sizes if LENGTH >= 1 else [one]:
                checked.set_viewport_size(size)
                wait_until_idle(checked)
                if findings := checked.evaluate(FINDINGS, [excluded, asked]):
                    found[name, theme, size["width"]] = findings

    sidebar = checked.get_by_test_id("stSidebar")
    checked.goto(shared.url)
    places = {name: name for name in PLACES} | VIEWS
    by_place = sorted(places, key=lambda path: ("?q=" in path, [*PLACES].index(places[path])))
    for path in by_place:
        name, view = places[path], checked.locator(f".memedex-views a[href$='{path.partition('?')[2]}']")
        if path in PLACES:
            sidebar.get_by_role("link", name=re.compile(f"^{name}( |$)")).click()
        elif view.count():  # a page of its own would be loaded for longer than it is looked at
            view.click()
            expect(view).to_have_attribute("aria-current", "page")
        else:
            checked.goto(f"{shared.url}/{path}")
        expect(checked.get_by_role("heading", name=name, level=1, exact=True)).to_be_visible()
        wait_until_idle(checked)
        if path == "Captions":
            checked.get_by_text("What is stored").click()
            expect(checked.get_by_text("Sidecar", exact=True)).to_be_visible()
            wait_until_idle(checked)
        check(path)
    for key, dialog in {"?": "Keys", "n": "Tags", "Control+k": "Go to, find, do", "Enter": "Coin"}.items():
        checked.get_by_role("gridcell").first.press(key)
        expect(checked.get_by_role("dialog", name=dialog)).to_be_visible()
        check(dialog)
        checked.keyboard.press("Escape")
    for view, shown in {"Table": ".results-table", "Compare": ".versus"}.items():
        checked.get_by_role("toolbar").get_by_role("button", name=view, exact=True).click()
        expect(checked.locator(shown)).to_be_visible()
        check(view)
    assert not found, "\n".join(f"{where}: {finding}" for where, those in found.items() for finding in those)


def test_axe_finds_nothing_in_coins_saved_as_a_file(
    checked: Page, seeded_library: Library, tmp_path: Path
) -> None:
    path = tmp_path / "coins.html"
    path.write_bytes(saved_page(seeded_library, [coin.address for coin in COINS]))
    checked.goto(path.as_uri())
    for theme, (_, asked) in THEMES.items():
        checked.emulate_media(color_scheme=theme)
        expect(checked.locator(".card.loaded").first).to_be_visible()
        assert not checked.evaluate(FINDINGS, [[], asked])
        checked.locator(".card").first.click()
        assert not checked.evaluate(FINDINGS, [[], asked])
        checked.keyboard.press("Escape")
