"""A real server on a free port, a real Chromium, and libraries to look at."""

import os
import shutil
import threading
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from components.shell.session import resources
from store.chroma.follower import ChromaFollower
from store.library import Library
from store.memory import demo
from store.memory.memory import Memory
from store.runtime import open_library
from store.settings import settings
from tests.browser import server_process
from tests.browser.coins import COINS, PENDING, UNCAPTIONED
from tests.browser.dashboard import Server
from tests.browser.grid_page import filled_library
from tests.ports import free_port

REQUIRED = os.environ.get("MEMEDEX_REQUIRE_BROWSER") == "1"
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--process-per-site",
    # These compile Streamlit's scripts again in other threads, although the process has them compiled.
    "--disable-features=ScriptStreaming,BackgroundResourceFetch",
    # Optimising, early collections and forgetting what was compiled cost short visits more than they bring.
    "--js-flags=--no-opt,--no-maglev,--no-flush-bytecode,--single-threaded-gc,--no-memory-reducer,"
    "--min-semi-space-size=64,--initial-heap-size=512",
)  # fmt: skip
TIMEOUT = 120_000  # ms: the model may have to load, on a machine that does other things too
PORT_IS_OPEN = "URL:"  # what Streamlit prints once it listens

# Ports of dashboards that have ended: the browser has the scripts from there.
_reusable_ports: list[int] = []

# `requests` ignores this warning when litellm imports it; another thread that leaves `catch_warnings` in that
# moment puts the filters back that it found.
_OFTEN_IGNORED = "DependencyWarning: SOCKS support"

_SETTINGS = {"MEMEDEX_EMBEDDER": "offline", "MEMEDEX_CAPTION_MODEL": ""}

expect.set_options(timeout=TIMEOUT)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; without one, these tests are skipped, or fail where they are required.

    The shell without windows draws the same pages with a fifth less of the processor's time.
    """
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    reason = "no Chromium was found (Debian: apt install chromium)"
    if REQUIRED:
        pytest.fail(f"{reason}, and MEMEDEX_REQUIRE_BROWSER=1 asks for the browser tests", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser_type_launch_args(chromium: str) -> dict[str, object]:
    return {"executable_path": chromium, "args": list(ARGUMENTS)}


@pytest.fixture(scope="session")
def base_url() -> str:
    """Each test names its server; the plugin's own fixture of this name warns on pytest 9."""
    return ""


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One context for all tests. Each test opens its own tabs, and data stored by earlier pages is
    cleared first.

    A tab that stays open keeps a process with Streamlit's scripts already compiled; a new process takes
    more than a second to compile them.
    """
    viewport: ViewportSize = {"width": 1440, "height": 1000}
    with browser.new_context(viewport=viewport, reduced_motion="reduce") as context:
        context.set_default_timeout(TIMEOUT)
        stays = context.new_page()
        stays.route("**", lambda route: route.fulfill(body=""))
        stays.goto("http://127.0.0.1")
        yield context


# What a test does to its tab that the next would inherit.
LASTING = (
    "add_init_script",
    "close",
    "emulate_media",
    "on",
    "once",
    "route",
    "route_web_socket",
    "set_viewport_size",
)
EMPTY = "about:blank"
_reusable_tabs: list[Page] = []


@pytest.fixture
def page(context: BrowserContext, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """An empty tab, if possible one of an earlier test: it reads Streamlit's scripts from its memory.

    A tab that a test closed, or changed for good, ends with that test.
    """
    others = {*context.pages}
    page = _reusable_tabs.pop() if _reusable_tabs else context.new_page()
    others.discard(page)
    browser = context.new_cdp_session(page)
    browser.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    browser.send("Page.resetNavigationHistory")
    browser.detach()
    lasting = list[str]()

    def noting(name: str) -> Callable[..., Any]:
        change = getattr(page, name)
        return lambda *arguments, **named: (lasting.append(name), change(*arguments, **named))[1]

    for name in LASTING:
        monkeypatch.setattr(page, name, noting(name))
    yield page
    context.set_offline(False)
    if not lasting and not page.is_closed():
        if page.url != EMPTY:
            page.evaluate("sessionStorage.clear()")
            page.goto(EMPTY)
        _reusable_tabs.append(page)
    for tab in {*context.pages} - others - {*_reusable_tabs}:
        tab.close()


Serve = Callable[..., Server]


@pytest.fixture
def serve(chromium: str) -> Iterator[Serve]:
    """Start dashboards on the test's own folders; they end with the test."""
    with ExitStack() as running:
        yield lambda root, **how: running.enter_context(dashboard(root, **how))


