"""Servers that are busy: which answers say so, and how long they ask to wait."""

import time
from email.utils import parsedate_to_datetime

LATER = (408, 425, 429, 500, 502, 503, 504)  # HTTP: the same request may succeed later
LONGEST = 3600.0  # seconds that a server may make us wait


def seconds_to_wait(header: str | None, *, most: float = LONGEST) -> float | None:
    """The seconds of a Retry-After header, a number or a date (RFC 9110, 10.2.3); None if it says neither."""
    try:
        seconds = float(header or "")
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header or "").timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(max(0.0, seconds), most) if seconds == seconds else None
