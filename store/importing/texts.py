"""Decode and parse untrusted text and JSON."""

import codecs
import json
from collections import Counter
from typing import Any

from store.errors import BadSource

MAX_BYTES = 32_000_000  # Solana's whole token list has 7 MB; parsed, the worst JSON takes 20 times its size

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decoded(content: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 or UTF-32 with a byte order mark.

    Raises BadSource if it is not text in one of these.
    """
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "")
    try:
        # Without a mark, zero bytes among the first four give UTF-16 and UTF-32 away.
        return content.decode(encoding or json.detect_encoding(content[:4]))
    except UnicodeDecodeError as error:
        raise BadSource("it is not text in UTF-8; save it as “UTF-8” and try again") from error


def parsed(text: str) -> Any:
    """The JSON value, with NaN as a float, as programs write a number that they lack.

    Raises BadSource, with the position, if it is no JSON or has repeated keys.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise BadSource(f"it is not JSON: {error.msg} in line {error.lineno}") from error
    except RecursionError as error:
        raise BadSource("it is nested too deeply") from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise BadSource(f"it holds a value that cannot be read: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise BadSource(f"the key {twice[:40]!r} stands in it twice")
    return found
