"""Actions of a grid: verb, button, key, and whether the card leaves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from store.records import TIERS, Tier

Tone = Literal["good", "bad", "main", "quiet"]
Handler = Callable[[Sequence[str]], None]  # does what needs the page with the chosen coins, by address


@dataclass(frozen=True, slots=True)
class Action:
    """One action on the selection, or, if `single`, on the card under the cursor.

    `leaves`: the card leaves at once, before the server has answered; otherwise it stays. `reasons` are
    offered on the digits 1 to 9. `goes`: the page does it instead of the store, and leads elsewhere (until
    that is shown, keys are meant for it) or only runs again; or a dialog asks first. `to` is where it leads
    unless the page does something else: the beginning of an address, which the coin's own ends.
    `message` is shown once it is done, with the coin's name in place of {} (or at its end). The grid
    itself draws the dialog for tags.
    """

    verb: str
    label: str
    key: str
    tone: Tone = "quiet"
    leaves: bool = True
    single: bool = False
    message: str = ""
    reasons: tuple[str, ...] = ()
    goes: Literal["", "elsewhere", "run", "dialog"] = ""
    to: str = ""
    glyph: str = ""  # of its button on the card under the cursor; without one, it has none there
    rest: bool = False  # the other coins of the page, or those that are selected, go with it as its others

    def as_json(self) -> dict[str, Any]:
        """The action as the grid's JavaScript reads it, with the tiers whose coins allow it."""
        message = self.message or self.label
        return {
            **asdict(self),
            "message": message if "{}" in message else f"{message} {{}}",
            "tiers": [tier for tier, actions in VERBS.items() if self.verb in [one.verb for one in actions]],
        }


APPROVE = Action("approve", "Approve", "a", "good", message="Approved", glyph="✓")
REJECT = Action(
    "reject",
    "Reject",
    "r",
    "bad",
    message="Rejected",
    reasons=("copycat", "not a meme", "bad picture", "offensive", "scam"),
    glyph="✕",
)
RETURN = Action("return", "Back to review", "b", message="Returned {} to review", glyph="↩")
DELETE = Action("delete", "Delete", "x", "bad", message="Deleted")
RESTORE = Action("restore", "Restore", "v", "good", message="Restored", glyph="↺")
DEGRADE = Action("degrade", "Remove from library", "t", message="Removed {} from the library")
PROMOTE = Action("promote", "Promote", "p", "main", leaves=False, glyph="↑")
CAPTION = Action(
    "caption", "Captions", "e", leaves=False, single=True, goes="elsewhere", to="captions?address=", glyph="✎"
)
DRAFT = Action("draft", "Draft", "f", leaves=False, goes="elsewhere")
REPLACE = Action("replace", "Replace", "w", leaves=False, goes="elsewhere")
EXPORT = Action("export", "Export", "o", leaves=False, goes="elsewhere")
MODEL = Action("model", "Generate", "i", leaves=False, goes="elsewhere")
TAGS = Action("tags", "Tags", "n", leaves=False, goes="dialog", glyph="#")
LIKE = Action(
    "like", "More like this", "m", leaves=False, single=True, goes="elsewhere", to="search?like=", glyph="≈"
)
STYLE = Action("style", "Same style", "s", leaves=False, single=True, goes="elsewhere")
KEEP = Action("keep", "Keep this, reject the rest", "0", "main", leaves=False, single=True, rest=True)
GOOD = Action("good", "Good", ".", "good", leaves=False, goes="run")
BAD = Action("bad", "Bad", ",", "bad", leaves=False, goes="run")

# What can be done with a coin of each tier, on every page with cards, by the same keys.
VERBS: Mapping[Tier, tuple[Action, ...]] = {
    "pending": (APPROVE, REJECT, TAGS, LIKE),
    "approved": (PROMOTE, CAPTION, RETURN, REJECT, TAGS, DELETE, DRAFT, REPLACE, EXPORT, LIKE),
    "library": (LIKE, CAPTION, TAGS, DEGRADE, DELETE, REPLACE, EXPORT, MODEL),
    "trash": (RESTORE, LIKE),
}


def verbs(*tiers: Tier, also: Sequence[Action] = ()) -> list[Action]:
    """The verbs of these tiers, of all without any, after those that only this page has."""
    found = [action for tier in tiers or TIERS for action in VERBS[tier]]
    return list(dict.fromkeys([*also, *found]))
