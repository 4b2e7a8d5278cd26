"""Two people, two browsers: one decides, the other is asked again without being told, and both settle it."""

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from store.library import Library
from store.rules import second_opinions
from store.sessions import LoginSessions
from tests.browser.conftest import TIMEOUT, Serve
from tests.browser.dashboard import Server, wait_until_idle
from tests.browser.grid_page import GridPage, filled_library
from tests.store.conftest import address, coin
from tests.waiting import eventually

PASSWORD = "correct horse"
APPROVED, REJECTED = address(1), address(2)
VIEW = "review?view=Second+opinions"


def fill(library: Library) -> None:
    ann = "Ann (shared password)"
    library.add([coin(number) for number in range(1, 5)])
    library.approve([APPROVED], actor=ann)
    library.reject([REJECTED], reason="copycat", actor=ann)
    second_opinions.set_share(library, 100)


def log_in(page: Page, server: Server, name: str) -> None:
    page.goto(f"{server.url}/{VIEW}")
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("link", name="For you")).to_be_visible()


def said(server: Server) -> dict[str, tuple[str, bool]]:
    """What the second person said of each coin, and whether it is to be settled."""
    with server.stored() as library:
        return {
            one.address: (f"{one.second.said} {one.second.reason}".strip(), one.is_open)
            for one in second_opinions.opinions(library)
        }


def test_a_decision_is_asked_again_blind_and_the_disagreement_settled_and_undone(
    serve: Serve, page: Page, browser: Browser, tmp_path: Path
) -> None:
    root = filled_library(tmp_path / "res", fill)
    LoginSessions(root).set_password(PASSWORD)
    server = serve(root)
    log_in(page, server, "Ann")
    expect(page.get_by_text("2 coins wait for a second person, since you decided.")).to_be_visible()

    with browser.new_context(viewport={"width": 1440, "height": 1000}) as context:
        context.set_default_timeout(TIMEOUT)
        other = context.new_page()
        log_in(other, server, "Ben")
        grid = GridPage(other)
        expect(grid.cards).to_have_count(2)
        grid.card(REJECTED).click()
        grid.press("Enter")
        expect(grid.panel).to_contain_text("its past shows after your answer")
        told = " ".join([grid.panel.inner_text(), *grid.cards.all_inner_texts()])
        for word in ("Ann", "copycat", "Rejected", "Approved"):
            assert word not in told
        grid.press("a")
        expect(grid.cards).to_have_count(1)
        grid.press("2")
        expect(grid.cards).to_have_count(0)
        assert eventually(
            lambda: said(server) == {REJECTED: ("approved", True), APPROVED: ("rejected not a meme", True)}
        )
        grid.press("z")
        assert eventually(lambda: said(server) == {REJECTED: ("approved", True)})
        expect(grid.cards).to_have_count(1)
        assert server.tiers(APPROVED, REJECTED) == ["approved", "trash"], "nothing moves"

    page.get_by_role("link", name="Disagreements").click()
    grid = GridPage(page)
    expect(grid.card(REJECTED)).to_contain_text("Ann: copycat | Ben: approved")
    wait_until_idle(page)
    grid.card(REJECTED).click()  # the focus was on the link
    grid.press("a")
    expect(page.get_by_text("No disagreement is open.")).to_be_visible()
    assert eventually(lambda: server.tiers(APPROVED, REJECTED) == ["approved", "approved"])
    grid.press("z")
    assert eventually(lambda: server.tiers(APPROVED, REJECTED) == ["approved", "trash"])
    expect(grid.card(REJECTED)).to_be_visible()
    page.get_by_role("link", name="Agreement 1").click()
    expect(page.get_by_text("0 of 1 alike; 19 more second opinions are needed")).to_be_visible()
