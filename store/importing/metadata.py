"""Map one coin's metadata, with the field names of many programs, to the sidecar of reference 1."""

import contextlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from store.captions.caption_text import HOLDS
from store.errors import BadSource
from store.records import CAPTION_FACETS, checked_address, sidecar_bytes

# The sidecar's keys, and what else they are called; the first that is there counts.
NAMES: dict[str, tuple[str, ...]] = {
    "token_name": ("token_name", "name"),
    "ticker": ("ticker", "symbol"),
    "description": ("description",),
    "token_address": ("token_address", "address", "mint", "contract_address"),
    "created_at": ("created_at", "createdAt", "created_timestamp"),
    "tags": ("tags",),
}
_OWN = ("tier", HOLDS)  # said by exports and `list --json`, known by the library
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MILLISECONDS = 1e11  # as seconds, that is the year 5138
_MICROSECONDS = 1e14
_LARGEST = 2**63  # in any unit; an integer of 400 digits cannot be divided into seconds


def sidecar_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The sidecar: known fields under their own names, all others unchanged.

    `created_at` is missing if nothing states it. Raises BadSource or InvalidRecord, naming what cannot be
    used.
    """
    rest = {str(key): value for key, value in raw.items() if key not in _OWN}
    found = {key: _taken(rest, names) for key, names in NAMES.items()}
    sidecar: dict[str, Any] = {}
    for key in ("token_name", "ticker"):
        if found[key] is not None:
            sidecar[key] = one_line(found[key])
    sidecar["description"] = _description(found["description"], rest)
    if found["token_address"] not in (None, ""):
        sidecar["token_address"] = checked_address(found["token_address"])
    created = unix_seconds(found["created_at"])
    if created is not None:
        sidecar["created_at"] = created
    for key, value in (("tags", found["tags"]), ("tags_categories", rest.pop("tags_categories", None))):
        if value is not None:
            sidecar[key] = tags(value)
    sidecar |= {key: value for key, value in rest.items() if not (key == "caption" and value is None)}
    sidecar_bytes(sidecar)  # an unpaired surrogate or an infinite number cannot be kept
    return sidecar


def caption_columns(row: dict[str, Any]) -> dict[str, Any]:
    """A new dict: the row with its facet columns, as far as they are filled, as the caption."""
    rest = dict(row)
    if "caption" in rest:
        return rest
    written = {facet: rest.pop(facet, None) for facet in CAPTION_FACETS}
    if caption := {facet: text for facet, text in written.items() if text not in (None, "")}:
        rest["caption"] = caption
    return rest


def one_line(value: Any) -> Any:
    """Text without line breaks and control characters; other values unchanged."""
    return " ".join(_CONTROL.sub(" ", value).split()) if isinstance(value, str) else value


def tags(value: Any) -> list[str]:
    """Clean tags in their order, each once, from a list or from text with commas, semicolons or bars.

    Raises BadSource for anything else.
    """
    if isinstance(value, str):
        value = value.split(next((sign for sign in ",;" if sign in value), "|"))
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise BadSource("tags must be a list of texts")
    single = (one_line(part) for tag in value for part in tag.split(","))  # a tag holds no comma
    return list(dict.fromkeys(tag for tag in single if tag))


def unix_seconds(value: Any) -> int | None:
    """UNIX seconds from seconds, milliseconds, microseconds or ISO 8601 (UTC without a time zone).

    None for an empty value. Raises BadSource for anything else.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = _from_text(value.strip())
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) < _LARGEST:  # also what is infinite, or no number at all
        raise BadSource("created_at must be UNIX seconds or a date as in 2024-05-01T12:00:00Z")
    if abs(value) > _MICROSECONDS:
        value /= 1_000_000
    elif abs(value) > _MILLISECONDS:
        value /= 1000
    return int(value)


def _from_text(text: str) -> int | float | None:
    with contextlib.suppress(ValueError):  # no number, so it may be a date
        return float(text) if "." in text else int(text)
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _description(text: Any, rest: Mapping[str, Any]) -> Any:
    if text is None and isinstance(extensions := rest.get("extensions"), dict):
        text = extensions.get("description")
    return "" if text is None else text


def _taken(rest: dict[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if name in rest:
            return rest.pop(name)
    return None
