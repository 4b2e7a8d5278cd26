"""Actions of `bench.clicks` that write: an entry's dialog, and forms that create something."""

import re
import time
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator
from playwright.sync_api import TimeoutError as TooLate

from bench.clicks_app import SUGGESTED
from bench.clicks_person import ActionFailed, Person, Scene, Tally
from store.catalog.filters import Filter

_ENTRY = re.compile(r"[?&]entry=memories")
_HITS = 5  # the cards that are on the screen


class EntryDialogs(Scene):
    """An entry of the text memory in its dialog: edited, or left by Close and Escape."""

    kind = "dialogs"

    def __init__(self, person: Person, tally: Tally) -> None:
        super().__init__(person, tally)
        self._edits: dict[str, int] = {}

    @property
    def _cards(self) -> Locator:
        return self.page.locator("[class*=st-key-card-]")

    def open(self) -> None:
        self.person.goto("lore?kinds=Memories&ask=what+the+curator+noted+about+frogs")
        self.person.expect(self._cards.nth(_HITS - 1), "empty", "the question found no entries")

    def act(self) -> float:
        person = self.person
        person.rest()
        dialog = self.page.get_by_role("dialog")
        card = self._cards.nth(self.random.randrange(_HITS))
        person.click(card.get_by_role("link"), "the link to an entry")
        person.expect(dialog, "lost", "no dialog of the entry opens")
        id = self._opened()
        before = self.stored.text_of_memory(id)
        self._edits.setdefault(id, self.stored.edits_of_memory(id))
        person.rest()
        saves, types = self.random.random() < 0.5, self.random.random() < 0.5
        text = f"The curator noted the number {self.random.randrange(10**6)} about frogs."
        if saves or types:
            person.click(dialog.get_by_role("textbox", name="Text"), "the text of the entry")
            person.press("Control+a")
            person.type(text)
            person.rest(0.5)
        began = time.monotonic()
        if saves:
            self._edits[id] += 1
            person.click(dialog.get_by_role("button", name="Save and embed again"), "Save and embed again")
        elif self.random.random() < 0.5:
            person.press("Escape")
        else:
            person.click(dialog.get_by_role("button", name="Close", exact=True), "Close")
        person.expect(dialog, "stuck", f"the dialog stays after {'Save' if saves else 'Close'}", "hidden")
        seconds = time.monotonic() - began
        if saves:
            person.expect_stored(lambda: self.stored.text_of_memory(id) == text, f"{id} was not saved")
        elif self.stored.text_of_memory(id) != before:
            raise ActionFailed("twice", f"{id} was changed although it was cancelled")
        person.expect(self._cards.first, "empty", "no entries are left behind the dialog")
        return seconds

    def _opened(self) -> str:
        """The entry in the dialog; after one was saved, the cards change places under the mouse."""
        try:
            self.page.wait_for_url(_ENTRY)
        except TooLate:
            raise ActionFailed("stuck", "the address does not name the entry") from None
        return parse_qs(urlsplit(self.page.url).query)["entry"][0].removeprefix("memories:")

    def check_at_the_end(self) -> None:
        for id, edits in self._edits.items():
            if (found := self.stored.edits_of_memory(id)) > edits:
                self.tally.fail("twice", f"{id} was edited {found} times instead of {edits}")


class SavedSearches(Scene):
    """A search is saved under a name, by Enter or by the button, and removed again."""

    kind = "forms"

    def open(self) -> None:
        self.person.goto("search?q=a+dog+on+the+moon")
        self.person.expect(self.page.locator(".card").first, "empty", "the search shows no cards")

    def act(self) -> float:
        person = self.person
        name = f"number {self.random.randrange(10**9)}"
        field = self.page.get_by_role("textbox", name="Save this search as")
        person.rest()
        if not field.is_visible():
            person.click(self.page.get_by_role("button", name="Saved"), "Saved")
            person.expect(field, "lost", "the saved searches do not open")
        person.rest()
        person.click(field, "the name of the search")
        person.type(name)
        person.rest(0.5)
        began = time.monotonic()
        if self.random.random() < 0.5:
            person.press("Enter")
        else:
            person.click(self.page.get_by_role("button", name="Save search"), "Save search")
        person.expect_stored(lambda: name in self.stored.library.searches.all(), f"search {name!r} not saved")
        opener = self.page.get_by_role("button", name=name)
        person.expect(opener, "stuck", f"the saved search {name!r} is not listed")
        seconds = time.monotonic() - began
        person.rest()
        row = self.page.get_by_test_id("stHorizontalBlock").filter(has=opener).last
        person.click(row.get_by_role("button", name="Remove"), "Remove")
        person.expect_stored(
            lambda: name not in self.stored.library.searches.all(), f"search {name!r} not removed"
        )
        person.expect(opener, "stuck", f"the removed search {name!r} is still listed", state="hidden")
        person.expect(self.page.locator(".card").first, "empty", "the cards are gone")
        return seconds


