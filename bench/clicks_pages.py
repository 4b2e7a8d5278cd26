"""Actions of `bench.clicks` that go from page to page: by links, by keys, and by a link clicked too early."""

import time
from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Locator
from playwright.sync_api import TimeoutError as TooLate

from bench.clicks_person import ActionFailed, Scene

# Title, path, and what such a page has besides its title.
PAGES = {
    "Overview": ("", ".memedex-flow .tile"),
    "Review": ("pending", ".card"),
    "Approved": ("approved", ".card"),
    "Captions": ("captions", "[data-testid=stSelectbox]"),
    "AI drafts": ("drafting", ".memedex-form input"),
    "Search": ("search", "[data-testid=stTextInput]"),
    "Map": ("map", "[data-testid=stSelectbox]"),
    "Insights": ("insights", "[data-testid=stPlotlyChart]"),
    "Evaluation": ("evaluation", "[data-testid=stTextInput]"),
    "Generate": ("generate", "[data-testid=stNumberInput]"),
    "Lore & memory": ("lore", "[data-testid=stButtonGroup]"),
    "Import & export": ("exchange", "[data-testid=stFileUploader]"),
    "Tags": ("tags", "[data-testid=stDataFrame]"),
    "Jobs": ("jobs", "[data-testid=stPageLink], h2"),  # none, or some
    "History": ("history", "[data-testid=stMetric]"),
    "System status": ("health", "[data-testid=stExpander]"),
}
_WITH_CARDS = ("Review", "Approved")
_ERRORS = "[data-testid=stException], [data-testid=stErrorElement], [role=dialog]:has-text('Bad delta path')"
_HASTY = 0.12  # share of links that are clicked right after another one
_BETWEEN = 0.15  # seconds between these two


class PageChanges(Scene):
    """Go to another page, and read it until the next click."""

    kind = "pages"
    block = 50

    def open(self) -> None:
        self.person.goto("")
        self._title = "Overview"
        self._arrive("Overview")

    def act(self) -> float:
        ways = [self._by_link, self._by_link, self._by_focused_link]
        if self._title in _WITH_CARDS:
            ways += [self._by_turning, self._by_turning]
        if self._title == "Approved":
            ways.append(self._by_the_key_for_captions)
        way: Callable[[], float] = self.random.choice(ways)
        seconds = way()
        self.person.rest(2)
        self._arrive(self._title)  # what was there stays there
        return seconds

    def _by_link(self) -> float:
        title = self._other_title()
        if self.random.random() < _HASTY:
            self.person.click(self._link(self._other_title()), "a link of the sidebar")
            self.page.wait_for_timeout(_BETWEEN * 1000)
        self.person.click(self._link(title), f"the link to {title}")
        return self._arrive(title)

    def _by_focused_link(self) -> float:
        title = self._other_title()
        self._link(title).focus()
        self.person.press("Enter")
        return self._arrive(title)

    def _by_the_key_for_captions(self) -> float:
        self.person.press("e")
        return self._arrive("Captions")

    def _by_turning(self) -> float:
        """The next page of cards, or the one before."""
        first = self.page.locator(".card").first.get_attribute("data-address")
        began = time.monotonic()
        self.person.press("]" if self.random.random() < 0.7 or self._is_first_page() else "[")
        left = self.page.locator(f".card[data-address='{first}']")
        self.person.expect(left, "lost", f"{self._title} does not turn to other cards", state="hidden")
        self._arrive(self._title)
        return time.monotonic() - began

    def _is_first_page(self) -> bool:
        return "page=" not in self.page.url

    def _other_title(self) -> str:
        return self.random.choice([title for title in PAGES if title != self._title])

    def _link(self, title: str) -> Locator:
        links = self.page.get_by_test_id("stSidebar").get_by_role("link")
        return links.filter(has=self.page.get_by_text(title)).first

    def _arrive(self, title: str) -> float:
        """Wait for a page with its title and its content; returns seconds."""
        began = time.monotonic()
        path, content = PAGES[title]
        try:
            self.page.wait_for_function("path => location.pathname === `/${path}`", arg=path)
        except TooLate:
            now = urlsplit(self.page.url).path
            raise ActionFailed("lost", f"asked for {title}, still at {now}") from None
        main = self.page.get_by_test_id("stMain")
        heading = main.get_by_role("heading", level=1)
        try:
            heading.filter(has_text=title).wait_for()
        except TooLate:
            raise ActionFailed("stuck" if heading.count() else "empty", f"{title} has no title") from None
        self.person.expect(main.locator(content).first, "empty", f"{title} has no {content}")
        if errors := self.page.locator(_ERRORS).all_inner_texts():
            raise ActionFailed("stuck", f"{title} shows {errors[0][:200]!r}")
        self._title = title
        return time.monotonic() - began
