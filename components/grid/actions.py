"""Actions of a grid: verb, button, key, and whether the card leaves."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Tone = Literal["good", "bad", "main", "quiet"]
Handler = Callable[[Sequence[str]], None]  # does what needs the page with the chosen coins, by address


@dataclass(frozen=True, slots=True)
class Action:
    """One action on the selection, or, if `single`, on the card under the cursor.

    `leaves`: the card leaves at once, before the server has answered; otherwise it stays. `reasons` are
    offered on the digits 1 to 9. `goes`: the page does it instead of the store, and leads elsewhere (until
    that is shown, keys are meant for it) or only runs again; or a dialog asks first.
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

    def as_json(self) -> dict[str, Any]:
        """The action as the grid's JavaScript reads it."""
        message = self.message or self.label
        return {**asdict(self), "message": message if "{}" in message else f"{message} {{}}"}


APPROVE = Action("approve", "Approve", "a", "good", message="Approved")
REJECT = Action(
    "reject",
    "Reject",
    "r",
    "bad",
    message="Rejected",
    reasons=("copycat", "not a meme", "bad picture", "offensive", "scam"),
)
RETURN = Action("return", "Back to review", "b", message="Returned {} to review")
DELETE = Action("delete", "Delete", "x", "bad", message="Deleted")
RESTORE = Action("restore", "Restore", "r", "good", message="Restored")
DEGRADE = Action("degrade", "Remove from library", "t", message="Removed {} from the library")
PROMOTE = Action("promote", "Promote", "p", "main", leaves=False)
CAPTION = Action("caption", "Captions", "e", leaves=False, single=True, goes="elsewhere")
DRAFT = Action("draft", "Draft", "f", leaves=False, goes="elsewhere")
REPLACE = Action("replace", "Replace", "w", leaves=False, goes="elsewhere")
EXPORT = Action("export", "Export", "o", leaves=False, goes="elsewhere")
MODEL = Action("model", "Generate", "i", leaves=False, goes="elsewhere")
TAGS = Action("tags", "Tags", "n", leaves=False, goes="dialog")
LIKE = Action("like", "More like this", "m", leaves=False, single=True, goes="elsewhere")
STYLE = Action("style", "Same style", "s", leaves=False, single=True, goes="elsewhere")
GOOD = Action("good", "Good", "g", "good", leaves=False, goes="run")
BAD = Action("bad", "Bad", "b", "bad", leaves=False, goes="run")
