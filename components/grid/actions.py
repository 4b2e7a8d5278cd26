"""What can be done from a grid: verb, button, key, and whether the card goes with it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Tone = Literal["good", "bad", "main", "quiet"]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do to the selection, or to the card under the cursor; if `single`, to the latter only.

    `leaves`: the card goes at once, before the server has answered; otherwise it waits where it is.
    `reasons` are offered on the digits 1 to 9. `goes`: where it leads; until that is there,
    keys are meant for it.
    """

    verb: str
    label: str
    key: str
    tone: Tone = "quiet"
    leaves: bool = True
    single: bool = False
    said: str = ""
    reasons: tuple[str, ...] = ()
    goes: Literal["", "elsewhere", "dialog"] = ""

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "said": self.said or self.label}


APPROVE = Action("approve", "Approve", "a", "good", said="Approved")
REJECT = Action(
    "reject", "Reject", "r", "bad", said="Rejected",
    reasons=("copycat", "not a meme", "bad picture", "offensive", "scam"),
)  # fmt: skip
RETURN = Action("return", "Send back", "b", said="Sent back")
DELETE = Action("delete", "Delete", "x", "bad", said="Deleted")
RESTORE = Action("restore", "Restore", "r", "good", said="Restored")
DEGRADE = Action("degrade", "Degrade", "t", said="Degraded")
PROMOTE = Action("promote", "Promote", "p", "main", leaves=False)
CAPTION = Action("caption", "Captions", "e", leaves=False, single=True, goes="elsewhere")
DRAFT = Action("draft", "Draft", "f", leaves=False, goes="elsewhere")
REPLACE = Action("replace", "Replace", "w", leaves=False, goes="elsewhere")
EXPORT = Action("export", "Export", "o", leaves=False, goes="elsewhere")
MODEL = Action("model", "To model", "i", leaves=False, goes="elsewhere")
TAGS = Action("tags", "Tags", "n", leaves=False, goes="dialog")
LIKE = Action("like", "More like this", "m", leaves=False, single=True, goes="elsewhere")
STYLE = Action("style", "Same style", "s", leaves=False, single=True, goes="elsewhere")
GOOD = Action("good", "Good", "g", "good", leaves=False)
BAD = Action("bad", "Bad", "b", "bad", leaves=False)
