"""Map one coin's metadata, with the field names of many programs, to the sidecar of reference 1."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from store.captions.caption_text import HOLDS
from store.errors import BadSource
from store.importing import values
from store.records import CAPTION_FACETS, checked_address, sidecar_bytes

# The sidecar's keys, and what else they are called; the first that is there counts.
NAMES: dict[str, tuple[str, ...]] = {
    "token_name": ("token_name", "name"),
    "ticker": ("ticker", "symbol"),
    "description": ("description",),
    "token_address": ("token_address", "address", "mint", "contract_address"),
    "tags": ("tags",),
}
# Keys of dates and numbers, compared without case and signs; the first with a value that can be read counts.
READ: dict[str, tuple[str, ...]] = {
    "created_at": (
        *("createdat", "createdtimestamp", "created", "createdon", "createdtime", "datecreated"),
        *("creationdate", "creationtime", "timestamp", "date", "launchdate", "launchedat", "launchtime"),
        *("launchtimestamp", "paircreatedat", "mintedat", "mintdate", "deployedat", "listedat", "dateadded"),
        *("genesisdate", "blocktime", "opentimestamp"),
    ),
    "decimals": ("decimals", "decimal", "tokendecimals"),
    "chainId": ("chainid", "chain", "network", "blockchain"),
}
IMPORT_TIME = "created_at_is_import_time"  # the sidecar's key for a coin that names no date of its own
FILLED_IN = "filled_in"  # … for what was missing in a library of another program
GIVEN_DATE = "created_at_given"  # … and for what it says instead of a date that can be read
_OWN = ("tier", HOLDS)  # said by exports and `list --json`, known by the library
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def sidecar_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The sidecar: known fields under their own names, all others unchanged.

    Dates and numbers that cannot be read are kept as they are (`unread` names them); `created_at` is missing
    if nothing states it. Raises BadSource or InvalidRecord, naming what cannot be used.
    """
    rest = {str(key): value for key, value in raw.items() if key not in _OWN and value == value}
    found = {key: _taken(rest, names) for key, names in NAMES.items()}
    sidecar: dict[str, Any] = {}
    for key in ("token_name", "ticker"):
        if found[key] is not None:
            sidecar[key] = one_line(found[key])
    sidecar["description"] = _description(found["description"], rest)
    if found["token_address"] not in (None, ""):
        sidecar["token_address"] = checked_address(found["token_address"])
    sidecar |= _numbers(rest)
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


def unread(sidecar: Mapping[str, Any]) -> Iterator[str]:
    """What a sidecar says as a date or a number that cannot be read, a sentence each."""
    if GIVEN_DATE in sidecar:
        given = _short(sidecar[GIVEN_DATE])
        yield f"created_at {given} is no date that can be read; it is kept as {GIVEN_DATE}"
    for key in ("decimals", "chainId"):
        value = sidecar.get(key)
        if not values.is_empty(value) and (isinstance(value, bool) or not isinstance(value, int)):
            yield f"{key} {_short(value)} is no number that can be read; it is kept as it is"


def meaning(key: str) -> str:
    """The date or number that a key states, by its name in a sidecar; "" for all other keys."""
    return next((field for field, names in READ.items() if _plain(key) in names), "")


def _numbers(rest: dict[str, Any]) -> dict[str, Any]:
    """The date and the numbers that can be read; removes from `rest` the keys that they are taken from."""
    found = date_of(rest)
    for field, read in (("decimals", _decimals), ("chainId", values.chain_id)):
        for name in _stating(rest, field):
            if (number := read(rest[name])) is not None:
                found[field] = number
                if _plain(name) == _plain(field):  # a `network` may say more than a number
                    del rest[name]
                break
    return found


def date_of(rest: dict[str, Any]) -> dict[str, Any]:
    """`created_at` of these fields, or what they say instead; removes the key that it is taken from."""
    names, unreadable = _stating(rest, "created_at"), []
    if rest.get(IMPORT_TIME):  # any other date is better
        names.sort(key=lambda name: name == "created_at")
    for name in names:
        try:
            seconds = values.unix_seconds(rest[name])
        except BadSource:
            unreadable.append(name)
            continue
        if name != "created_at":
            for key in (name, IMPORT_TIME, GIVEN_DATE):
                rest.pop(key, None)
        given = rest.pop("created_at", None)
        kept = {GIVEN_DATE: given} if "created_at" in unreadable else {}
        return {"created_at": seconds, **kept}
    given = rest.pop("created_at", None)
    return {GIVEN_DATE: rest.get(unreadable[0], given)} if unreadable else {}


def _stating(rest: Mapping[str, Any], field: str) -> list[str]:
    """The keys that say something about this date or number, the most exact first."""
    named = {_plain(name): name for name in reversed(list(rest)) if not values.is_empty(rest[name])}
    if not values.is_empty(rest.get(field)):
        named[_plain(field)] = field
    return [named[plain] for plain in READ[field] if plain in named]


def _decimals(value: Any) -> int | None:
    return values.whole_number(value, least=0, most=values.MAX_DECIMALS)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _description(text: Any, rest: Mapping[str, Any]) -> Any:
    if text is None and isinstance(extensions := rest.get("extensions"), dict):
        text = extensions.get("description")
    return "" if text is None else text


def _taken(rest: dict[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if name in rest:
            return rest.pop(name)
    return None
