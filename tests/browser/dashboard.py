"""A running dashboard, as a test sees it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page, expect

from store.reading.reader import Reader
from store.runtime import open_reader


@dataclass
class Server:
    """A running dashboard and the library it shows."""

    url: str
    root: Path
    log: list[str] = field(default_factory=list)
    kill: Callable[[], None] = lambda: None  # as a power cut does: nothing is finished
    pid: int = 0

    @contextmanager
    def stored(self) -> Iterator[Reader]:
        """The current content of the catalog, read while the dashboard runs."""
        reader = open_reader(self.root)
        assert not reader.can_write, "the dashboard closed its library"
        try:
            yield reader
        finally:
            reader.close()


def visit(page: Page, server: Server, path: str, *, title: str) -> None:
    """Open a page by its address and wait for its heading."""
    page.goto(f"{server.url}/{path}")
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()


def wait_until_idle(page: Page) -> None:
    """Wait until the server has finished running the page."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
