"""A running dashboard, as a test sees it."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from uuid import uuid4

from playwright.sync_api import Page, expect

from components.shell.session.tokens import signed
from store.catalog.filters import Filter
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

    def tiers(self, *addresses: str) -> list[str]:
        """Where these coins are."""
        with self.stored() as library:
            return [library.get(address).tier for address in addresses]

    def tier(self, address: str) -> str:
        [found] = self.tiers(address)
        return found

    def counts(self) -> dict[str, int]:
        """How many coins are in each tier."""
        with self.stored() as library:
            return dict(library.counts())

    def names(self) -> list[str]:
        """Of all coins, in alphabetical order."""
        with self.stored() as library:
            return sorted(record.name for record in library.find(Filter()))

    def post(self, entries: Sequence[dict[str, Any]], *, who: str = "") -> dict[str, Any]:
        """Send decisions as another page does; the answers by id. Raises if the server is killed before."""
        with self.stored() as library:
            who = who or library.actor_name
            token, named = signed(library, actor=who), library.id
        message = {"token": token, "library": named, "who": who, "entries": entries}
        with urlopen(f"{self.url}/message/decisions", data=json.dumps(message).encode(), timeout=60) as sent:
            answers: dict[str, Any] = json.load(sent)["answers"]
        return answers

    def decide(self, verb: str, *addresses: str, who: str = "", **more: Any) -> str:
        """Decide these coins in another window of the same user, or as another one; the decision's id."""
        made = {"id": uuid4().hex, "verb": verb, "addresses": addresses, **more}
        [answer] = self.post([made], who=who).values()
        assert not answer["refused"], answer
        return str(made["id"])


def visit(page: Page, server: Server, path: str, *, title: str) -> None:
    """Open a page by its address and wait for its heading."""
    page.goto(f"{server.url}/{path}")
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()


def wait_until_idle(page: Page) -> None:
    """Wait until the server has finished running the page."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