class AddedMemories(Scene):
    """A memory is added."""

    kind = "forms"

    def __init__(self, person: Person, tally: Tally) -> None:
        super().__init__(person, tally)
        self._words: list[str] = []

    def open(self) -> None:
        self.person.goto("lore?view=Browse&kind=Memories")
        self._expect_count()

    def _expect_count(self) -> None:
        count = self.page.get_by_text(f"{self.stored.memories_with(''):,} memories", exact=True)
        self.person.expect(count, "stuck", "the number of memories is not what is stored")

    def act(self) -> float:
        person = self.person
        word = f"w{self.random.randrange(16**10):x}"
        field = self.page.get_by_role("textbox", name="Memory", exact=True)
        person.rest()
        if not field.is_visible():
            person.click(self.page.get_by_role("button", name="Add", exact=False).last, "Add")
            person.expect(field, "lost", "the form for a memory does not open")
        person.rest()
        person.click(field, "the text of the memory")
        person.press("Control+a")
        person.type(f"The curator keeps {word}.")
        person.rest(0.5)
        self._words.append(word)
        began = time.monotonic()
        person.click(self.page.get_by_role("button", name="Store"), "Store")
        person.expect_stored(
            lambda: self.stored.memories_with(word) > 0, f"the memory of {word} was not added"
        )
        self._expect_count()
        return time.monotonic() - began

    def check_at_the_end(self) -> None:
        for word in self._words:
            if (found := self.stored.memories_with(word)) > 1:
                self.tally.fail("twice", f"the memory of {word} was added {found} times")


class TakenSuggestions(Scene):
    """A suggested text is accepted in the caption editor, and saved by key or by button."""

    kind = "forms"

    def __init__(self, person: Person, tally: Tally) -> None:
        super().__init__(person, tally)
        self._left = [
            address
            for address in self.stored.library.addresses(Filter(tier="approved"))
            if self.stored.library.suggestions.of(address)
        ]
        self._verbs: dict[str, int] = {}

    def open(self) -> None:
        """Each coin has an address of its own."""

    def act(self) -> float:
        person = self.person
        if not self._left:
            raise SystemExit("there are not enough suggestions: give fewer --forms")
        address = self._left.pop()
        suggested = self.stored.library.suggestions.of(address)[0].text
        person.goto(f"captions?address={address}")
        facet = self.page.locator(f".facet[data-facet={SUGGESTED}]")
        accept = facet.get_by_role("button", name="Accept", exact=True)
        person.expect(accept, "empty", f"the suggestion for {address} is not shown")
        self._verbs[address] = len(self.stored.verbs(address)) + 1
        person.rest()
        person.click(accept, "Accept")
        person.rest(0.5)
        began = time.monotonic()
        if self.random.random() < 0.5:
            person.press("Control+s")
        else:
            person.click(self.page.get_by_role("button", name="Save", exact=True), "Save")
        person.expect_stored(
            lambda: self.stored.library.get(address).caption.get(SUGGESTED) == suggested,
            f"the caption of {address} was not saved",
        )
        state = self.page.locator(".memedex-editor .state").filter(has_text="Saved")
        person.expect(state, "stuck", f"the editor does not say that {address} is saved")
        return time.monotonic() - began

    def check_at_the_end(self) -> None:
        for address, verbs in self._verbs.items():
            if (found := len(self.stored.verbs(address))) > verbs:
                self.tally.fail("twice", f"{address} was changed {found} times instead of {verbs}")
