"""What may be given to the text memory, and how it is written down."""

import json
from typing import Any

from store.memory.errors import InvalidInput


def checked_text(text: object, *, what: str) -> str:
    """A text that says something and can be stored; else InvalidInput."""
    if not isinstance(text, str):
        raise InvalidInput(f"{what} has to be text, not {type(text).__name__}")
    if not text.strip():
        raise InvalidInput(f"{what} is empty")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{what} holds half a character (a lone surrogate)") from None
    return text


def checked_count(n: object, *, what: str, most: int = 10_000) -> int:
    """A whole number from 1 to `most`; else InvalidInput."""
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= most:
        raise InvalidInput(f"{what} has to be a whole number from 1 to {most:,}, not {n!r}")
    return n


def as_json(value: Any) -> str:
    """JSON that any SQLite can hold: half characters stay escaped."""
    return json.dumps(value, separators=(",", ":"))
