"""What `bench.clicks` does, at a person's pace and without the second tries of a test driver."""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as TooLate

from store.memory.memory import Memory
from store.runtime import open_reader

Fault = Literal["lost", "stuck", "empty", "twice"]
FAULTS: tuple[Fault, ...] = ("lost", "stuck", "empty", "twice")
REST = {"person": 0.6, "double": 0.3}  # seconds between two gestures, on average
_JITTER = 0.35  # of it, either way
_HELD = 0.07  # seconds that a mouse button or a key is down
_LETTER = 0.04  # seconds between two letters
_UNDONE = 0.05  # share of decisions that are taken back at once
_HASTY = 0.12  # share of links that are clicked right after another one
_BETWEEN = 0.15  # seconds between these two
_ERRORS = "[data-testid=stException], [data-testid=stErrorElement], [role=dialog]:has-text('Bad delta path')"
# Title, path, and the page's content besides its title.
_PAGES = {
    "Home": ("", ".memedex-flow .tile"),
    "Review": ("review", ".card"),
    "Approved": ("approved", ".card"),
    "Captions": ("captions", "[data-testid=stSelectbox]"),
    "Search": ("search", "[data-testid=stTextInput]"),
    "Insights": ("insights", "[data-testid=stEChartsChart]"),
    "Memory": ("memory", ".memedex-views"),
    "Activity": ("activity", "[data-testid=stDownloadButton]"),
    "Settings": ("settings", "[data-testid=stFileUploader]"),
}


