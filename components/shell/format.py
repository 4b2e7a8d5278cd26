"""Format numbers, times and untrusted words for the page."""

import re
import time
from datetime import UTC, datetime, tzinfo

from store.captioning import BORROWED
from store.embedding import OFFLINE
from store.jobs import background_worker

# Every ASCII sign that Markdown or Streamlit could read as more than itself.
_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")

VERBS = {  # as they read in a history
    "import": "imported", "add": "imported", "approve": "approved", "return": "returned to review",
    "reject": "rejected", "promote": "promoted", "degrade": "removed from the library", "delete": "deleted",
    "restore": "restored", "caption": "captioned", "flag": "flagged", "comment": "commented on",
    "correct text": "corrected the picture text of", "captions": "imported captions of",
    "complete": "completed", "tag": "tagged", "rename tag": "renamed a tag of",
    "remove tag": "removed a tag from", "taxonomy": "edited the taxonomy", "replace": "replaced words in",
    "judge": "judged", "second approve": "second opinion: approved",
    "second reject": "second opinion: rejected", "settle approve": "settled as approved",
    "settle reject": "settled as rejected", "undo": "undid", "redo": "redid", "move aside": "moved aside",
    "forget vectors": "deleted vectors of", "empty trash": "deleted for good",
    # … of texts
    "demo": "loaded", "store": "stored", "add memory": "added", "add lore": "added", "load world": "loaded",
    "import document": "imported", "find sections": "found the sections of", "cut long chunks": "cut",
    "edit": "edited", "merge": "merged", "split": "split", "accept": "accepted", "remove": "removed",
    "remove document": "removed", "remove session": "removed", "forget": "deleted for good:",
    "adopt": "adopted",
}  # fmt: skip
_AROUND = {
    "return": "returned {} to review", "degrade": "removed {} from the library",
    "settle approve": "settled {} as approved", "settle reject": "settled {} as rejected",
}  # fmt: skip

# One colour of the theme for each tier, in cards, charts and chips.
TIER_COLORS = {"pending": "blue", "approved": "yellow", "library": "green", "trash": "red"}

# Where a record is, as the pages are called; stored and typed as "pending" and "trash".
TIERS: dict[str, str] = {
    "pending": "Review",
    "approved": "Approved",
    "library": "Library",
    "trash": "Rejected",
}


def plain(text: str, *, limit: int = 80) -> str:
    """An untrusted text on one line, escaped for a place that reads Markdown.

    Unescaped, `![](http://…)` in a coin's name would fetch a picture from outside.
    """
    return _MARKDOWN.sub(r"\\\1", cut(text, limit=limit))


def cut(text: str, *, limit: int) -> str:
    """A text on one line, of at most so many characters; not escaped."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def capital(text: str) -> str:
    """A message with a capital letter at its beginning, unless that is a condition such as `before:soon`."""
    return text if ":" in text.partition(" ")[0].rstrip(":") else text[:1].upper() + text[1:]


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 coin", "2,300 coins"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def ago(at: float, *, now: float | None = None) -> str:
    """How long ago a moment was (UNIX seconds): "just now", "5 min ago", "3 days ago".

    Years and months have the length that they have in `components/grid/js/dom.js`.
    """
    seconds = (time.time() if now is None else now) - at
    for size, word in ((31_557_600, "year"), (2_629_800, "month"), (86_400, "day"), (3_600, "hour")):
        if seconds >= size:
            return f"{counted(int(seconds // size), word)} ago"
    return f"{int(seconds // 60)} min ago" if seconds >= 60 else "just now"


def moment(seconds: float, form: str = "%Y-%m-%d", *, zone: tzinfo = UTC) -> str:
    """A time (UNIX seconds) formatted by `strftime`; the number if no calendar has that year."""
    try:
        return datetime.fromtimestamp(seconds, zone).strftime(form)
    except (OverflowError, ValueError, OSError):
        return f"{seconds:.0f}"


def duration(seconds: float) -> str:
    """A duration: "40 s", "3 min", "2 h 10 min"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def describe_fault(trouble: background_worker.WorkerFault) -> str:
    """What a background thread cannot do, since when, and when it tries again."""
    times = "" if trouble.times == 1 else f", {trouble.times:,} times"
    wait = max(0.0, trouble.again - time.time())
    return (
        f"{trouble.worker}: {trouble.reason} (since {ago(trouble.since)}{times}; again in {duration(wait)})"
    )


def dollars(amount: float) -> str:
    """US dollars: "$0.0021", "$1.40"."""
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


def size(number: float) -> str:
    """Bytes in readable units."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:,.0f} {unit}" if unit == "bytes" else f"{number:,.1f} {unit}"
        number /= 1000
    return f"{number:,.1f} GB"


def short(number: float) -> str:
    """A number with three digits, as filters take it: 1.25m."""
    for unit in ("", "k", "m"):
        if abs(number) < 999.5:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:,.3g}b" if abs(number) < 999.5 else f"{number:,.0f}b"


def done(verb: str) -> str:
    """A verb in the past tense: "rejected"."""
    return VERBS.get(verb, verb)


def did(verb: str, what: str) -> str:
    """A verb with its object: "rejected 3 coins", "returned Bonk to review"."""
    return _AROUND[verb].replace("{}", what) if verb in _AROUND else f"{done(verb)} {what}"


def model(name: str) -> str:
    """The display name of a model, or of the similar coins from which a suggestion was borrowed."""
    if name.startswith(BORROWED):
        _, _, coin = name.removeprefix(BORROWED).partition(" · ")
        return f"similar coin · {coin}" if coin else "similar coins"
    return "Built-in model" if name == OFFLINE else name


def shortened(address: str) -> str:
    """An address shortened in the middle; people compare the ends."""
    return address if len(address) <= 14 else f"{address[:6]}…{address[-6:]}"
