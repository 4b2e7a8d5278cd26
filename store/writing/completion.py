"""What an import brings to a coin that is here: each field about which the coin says nothing.

One rule for `import`, `adopt`, `fetch-logos`, the inbox and `import-captions`: a field that the coin lacks,
and that no person removed here, comes in; all else stays, and is named with the reason.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from store.captions.caption_text import HOLDS
from store.importing.metadata import FILLED_IN, GIVEN_DATE, IMPORT_TIME
from store.outcome import NotTaken
from store.records import CAPTION_FACETS, Record

_TEXTS = ("tags", *(f"caption.{facet}" for facet in CAPTION_FACETS))  # what import-captions takes
_OWN = {"token_address", "tags_categories", "caption", "tier", HOLDS, FILLED_IN, IMPORT_TIME, GIVEN_DATE}
_MISSING = object()

Earlier = Callable[[], Iterable[Mapping[str, Any]]]


@dataclass(slots=True)
class Completion:
    """The fields that come in ("caption.entity" for a facet), and those that do not."""

    fields: dict[str, Any] = field(default_factory=dict)
    not_taken: list[NotTaken] = field(default_factory=list)


def compared(
    record: Record, given: Mapping[str, Any], *, earlier: Earlier, picture_name: str = ""
) -> Completion:
    """Compare what an import states about a coin with what the coin says.

    `earlier` are the coin's sidecars so far, without what was undone. A name that is that of the picture's
    file states nothing.
    """
    found, own = Completion(), _fields(record.sidecar)
    lacking: dict[str, Any] = {}
    for name, value in _fields(given).items():
        if _is_empty(value) or name in given.get(FILLED_IN, ()):
            continue
        if name == "token_name" and value == picture_name:
            continue
        if name == "created_at" and given.get(IMPORT_TIME):
            continue
        here = own.get(name, _MISSING)
        if _is_lacking(name, here, record) or (name == "token_name" and here == picture_name):
            lacking[name] = value
        elif not _says(here, value):
            found.not_taken.append(_not_taken(record, name, "the coin has its own here"))
    if lacking and record.tier == "trash":
        reason = "the coin is rejected; restore it first"
        found.not_taken += [NotTaken(record.address, name, reason) for name in lacking]
    elif lacking:
        past = [_fields(sidecar) for sidecar in earlier()]
        for name, value in lacking.items():
            if name not in ("token_name", "created_at") and any(not _is_empty(one.get(name)) for one in past):
                found.not_taken.append(_not_taken(record, name, "it was removed here"))
            else:
                found.fields[name] = value
    return found


def completed(sidecar: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The sidecar with these fields of `compared`; what they fill in counts as missing no more."""
    whole = dict(sidecar)
    caption = {name.removeprefix("caption."): text for name, text in fields.items() if "." in name}
    if caption := {facet: text for facet, text in caption.items() if f"caption.{facet}" in _TEXTS}:
        whole["caption"] = {**(sidecar.get("caption") or {}), **caption}
    whole |= {name: value for name, value in fields.items() if name not in _TEXTS[1:]}
    if "created_at" in fields:
        whole.pop(IMPORT_TIME, None)
        whole.pop(GIVEN_DATE, None)
    if isinstance(left := sidecar.get(FILLED_IN), list) and set(left) & fields.keys():
        whole[FILLED_IN] = [name for name in left if name not in fields]
        if not whole[FILLED_IN]:
            del whole[FILLED_IN]
    return whole


def _fields(sidecar: Mapping[str, Any]) -> dict[str, Any]:
    caption = sidecar.get("caption")
    texts = caption if isinstance(caption, Mapping) else {}
    return {
        **{name: value for name, value in sidecar.items() if name not in _OWN},
        **{f"caption.{facet}": texts[facet] for facet in CAPTION_FACETS if facet in texts},
    }


def _is_lacking(name: str, here: Any, record: Record) -> bool:
    if name in (record.sidecar.get(FILLED_IN) or ()):
        return True
    if name == "created_at":
        return bool(record.sidecar.get(IMPORT_TIME))
    if name.startswith("caption."):  # "" is left empty on purpose
        return here is _MISSING
    return here is _MISSING or _is_empty(here)


def _is_empty(value: Any) -> bool:
    return value in (None, "", [], {}) or (isinstance(value, str) and not value.strip())


def _says(here: Any, value: Any) -> bool:
    """Whether the coin says the same, or more."""
    if isinstance(here, str) and isinstance(value, str):
        return here.strip() == value.strip()
    if isinstance(here, list) and isinstance(value, list):
        return all(one in here for one in value)
    return bool(here == value)


def _not_taken(record: Record, name: str, reason: str) -> NotTaken:
    verb = "import-captions takes it" if name in _TEXTS else "change it in the coin's JSON file"
    return NotTaken(record.address, name, f"{reason}; {verb}")