class ActionFailed(Exception):
    """An action had another outcome than it should have."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault: Fault = fault


@dataclass
class Tally:
    """The outcome of one kind of action."""

    done: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # from the last gesture to its outcome

    def fail(self, fault: Fault, message: str) -> None:
        self.faults[fault] += 1
        self.messages.append(f"{fault}: {message}")


class Stored:
    """What the library and its text memory hold now, read while the dashboard runs."""

    def __init__(self, root: Path) -> None:
        self.library = open_reader(root)
        assert not self.library.can_write, "the dashboard does not have its library open"
        self.memory = Memory.open_for_reading(root)

    def close(self) -> None:
        self.library.close()
        self.memory.close()

    def verbs(self, address: str) -> list[str]:
        """What was done to a coin, oldest first."""
        return [event.verb for event in reversed(self.library.history(address=address))]

    def memories_with(self, words: str) -> int:
        return self.memory.kinds["memories"].count(words=words)


class Person:
    """One tab and the hand of the person before it."""

    def __init__(self, page: Page, url: str, *, pace: str, limit: float, seed: str) -> None:
        self.page, self.url, self.limit = page, url, limit
        self.random = random.Random(seed)
        self.pace = REST[pace]

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

    def press(self, key: str) -> None:
        self.page.keyboard.press(key, delay=_HELD * 1000)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text, delay=_LETTER * 1000 * self.pace / REST["person"])

    def goto(self, path: str) -> None:
        self.page.goto(f"{self.url}/{path}")

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
            self.page.wait_for_timeout(50)


class Scene:
    """One kind of action, again and again on one page."""

    block = 40  # actions before the page is opened again

    def __init__(self, person: Person, stored: Stored, tally: Tally) -> None:
        self.person, self.page, self.random = person, person.page, person.random
        self.stored, self.tally = stored, tally

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


@dataclass
class _Coin:
    """What should be in the history of a coin by now, after what was there before."""

    before: int
    verbs: list[str] = field(default_factory=list)
    since: float = 0.0  # when it was last decided, by time.monotonic


class Decisions(Scene):
    """Approve and reject by key and by button, some for a reason, some taken back."""

    def __init__(self, person: Person, stored: Stored, tally: Tally) -> None:
        super().__init__(person, stored, tally)
        self._coins: dict[str, _Coin] = {}
        self._open: set[str] = set()

    def open(self) -> None:
        self.person.goto("review")
        self.person.expect(self.page.locator(".card.at"), "empty", "Review shows no card")

    def act(self) -> float:
        try:
            address = str(self.page.locator(".card.at").get_attribute("data-address"))
        except TooLate:
            raise ActionFailed("empty", "no card is under the cursor") from None
        if address not in self._coins:
            self._coins[address] = _Coin(len(self.stored.verbs(address)))
        self.person.rest()
        verb = self.random.choice(("approve", "reject"))
        began = time.monotonic()
        if verb == "reject" and self.random.random() < 0.3:
            self.person.press(str(self.random.randint(1, 5)))
        elif self.random.random() < 0.5:
            self.person.press(verb[0])
        else:
            self.person.click(self.page.locator(f".verb[data-verb={verb}]"), f"the button for {verb}")
        self._expect(address, verb, state="hidden", message=f"after {verb} the card stays")
        seconds = time.monotonic() - began
        if self.random.random() < _UNDONE:
            self.person.rest()
            self.person.press("z")
            self._expect(address, "undo", state="visible", message="after undo the card does not return")
        self._look(time.monotonic())
        return seconds

    def _expect(self, address: str, verb: str, *, state: Literal["visible", "hidden"], message: str) -> None:
        coin = self._coins[address]
        coin.verbs.append(verb)
        coin.since = time.monotonic()
        self._open.add(address)
        try:
            self.page.locator(f".card[data-address='{address}']").wait_for(state=state)
        except TooLate:
            self._open.discard(address)
            found = self._new_verbs(address)
            is_stored, coin.verbs = found == coin.verbs, found  # counted once, here
            raise ActionFailed("stuck" if is_stored else "lost", f"{message} ({address})") from None

    def _new_verbs(self, address: str) -> list[str]:
        return self.stored.verbs(address)[self._coins[address].before :]

    def _look(self, now: float) -> None:
        """Compare the history with what was decided; what is not there after the limit is lost."""
        for address in [*self._open]:
            coin = self._coins[address]
            if self._new_verbs(address) == coin.verbs:
                self._open.discard(address)
            elif now - coin.since > self.person.limit:
                self._open.discard(address)
                self.tally.fail("lost", f"{address}: {self._new_verbs(address)} instead of {coin.verbs}")

    def close(self) -> None:
        while self._open:
            self._look(time.monotonic())
            self.page.wait_for_timeout(50)

    def check_at_the_end(self) -> None:
        for address, coin in self._coins.items():
            if len(found := self._new_verbs(address)) > len(coin.verbs):
                self.tally.fail("twice", f"{address}: {found} instead of {coin.verbs}")


class AddedMemories(Scene):
    """A memory is added by its form."""

    block = 10

    def __init__(self, person: Person, stored: Stored, tally: Tally) -> None:
        super().__init__(person, stored, tally)
        self._words: list[str] = []

    def open(self) -> None:
        self.person.goto("memory?view=Browse&kind=Memories")
        self._expect_count()

    def _expect_count(self) -> None:
        count = self.page.get_by_text(f"{self.stored.memories_with(''):,} memories", exact=True)
        self.person.expect(count, "stuck", "the number of memories is not the stored one")

    def act(self) -> float:
        person = self.person
        word = f"w{self.random.randrange(16**10):x}"
        text = self.page.get_by_role("textbox", name="Memory", exact=True)
        person.rest()
        if not text.is_visible():
            person.click(self.page.get_by_role("button", name="Add", exact=False).last, "Add")
            person.expect(text, "lost", "the form for a memory does not open")
        person.rest()
        person.click(text, "the text of the memory")
        person.press("Control+a")
        person.type(f"The curator keeps {word}.")
        person.rest(0.5)
        self._words.append(word)
        began = time.monotonic()
        person.click(self.page.get_by_role("button", name="Store"), "Store")
        person.expect_stored(lambda: self.stored.memories_with(word) > 0, f"{word} was not added")
        self._expect_count()
        return time.monotonic() - began

    def check_at_the_end(self) -> None:
        for word in self._words:
            if (found := self.stored.memories_with(word)) > 1:
                self.tally.fail("twice", f"the memory of {word} was added {found} times")


class PageChanges(Scene):
    """Go to another page by mouse or key, sometimes right after another click, and read it."""

    def open(self) -> None:
        self.person.goto("")
        self._title = "Home"
        self._arrive("Home")

    def act(self) -> float:
        title = self._other_title()
        if self.random.random() < 0.3:
            self._link(title).focus()
            self.person.press("Enter")
        else:
            if self.random.random() < _HASTY:
                self.person.click(self._link(self._other_title()), "a link of the sidebar")
                self.page.wait_for_timeout(_BETWEEN * 1000)
            self.person.click(self._link(title), f"the link to {title}")
        seconds = self._arrive(title)
        self.person.rest(2)
        self._arrive(title)  # what was there stays there
        return seconds

    def _other_title(self) -> str:
        return self.random.choice([title for title in _PAGES if title != self._title])

    def _link(self, title: str) -> Locator:
        links = self.page.get_by_test_id("stSidebar").get_by_role("link")
        return links.filter(has=self.page.get_by_text(title)).first

    def _arrive(self, title: str) -> float:
        """Wait for a page with its title and its content; returns seconds."""
        began = time.monotonic()
        path, content = _PAGES[title]
        try:
            self.page.wait_for_function("path => location.pathname === `/${path}`", arg=path)
        except TooLate:
            now = urlsplit(self.page.url).path
            raise ActionFailed("lost", f"asked for {title}, still at {now}") from None
        main = self.page.get_by_test_id("stMain")
        heading = main.get_by_role("heading", level=1).filter(has_text=title)
        self.person.expect(heading, "stuck", f"{title} has no title")
        self.person.expect(main.locator(content).first, "empty", f"{title} has no {content}")
        if errors := self.page.locator(_ERRORS).all_inner_texts():
            raise ActionFailed("stuck", f"{title} shows {errors[0][:200]!r}")
        self._title = title
        return time.monotonic() - began


SCENES: dict[str, type[Scene]] = {"decisions": Decisions, "forms": AddedMemories, "pages": PageChanges}
