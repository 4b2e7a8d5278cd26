"""Two dashboards behind one proxy: the one that writes, and one on another machine that reads a replica."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from store.sessions import LoginSessions
from tests.browser.coins import PENDING
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server
from tests.ports import free_port
from tests.store import litestream
from tests.waiting import eventually

PASSWORD = "correct horse"
CADDYFILE = """{
 admin off
 auto_https off
}
http://127.0.0.1:%d {
    reverse_proxy /coins* %s %s {
        lb_policy cookie
    }
}
"""
pytestmark = pytest.mark.skipif(not shutil.which("caddy"), reason="caddy is not installed")


@dataclass(frozen=True)
class Team:
    """Who writes, who reads, and the proxy before both."""

    writer: Server
    reader: Server
    url: str  # of the proxy


@pytest.fixture(scope="module")
def team(chromium: str, seed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("team")
    here, there = shutil.copytree(seed, folder / "here"), folder / "there"
    there.mkdir()
    for root in (here, there):
        LoginSessions(root).set_password(PASSWORD)
    common = {
        "STREAMLIT_SERVER_BASE_URL_PATH": "coins",
        "STREAMLIT_SERVER_COOKIE_SECRET": "shared by both",
        "MEMEDEX_PICTURES": str(folder / "pictures"),
    }
    copy, catalog = f"file://{folder / 'copy'}", Path("memecoins") / "catalog.sqlite3"
    with ExitStack() as stack:
        writer = stack.enter_context(dashboard(here, **common))
        stack.enter_context(litestream.replicating(here / catalog, copy))
        assert eventually(lambda: litestream.restore(copy, folder / "once.sqlite3"))
        stack.enter_context(litestream.following(copy, there / catalog))
        reader = stack.enter_context(dashboard(there, model=True, MEMEDEX_READ_ONLY="1", **common))
        yield Team(writer, reader, stack.enter_context(_proxy(folder, writer, reader)))


@contextmanager
def _proxy(folder: Path, *behind: Server) -> Iterator[str]:
    port = free_port()
    places = [urlsplit(server.url).netloc for server in behind]
    (folder / "Caddyfile").write_text(CADDYFILE % (port, *places))
    with (
        (folder / "caddy.log").open("w") as log,
        subprocess.Popen(["caddy", "run"], cwd=folder, stdout=log, stderr=log) as process,
    ):
        try:
            address = f"http://127.0.0.1:{port}/coins"
            assert eventually(lambda: _answers(address)), (folder / "caddy.log").read_text()
            yield address
        finally:
            process.terminate()


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/_stcore/health").text == "ok"
    except httpx.TransportError:
        return False


def _choose(page: Page, team: Team, *, writes: bool) -> None:
    """Give the browser the cookie with which the proxy stays at the one dashboard, or at the other.

    The browser always has one of the two, so that no request under way can be answered with another.
    """
    for _ in range(40):
        chosen = httpx.get(f"{team.url}/health")
        if chosen.json()["writes"] == writes:
            page.context.add_cookies([{"name": "lb", "value": chosen.cookies["lb"], "url": team.url}])
            return
    raise AssertionError("the proxy never chose it")


def test_one_login_holds_on_writer_and_reader_and_decisions_arrive(page: Page, team: Team) -> None:
    _choose(page, team, writes=True)
    # without pictures: the browser keeps those it was given by either
    page.goto(f"{team.url}/settings?section=System+status")
    page.get_by_label("Your name").fill("Ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()

    _choose(page, team, writes=False)
    page.goto(f"{team.url}/approved")
    expect(page.get_by_role("heading", name="Approved", level=1)).to_be_visible()
    expect(page.get_by_text(re.compile("replica, ")).first).to_be_visible()
    picture = page.locator(".card img").first
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 0
    assert any((team.reader.root / "memecoins" / "fetched-pictures").rglob("*.jpg"))
    decided = page.locator(f".card[data-address='{PENDING.address}']")
    expect(decided).to_have_count(0)

    _choose(page, team, writes=True)
    page.goto(f"{team.url}/review")
    expect(page.get_by_role("heading", name="Review", level=1)).to_be_visible()
    expect(page.locator(".card")).to_have_count(1)
    page.keyboard.press("a")
    expect(page.locator(".card")).to_have_count(0)

    _choose(page, team, writes=False)
    page.goto(f"{team.url}/approved")
    expect(page.get_by_role("heading", name="Approved", level=1)).to_be_visible()
    expect(decided).to_be_visible()  # if it came later, the stream told the page
    with team.reader.stored() as library:
        assert library.get(PENDING.address).tier == "approved"
        assert library.history(limit=1)[0].actor == "Ann (shared password)"


def test_a_replica_says_of_when_it_is_and_offers_no_decision(page: Page, team: Team) -> None:
    def behind() -> float | None:
        seconds: float | None = httpx.get(f"{team.reader.url}/health").json()["seconds_behind"]
        return seconds

    assert eventually(lambda: behind() is not None), "the writer's time did not arrive"
    assert 0 <= (behind() or 0) < 15
    assert httpx.get(f"{team.reader.url}/health").json()["writes"] is False
    assert "seconds_behind" not in httpx.get(f"{team.writer.url}/health").json()
