"""How numbers, times and strangers' words are put on the page."""

import re
import time

# Every ASCII sign that Markdown or Streamlit could read as more than itself.
_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")

VERBS = {  # of design section 2, as they read in a history
    "import": "imported",
    "add": "imported",
    "approve": "approved",
    "return": "sent back",
    "reject": "rejected",
    "promote": "promoted",
    "degrade": "degraded",
    "delete": "deleted",
    "restore": "restored",
    "caption": "captioned",
    "captions": "took in captions of",
    "tag": "tagged",
    "rename tag": "renamed a tag of",
    "taxonomy": "edited the taxonomy",
    "replace": "replaced words in",
    "judge": "judged",
    "undo": "took back",
    "redo": "did again",
}


def plain(text: str, *, limit: int = 80) -> str:
    """A stranger's text for a place that reads Markdown: shown as it is, on one line, never obeyed.

    Unescaped, `![](http://…)` in a coin's name would fetch a picture from outside.
    """
    line = " ".join(text.split())
    return _MARKDOWN.sub(r"\\\1", line if len(line) <= limit else f"{line[: limit - 1]}…")


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 coin", "2,300 coins"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def ago(at: float, *, now: float | None = None) -> str:
    """How long ago a moment was (UNIX seconds): "just now", "5 min ago", "3 days ago"."""
    seconds = (time.time() if now is None else now) - at
    for size, word in ((86_400 * 365, "year"), (86_400 * 30, "month"), (86_400, "day"), (3_600, "hour")):
        if seconds >= size:
            return f"{counted(int(seconds // size), word)} ago"
    return f"{int(seconds // 60)} min ago" if seconds >= 60 else "just now"


def duration(seconds: float) -> str:
    """How long something takes: "40 s", "3 min", "2 h 10 min"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def dollars(amount: float) -> str:
    """US dollars: "$0.0021", "$1.40"."""
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


def size(number: float) -> str:
    """Bytes as a person reads them."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:,.0f} {unit}" if unit == "bytes" else f"{number:,.1f} {unit}"
        number /= 1000
    return f"{number:,.1f} GB"


def done(verb: str) -> str:
    """A verb as something that happened."""
    return VERBS.get(verb, verb)


def shortened(address: str) -> str:
    """An address that fits beside other things; the ends are what people compare."""
    return address if len(address) <= 14 else f"{address[:6]}…{address[-6:]}"
