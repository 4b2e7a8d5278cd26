"""What a page says beyond its PDF's own text: recognised scans and tables, with the place of each line.

They are kept next to the document's original: recognising takes seconds a page, and passages have their
places in this text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from store.disk.files import Disk

SUFFIX = ".read.json"

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom as fractions of the page
Place = tuple[int, int, Rectangle]  # of the text: where it begins and ends, and where it is on the page


@dataclass(frozen=True, slots=True)
class PageReading:
    """The text of a page, and the places of its lines."""

    text: str
    places: Sequence[Place] = ()
    headings: Sequence[tuple[int, str]] = ()  # where each begins, and its title

    def marks(self, passage: str) -> tuple[list[Rectangle], list[str]]:
        """The rectangles of the lines in which a passage is, and what of it stands between these."""
        letters = [at for at, sign in enumerate(self.text) if is_compared(sign)]
        wanted = "".join(filter(is_compared, passage))
        start = "".join(filter(is_compared, self.text)).find(wanted)
        if start < 0 or not wanted:
            return [], []
        first, last = letters[start], letters[start + len(wanted) - 1] + 1
        inside = [(begin, end, place) for begin, end, place in self.places if begin < last and first < end]
        ends = [first, *(at for begin, end, _ in inside for at in (begin, end)), last]
        between = [self.text[begin:end].strip() for begin, end in zip(ends[::2], ends[1::2], strict=True)]
        return [place for _, _, place in inside], [*filter(None, between)]


def is_compared(sign: str) -> bool:
    """Whether a character is_compared when comparing a passage with its page: no spaces, no hyphens."""
    return not sign.isspace() and sign not in "-\ufffe\u00ad" and sign.isprintable()


def load(path: Path) -> dict[int, PageReading]:
    """The readings in a file, by page from 1; none if there is no such file, or it cannot be read."""
    try:
        known: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
        return {int(page): page_reading(one) for page, one in known.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def page_reading(given: Mapping[str, Any]) -> PageReading:
    """A reading as JSON has it."""
    places = [
        (begin, end, (left, top, right, bottom)) for begin, end, (left, top, right, bottom) in given["places"]
    ]
    return PageReading(given["text"], places, [(start, title) for start, title in given["headings"]])


def store(path: Path, readings: Mapping[int, PageReading]) -> None:
    """Write the readings of a document, in the place of those that the file has."""
    disk = Disk()
    disk.make_folder(path.parent)
    disk.replace(path, json.dumps({page: asdict(one) for page, one in readings.items()}).encode())
