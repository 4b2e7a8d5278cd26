"""A dashboard that is shared by a password, below a path of a reverse proxy."""

from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from store.library import Library
from store.sessions import LoginSessions
from tests.browser.conftest import Serve
from tests.browser.grid_page import filled_library
from tests.browser.reverse_proxy import reverse_proxy
from tests.store.conftest import coin
from tests.waiting import eventually

PASSWORD = "correct horse"


def log_in(page: Page, password: str = PASSWORD) -> None:
    page.get_by_label("Your name").fill("Ann")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_people_log_in_by_password_behind_a_proxy_and_out_in_every_tab(
    serve: Serve, page: Page, tmp_path: Path
) -> None:
    def fill(library: Library) -> None:
        library.add(coin(number) for number in range(3))

    root = filled_library(tmp_path / "res", fill)
    sessions = LoginSessions(root)
    sessions.set_password(PASSWORD)
    app = serve(root, STREAMLIT_SERVER_BASE_URL_PATH="coins")
    with reverse_proxy("/coins", urlsplit(app.url).port or 0) as proxy:
        page.goto(f"{proxy.url}/review")
        log_in(page, "wrong password")
        expect(page.get_by_text("This is not the password.")).to_be_visible()
        log_in(page)

        cards = page.locator(".memedex-grid .card")
        expect(cards).to_have_count(3)
        picture = page.locator(".memedex-grid .card img").first
        expect(picture).to_have_js_property("naturalWidth", 320)
        page.keyboard.press("a")
        expect(cards).to_have_count(2)
        with app.stored() as library:
            assert eventually(lambda: len(library.decisions()) == 2)
            assert library.decisions()[0].actor == "Ann (shared password)"

        other = page.context.new_page()
        other.goto(f"{proxy.url}/")
        other.get_by_role("link", name="Settings").click()
        expect(other).to_have_url(f"{proxy.url}/settings")
        expect(other.get_by_role("heading", name="Settings", level=1)).to_be_visible()
        other.get_by_role("button", name="Log out").click()
        for tab in (other, page):
            tab.bring_to_front()
            expect(tab.get_by_text("Your login has ended")).to_be_visible()

        log_in(page)
        expect(cards).to_have_count(2)
        assert sessions.end_all() == 1
        expect(page.get_by_text("Your login has ended")).to_be_visible()
        assert proxy.strays == []
