"""Actions of `bench.clicks` on the grid: decisions by key and by button, and the dialog for tags."""

import time
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import TimeoutError as TooLate

from bench.clicks_person import ActionFailed, Person, Scene, Tally

_UNDONE = 0.05  # share of decisions that are taken back at once
_TAGS = [f"zq{number:02}" for number in range(40)]  # none begins with another
CURSOR = ".card.at"


@dataclass
class _Coin:
    """What should be in the history of a coin by now."""

    before: list[str]
    verbs: list[str]
    since: float  # when it was last decided, by time.monotonic


class GridScene(Scene):
    """Something done to the card under the cursor of the Review page."""

    def __init__(self, person: Person, tally: Tally) -> None:
        super().__init__(person, tally)
        self.coins: dict[str, _Coin] = {}

    def open(self) -> None:
        self.person.goto("pending")
        self.person.expect(self.page.locator(CURSOR), "empty", "Review shows no card")

    def at(self) -> str:
        try:
            return str(self.page.locator(CURSOR).get_attribute("data-address"))
        except TooLate:
            raise ActionFailed("empty", "no card is under the cursor") from None

    def coin(self, address: str) -> _Coin:
        if address not in self.coins:
            self.coins[address] = _Coin(self.stored.verbs(address), [], 0.0)
        return self.coins[address]

    def new_verbs(self, address: str) -> list[str]:
        return self.stored.verbs(address)[len(self.coins[address].before) :]

    def use(self, key: str, verb: str) -> None:
        """The key of an action, or its button."""
        if self.random.random() < 0.5:
            self.person.press(key)
        else:
            self.person.click(self.page.locator(f".verb[data-verb={verb}]"), f"the button for {verb}")

    def check_at_the_end(self) -> None:
        for address, coin in self.coins.items():
            found = self.new_verbs(address)
            if len(found) > len(coin.verbs):
                self.tally.fail("twice", f"{address}: {found} instead of {coin.verbs}")


class Decisions(GridScene):
    """Approve and reject by key and by button, some for a reason, some taken back."""

    kind = "decisions"
    block = 40

    def __init__(self, person: Person, tally: Tally) -> None:
        super().__init__(person, tally)
        self._open: set[str] = set()

    def act(self) -> float:
        address = self.at()
        self.coin(address)
        self.person.rest()
        verb = self.random.choice(("approve", "reject"))
        reason = verb == "reject" and self.random.random() < 0.3
        began = time.monotonic()
        if reason:
            self.person.press(str(self.random.randint(1, 5)))
        else:
            self.use(verb[0], verb)
        self._expect(address, verb, state="hidden", message=f"after {verb} the card stays")
        seconds = time.monotonic() - began
        if self.random.random() < _UNDONE:
            self.person.rest()
            self.person.press("z")
            self._expect(address, "undo", state="visible", message="after undo the card does not return")
        self._look(time.monotonic())
        return seconds

    def _expect(self, address: str, verb: str, *, state: Literal["visible", "hidden"], message: str) -> None:
        coin = self.coins[address]
        coin.verbs.append(verb)
        coin.since = time.monotonic()
        self._open.add(address)
        card = self.page.locator(f".card[data-address='{address}']")
        try:
            card.wait_for(state=state)
        except TooLate:
            self._open.discard(address)
            found = self.new_verbs(address)
            is_stored, coin.verbs = found == coin.verbs, found  # counted once, here
            raise ActionFailed("stuck" if is_stored else "lost", f"{message} ({address})") from None

    def _look(self, now: float) -> None:
        """Compare what is stored with what was decided; what is not there after the limit is lost."""
        for address in [*self._open]:
            coin = self.coins[address]
            if self.new_verbs(address) == coin.verbs:
                self._open.discard(address)
            elif now - coin.since > self.person.limit:
                self._open.discard(address)
                self.tally.fail("lost", f"{address}: {self.new_verbs(address)} instead of {coin.verbs}")

    def close(self) -> None:
        while self._open:
            self._look(time.monotonic())
            self.page.wait_for_timeout(50)


class TagDialogs(GridScene):
    """The dialog for tags of the card under the cursor: applied, or cancelled with half a word in it."""

    kind = "dialogs"

    def act(self) -> float:
        person = self.person
        # Both ways: at the end of the page, one coin would get all the tags.
        person.press(*[self.random.choice(["ArrowRight", "ArrowLeft"])] * self.random.randint(1, 4))
        address = self.at()
        coin = self.coin(address)
        before = self.stored.library.get(address).tags
        dialog = self.page.get_by_role("dialog", name="Tags")
        person.rest()
        self.use("n", "tags")
        person.expect(dialog, "lost", "no dialog for tags opens")
        person.rest()
        tag = self.random.choice([tag for tag in _TAGS if tag not in before])
        applies = self.random.random() < 0.5
        person.type(tag if applies else tag[: self.random.randint(0, 4)])
        person.rest(0.5)
        began = time.monotonic()
        if applies:
            coin.verbs.append("tags")
            self._apply(address, tag)
        elif self.random.random() < 0.5:
            person.press("Escape")
        else:
            person.click(dialog.get_by_role("button", name="Cancel"), "Cancel")
        person.expect(dialog, "stuck", "the dialog for tags stays open", state="hidden")
        if applies:
            person.expect_stored(
                lambda: sorted(self.stored.library.get(address).tags) == sorted([*before, tag]),
                f"{address} did not get {tag}",
            )
        elif self.stored.library.get(address).tags != before:
            raise ActionFailed("twice", f"{address} has other tags after Cancel")
        seconds = time.monotonic() - began
        person.expect(self.page.locator(CURSOR), "empty", "no card is left behind the dialog")
        return seconds

    def _apply(self, address: str, tag: str) -> None:
        dialog = self.page.get_by_role("dialog", name="Tags")
        self.person.press("Enter")
        chip = dialog.locator(f".chip.added[data-tag='{tag}']")
        self.person.expect(chip, "stuck", f"{tag} does not become a chip")
        self.person.rest(0.5)
        if self.random.random() < 0.5:
            self.person.press("Enter")
        else:
            self.person.click(dialog.get_by_role("button", name="Apply"), "Apply")