@contextmanager
def dashboard(root: Path, *, port: int = 0, **how: Any) -> Iterator[Server]:
    """Run a dashboard on this folder, or another app, and wait until it answers.

    Chroma is off by default, the embedding model is loaded when it is first needed, and nothing looks
    at pictures in the background.
    """
    if port:
        with _run_server(root, port, **how) as server:
            yield server
        return
    port = _reusable_ports.pop() if _reusable_ports else free_port()
    try:
        with _run_server(root, port, **how) as server:
            yield server
    finally:
        _reusable_ports.append(port)


@contextmanager
def _run_server(
    root: Path,
    port: int,
    *,
    app: str = "app.py",
    chroma: bool = False,
    model: bool = False,
    looks: Literal["", "for copies", "all"] = "",
    demo: Sequence[str] = (),
    later: float = 0.0,
    **settings: str,
) -> Iterator[Server]:
    below = settings.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
    server = Server(f"http://127.0.0.1:{port}/{below}".rstrip("/"), root)
    process, printed = server_process.start(
        [f"--server.port={port}", app],
        {**_SETTINGS, "MEMEDEX_ROOT": str(root), **settings},
        chroma=chroma,
        model=model,
        looks=looks,
        demo=demo,
        later=later,
    )
    server.kill, server.pid = process.kill, process.pid or 0
    listens = threading.Event()
    listener = threading.Thread(target=_listen, args=(printed, server.log, listens))
    listener.start()
    try:
        assert listens.wait(60), "the server did not start:\n" + "".join(server.log)
        with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=60) as answer:
            assert answer.read() == b"ok"
        yield server
        noise = [
            line
            for line in server.log
            if ("Warning" in line and _OFTEN_IGNORED not in line) or "Session State API" in line
        ]
        assert not noise, "the server printed warnings:\n" + "".join(server.log)
    finally:
        process.kill()  # to end in order takes longer than to start
        process.join(30)
        listener.join()
        printed.close()


def _listen(printed: IO[str], log: list[str], listens: threading.Event) -> None:
    for line in printed:
        log.append(line)
        if PORT_IS_OPEN in line:
            listens.set()
    listens.set()  # it ended: the log says why


@pytest.fixture(scope="session")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four coins in the library, one approved and one pending; to be copied, not used directly."""
    root = tmp_path_factory.mktemp("seed")
    library = open_library(root)
    everything = (*COINS, UNCAPTIONED, PENDING)
    assert len(library.add([coin.candidate() for coin in everything], actor="seed").done) == len(everything)
    assert not library.approve([coin.address for coin in (*COINS, UNCAPTIONED)], actor="seed").refused
    assert not library.promote([coin.address for coin in COINS], actor="seed").refused
    assert library.wait_for_chroma(60)
    library.close()
    return root


@pytest.fixture(scope="session")
def seed_with_memory(seed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The seeded library with the demo memory, its index complete; to be copied, not used directly."""
    root = shutil.copytree(seed, tmp_path_factory.mktemp("remembering") / "res")
    with Memory.open(root) as memory:
        demo.load(memory)
        assert memory.wait_for_chroma(120)
    return root


@pytest.fixture
def seeded(seed: Path, tmp_path: Path, serve: Serve) -> Server:
    """A dashboard on the test's own copy of the seeded library."""
    return serve(shutil.copytree(seed, tmp_path / "res"))


@pytest.fixture(scope="session")
def shared(chromium: str, seed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard on the seeded library, for tests that change nothing or take it back."""
    root = shutil.copytree(seed, tmp_path_factory.mktemp("shared") / "res")
    with dashboard(root, model=True) as server:
        yield server


@pytest.fixture(scope="module")
def app(
    request: pytest.FixtureRequest, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A dashboard for the tests of a module, on a library that its `fill` fills, run as its `RUN` says."""
    root = filled_library(tmp_path_factory.mktemp("app"), request.module.fill)
    with dashboard(root, **getattr(request.module, "RUN", {})) as server:
        yield server


@pytest.fixture
def seeded_library(seed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """The seeded library in this process, whose routes answer the editor's requests."""
    monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)
    library = open_library(shutil.copytree(seed, tmp_path / "res"))
    monkeypatch.setattr(settings(), "root", tmp_path / "res")
    monkeypatch.setattr(resources, "library_of_routes", lambda: library)
    monkeypatch.setattr(resources, "taxonomy", lambda: library.taxonomy)
    yield library
    library.close()
