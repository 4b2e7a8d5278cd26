"""How `bench.clicks` clicks and types: at a person's pace, and without the second tries of a test driver."""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page
from playwright.sync_api import TimeoutError as TooLate

from bench.clicks_app import Server, Stored

Fault = Literal["lost", "stuck", "empty", "twice"]
FAULTS: tuple[Fault, ...] = ("lost", "stuck", "empty", "twice")
REST = {"person": 0.6, "double": 0.3}  # seconds between two gestures, on average
_JITTER = 0.35  # of it, either way
_HELD = 0.07  # seconds that a mouse button or a key is down
_LETTER = 0.04  # seconds between two letters
_LOOK = 50  # ms between two looks at what is stored


class ActionFailed(Exception):
    """What was done had not the outcome that it should have."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault: Fault = fault


@dataclass
class Tally:
    """What came of one kind of action."""

    done: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # from the last gesture to its outcome

    def fail(self, fault: Fault, message: str) -> None:
        self.faults[fault] += 1
        self.messages.append(f"{fault}: {message}")


class Console:
    """Errors in the browser's console, and exceptions that no script caught."""

    def __init__(self, page: Page) -> None:
        self.errors: list[str] = []
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _is_streamlits_search(message):
            self.errors.append(f"{message.text} ({message.location['url']})")


def _is_streamlits_search(message: ConsoleMessage) -> bool:
    """Streamlit finds its server by asking below the page's own path first, where nothing is."""
    path = urlsplit(message.location["url"]).path
    return "404" in message.text and "/_stcore/" in path and not path.startswith("/_stcore/")


class Person:
    """One tab and the hand of the person before it."""

    def __init__(self, page: Page, server: Server, *, pace: str, limit: float, seed: str) -> None:
        self.page = page
        self.server = server
        self.stored: Stored = server.stored
        self.random = random.Random(seed)
        self.limit = limit
        self.pace = REST[pace]
        self.errors = Console(page)
        page.set_default_timeout(limit * 1000)

    def rest(self, share: float = 1.0) -> None:
        """Look at the page for a moment, while its scripts go on."""
        seconds = self.pace * share * self.random.uniform(1 - _JITTER, 1 + _JITTER)
        self.page.wait_for_timeout(seconds * 1000)

    def click(self, target: Locator, what: str) -> None:
        """Press and release the mouse on this, once it can be clicked.

        What moves away or is drawn again in between is missed, as by a person.
        """
        try:
            target.click(trial=True)
            box = target.bounding_box()
        except TooLate:
            raise ActionFailed("stuck", f"{what} cannot be clicked") from None
        if box is None:
            raise ActionFailed("stuck", f"{what} is gone")
        across, down = self.random.uniform(0.3, 0.7), self.random.uniform(0.3, 0.7)
        mouse = self.page.mouse
        mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down, steps=2)
        mouse.down()
        self.page.wait_for_timeout(_HELD * 1000)
        mouse.up()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key, delay=_HELD * 1000)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text, delay=_LETTER * 1000 * self.pace / REST["person"])

    def goto(self, path: str) -> None:
        self.page.goto(f"{self.server.url}/{path}")

    def expect(
        self, target: Locator, fault: Fault, message: str, state: Literal["visible", "hidden"] = "visible"
    ) -> None:
        """Wait until this is seen, or gone; raises ActionFailed otherwise."""
        try:
            target.wait_for(state=state)
        except TooLate:
            raise ActionFailed(fault, message) from None

    def expect_stored(self, is_so: Callable[[], bool], message: str) -> None:
        """Wait until this is stored; raises ActionFailed otherwise."""
        end = time.monotonic() + self.limit
        while not is_so():
            if time.monotonic() > end:
                raise ActionFailed("lost", message)
            self.page.wait_for_timeout(_LOOK)

    def screenshot(self, path: Path) -> None:
        try:
            self.page.screenshot(path=path, timeout=10_000)
        except TooLate:
            path.with_suffix(".txt").write_text("the page could not be drawn")


class Scene:
    """One way to do one kind of action, again and again on one page."""

    kind = ""
    block = 10  # actions before the page is opened again

    def __init__(self, person: Person, tally: Tally) -> None:
        self.person = person
        self.page = person.page
        self.stored = person.stored
        self.random = person.random
        self.tally = tally

    def open(self) -> None:
        """Go to the page where the actions are done."""
        raise NotImplementedError

    def act(self) -> float:
        """Do it once, with its checks; returns seconds to its outcome. Raises ActionFailed."""
        raise NotImplementedError

    def close(self) -> None:
        """Wait for what is still under way, after a block."""

    def check_at_the_end(self) -> None:
        """Report what was done twice, or undone, after its own check."""
