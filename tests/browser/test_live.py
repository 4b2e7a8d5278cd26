"""The server tells, the page does not ask: what changes by itself is drawn without a run of the page."""

import json
import re
from pathlib import Path
from threading import Semaphore
from typing import Any

from playwright.sync_api import Page, Request, WebSocket, expect

from store.catalog.filters import Filter
from store.library import Library
from tests.browser.conftest import Serve
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.browser.delayed_messages import DelayedMessages
from tests.browser.grid_page import GridPage, filled_library
from tests.store.conftest import address, coin
from tests.store.language_model_server import GOOD, Answer, LanguageModelServer, running, says

COINS, RUN = 20, {"model": True}


def fill(library: Library) -> None:
    """Coins in Review, and three approved ones without a caption; each test approves some more."""
    library.add(coin(number) for number in range(COINS))
    library.approve([address(number) for number in range(3)])


class Traffic:
    """What a page sends, from now on."""

    def __init__(self, page: Page) -> None:
        self.runs: list[object] = []  # what it asks Streamlit for
        self.requests: list[Request] = []
        self.streams: list[Request] = []
        page.on("websocket", self._listen)
        page.on("request", self._note)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: self.runs.append(frame))

    def _note(self, request: Request) -> None:
        (self.streams if request.url.endswith("/events") else self.requests).append(request)

    def forget(self) -> None:
        self.runs.clear()
        self.requests.clear()


def wait_for_the_model(page: Page, server: Server) -> None:
    """Until the model is ready, which is news to an open page."""
    visit(page, server, "settings?section=System+status", title="Settings")
    expect(page.get_by_text(re.compile(": ready$"))).to_be_visible()


def test_a_search_runs_the_page_once_and_so_does_going_back_to_it(shared: Server, page: Page) -> None:
    wait_for_the_model(page, shared)
    traffic = Traffic(page)
    visit(page, shared, "search?q=sad+cat", title="Search")
    first = page.get_by_role("gridcell").first
    expect(first).to_contain_text("Sad Cat")
    wait_until_idle(page)

    traffic.forget()
    page.get_by_role("searchbox", name="Search").fill("green frog")
    page.keyboard.press("Enter")
    expect(first).to_contain_text("Rainy Frog")
    wait_until_idle(page)
    assert len(traffic.runs) == 1

    page.get_by_test_id("stSidebar").get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    wait_until_idle(page)
    traffic.forget()
    page.go_back()
    expect(first).to_contain_text("Rainy Frog")
    expect(page.get_by_label("Weight of emotions")).to_be_attached()
    wait_until_idle(page)
    assert len(traffic.runs) == 1


def approve_one(app: Server) -> None:
    """Another window of the user approves a coin."""
    with app.stored() as library:
        coin = library.addresses(Filter(tier="pending"))[0]
    app.decide("approve", coin)


def test_a_page_that_is_only_looked_at_runs_nothing_whatever_happens(app: Server, page: Page) -> None:
    wait_for_the_model(page, app)
    traffic = Traffic(page)
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    with page.expect_request("**/events"):
        visit(page, app, "settings?section=Tags", title="Settings")
    wait_until_idle(page)
    heard: list[object] = []
    network.on("Network.dataReceived", lambda data: heard.append(data))
    traffic.forget()
    for _ in range(3):
        heard.clear()
        approve_one(app)
        while not heard:
            page.evaluate("() => new Promise(requestAnimationFrame)")
    assert traffic.runs == []
    assert traffic.requests == []
    assert len(traffic.streams) == 1


def test_what_changes_elsewhere_appears_at_rest_is_offered_over_a_field_and_waits_for_a_dialog(
    app: Server, page: Page
) -> None:
    grid = GridPage(page, f"{app.url}/approved")
    count = app.counts()["approved"]
    expect(grid.cards).to_have_count(count)
    approve_one(app)
    expect(grid.cards).to_have_count(count + 1)

    page.get_by_role("searchbox").first.click()
    approve_one(app)
    offer = page.get_by_role("button", name="Library changed · Show")
    expect(offer).to_be_visible()
    expect(grid.cards).to_have_count(count + 1)
    expect(page.locator("input:focus")).to_have_count(1)
    offer.click()
    expect(grid.cards).to_have_count(count + 2)
    expect(offer).to_have_count(0)

    grid.cards.first.focus()
    grid.press("Enter", "Enter")  # enlarged, it covers the cards
    expect(grid.panel).to_contain_text("Imported by")
    approve_one(app)
    expect(page.get_by_text("Library changed · Show")).to_be_attached()
    expect(grid.cards).to_have_count(count + 2)
    grid.press("Escape", "Escape")
    expect(grid.cards).to_have_count(count + 3)


def test_a_click_on_a_link_is_not_called_back_by_news(app: Server, page: Page) -> None:
    server = DelayedMessages(page)
    page.add_init_script(
        "const now = performance.now; performance.now = () => now.call(performance) + (window.ahead ?? 0)"
    )
    visit(page, app, "approved", title="Approved")
    page.get_by_role("searchbox").first.click()
    approve_one(app)
    expect(page.get_by_role("button", name="Library changed · Show")).to_be_visible()
    server.hold()
    page.get_by_role("link", name="Activity").click()
    page.evaluate("ahead = 5000")  # the hand rests
    page.evaluate("new Promise((done) => setTimeout(done, 250))")  # until the page has looked again
    server.release()
    expect(page.get_by_role("heading", name="Activity", level=1)).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_role("heading", name="Approved", level=1)).to_have_count(0)


class Gate:
    """A language model that answers as often as it is let."""

    def __init__(self, model: LanguageModelServer) -> None:
        self._gate = Semaphore(0)
        model.answer_to = self._answer

    def _answer(self, _: dict[str, Any]) -> Answer:
        self._gate.acquire()
        return says(json.dumps(GOOD))

    def let(self, number: int = 1) -> None:
        self._gate.release(number)


def test_a_jobs_bar_moves_without_a_run_and_is_paused_from_there(
    page: Page, tmp_path: Path, serve: Serve
) -> None:
    def fill(library: Library) -> None:
        library.add(coin(number) for number in range(20))
        library.approve([address(number) for number in range(20)])

    with running() as model:
        gate = Gate(model)
        app = serve(
            filled_library(tmp_path / "res", fill),
            MEMEDEX_CAPTION_MODEL="openai/gpt-4o-mini",
            MEMEDEX_CAPTION_API_BASE=model.address,
            OPENAI_API_KEY="none",
        )
        traffic = Traffic(page)
        visit(page, app, "captions?view=AI+drafts", title="Captions")
        page.get_by_role("button", name="Draft 20 coins").click()
        expect(page.get_by_text("Draft 20 coins · 0 of 20")).to_be_visible()
        expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "0")
        gate.let()
        expect(page.get_by_text("Draft 20 coins · 1 of 20")).to_be_visible()
        wait_until_idle(page)
        traffic.forget()
        gate.let()
        expect(page.get_by_text("Draft 20 coins · 2 of 20")).to_be_visible()
        assert traffic.runs == []
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("stopping")).to_be_visible()
        gate.let(20)
        expect(page.get_by_role("progressbar")).to_have_count(0)
        with app.stored() as library:
            [job] = library.jobs.all()
            assert job.state == "paused"
            assert 2 < job.done < 20
