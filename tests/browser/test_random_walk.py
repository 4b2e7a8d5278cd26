"""A random walk over the pages never meets an error."""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.length import repeated

STEPS = repeated(40, least=8)

ERRORS = "[data-testid=stException], [data-testid=stErrorElement], [role=dialog]:has-text('Bad delta path')"
LINKS = "[data-testid=stSidebar] [data-testid=stPageLink-NavLink]"
# Streamlit's first page has no name.
TARGET = "link => new URL(link.getAttribute('href') || '.', document.baseURI).pathname"
VIEWS = "[data-testid=stMain] :is(.memedex-views a, [data-testid=stButtonGroup] [role=radio])"
# A link to the page that is shown may begin no run, and Streamlit may exchange the element with the state.
RUN_BEGINS = """() => ({ run: new Promise((begins) => {
    const observer = new MutationObserver(() => { observer.disconnect(); begins(true); });
    observer.observe(document, { subtree: true, attributeFilter: ["data-test-script-state"] });
    setTimeout(() => begins(false), 5000);
}) })"""
IN_THE_LOG = ("Traceback", "Uncaught", "Error")


@pytest.fixture(scope="module")
def app(chromium: str, seed_with_memory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Coins in every tier, and the demo memory; everything runs as in production, including Chroma."""
    root = shutil.copytree(seed_with_memory, tmp_path_factory.mktemp("walk") / "res")
    with dashboard(root, chroma=True, looks="all") as server:
        yield server


@contextmanager
def a_run(page: Page) -> Iterator[None]:
    """Wait until the server has run the page because of what is done here.

    After a link and after Back the page before is still shown, and looks idle, until the server answers.
    """
    begins = page.evaluate_handle(RUN_BEGINS)
    yield
    begins.evaluate("({ run }) => run")
    wait_until_idle(page)


def follow_link(page: Page, choice: random.Random) -> str:
    links = page.locator(LINKS)
    expect(links.first).to_be_visible()
    link = links.nth(choice.randrange(links.count()))
    target = link.evaluate(TARGET)
    with a_run(page):
        link.click()
    page.wait_for_function("target => location.pathname === target", arg=target)
    return f"link to {target}"


def switch_view(page: Page, choice: random.Random) -> str:
    views = page.locator(VIEWS)
    if not views.count():
        return follow_link(page, choice)
    view = views.nth(choice.randrange(views.count()))
    name = view.inner_text()
    view.click()
    return f"view {name!r}"


def go_back(page: Page, choice: random.Random) -> str:
    # Two entries of the history can have the same address, so that it tells nothing.
    with a_run(page):
        page.evaluate("history.back()")
    return f"back to {urlsplit(page.url).path}"


def test_a_random_walk_over_all_pages_meets_no_error(app: Server, page: Page) -> None:
    choice = random.Random(STEPS)
    steps: list[Callable[[Page, random.Random], str]] = [follow_link, switch_view, go_back]
    visit(page, app, "", title="Home")
    wait_until_idle(page)
    walked: list[str] = []
    for _ in range(STEPS):
        # Going back from the first page would leave the dashboard.
        step = choice.choices(steps, weights=(7, 2, 1 if walked else 0))[0]
        walked.append(step(page, choice))
        wait_until_idle(page)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        seen = page.locator(ERRORS).all_inner_texts()
        assert not seen, f"after {', '.join(walked[-6:])}: {seen}"
    wrong = [line for line in app.log if any(word in line for word in IN_THE_LOG)]
    assert not wrong, "".join(app.log)
