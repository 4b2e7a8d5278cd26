"""A record's sidecar after each verb that edits it, and after an import that completes it.

Raises InvalidRecord for an edit that is not allowed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from store.captions.caption_text import HOLDS, Replacement
from store.errors import InvalidRecord
from store.importing.metadata import FILLED_IN, GIVEN_DATE, IMPORT_TIME
from store.outcome import NotTaken
from store.records import CAPTION_FACETS, COMMENTS, MAX_FACET, ORIGINAL, PICTURE_TEXT, UNFIT, Facet, Record
from store.tags.taxonomy import Taxonomy

Written = Callable[[Record], dict[str, Any]]
MAX_COMMENT = 2_000  # characters
_LOOK_AGAIN = "it was changed since you looked at it; look again"


def with_caption(
    caption: Mapping[Facet, str | None],
    *,
    tags: Sequence[str] | None,
    revision: int | None,
    taxonomy: Callable[[], Taxonomy],
) -> Written:
    """Set these facets (None: not written yet) and tags, if the record is still at `revision`."""

    def written(record: Record) -> dict[str, Any]:
        if revision is not None and record.revision != revision:
            raise InvalidRecord("another user changed it in the meantime; compare both and save again")
        _check_facets(caption)
        texts = {**(record.sidecar.get("caption") or {}), **caption}
        texts = {facet: text for facet, text in texts.items() if text is not None}
        return {**_tagged(record, record.tags if tags is None else tags, taxonomy), "caption": texts}

    return written


def with_replacements(replacements: Iterable[Replacement]) -> tuple[list[str], Written]:
    """The addresses concerned, and an edit that puts the new texts in place of the previewed ones."""
    texts: dict[str, list[Replacement]] = {}
    for each in replacements:
        texts.setdefault(each.address, []).append(each)

    def written(record: Record) -> dict[str, Any]:
        caption = dict(record.sidecar.get("caption") or {})
        for each in texts[record.address]:
            if record.revision != each.revision or caption.get(each.facet) != each.before:
                raise InvalidRecord(_LOOK_AGAIN)
            caption[each.facet] = each.after.strip()
        return {**record.sidecar, "caption": caption}

    return list(texts), written


def with_imported(captions: Mapping[str, Mapping[str, Any]], *, taxonomy: Callable[[], Taxonomy]) -> Written:
    """Set imported captions and tags, by address (`tasks/import_captions.py`)."""

    def written(record: Record) -> dict[str, Any]:
        each = captions[record.address]
        if record.revision != each["revision"]:
            raise InvalidRecord(_LOOK_AGAIN)
        _check_facets(each["caption"])
        tagged = _tagged(record, record.tags if each["tags"] is None else each["tags"], taxonomy)
        tagged = completed(tagged, each.get("others") or {})
        if not each["caption"]:
            return tagged
        return {**tagged, "caption": {**(record.sidecar.get("caption") or {}), **each["caption"]}}

    return written


def with_tags(
    *, add: Sequence[str], remove: Sequence[str], names: Mapping[str, str], taxonomy: Callable[[], Taxonomy]
) -> Written:
    """Rename, add and remove tags; categories follow. A tag that is renamed to nothing goes."""

    def written(record: Record) -> dict[str, Any]:
        _check_tags([*_listed(add), *_listed(remove), *names])
        tags = [name for tag in record.tags if (name := names.get(tag, tag))]
        return _tagged(record, [tag for tag in [*tags, *add] if tag not in remove], taxonomy)

    return written


def tag_verb(names: Mapping[str, str]) -> str:
    """The verb of a decision that renames these tags, or removes those that are renamed to nothing."""
    return "rename tag" if any(names.values()) else "remove tag" if names else "tag"


def with_picture_text(text: str | None) -> Written:
    """Correct the text in the picture; None: what a program reads counts again."""

    def written(record: Record) -> dict[str, Any]:
        if text is not None and len(text) > MAX_FACET:
            raise InvalidRecord(f"the text has {len(text):,} characters, at most {MAX_FACET:,} are allowed")
        others = {key: value for key, value in record.sidecar.items() if key != PICTURE_TEXT}
        return others if text is None else {**others, PICTURE_TEXT: text.strip()}

    return written


def with_comment(text: str, *, who: str, at: float) -> Written:
    """Add what a person says of the coin, at this moment (UNIX seconds), to the comments."""

    def written(record: Record) -> dict[str, Any]:
        said = text.strip()
        if not said or len(said) > MAX_COMMENT:
            raise InvalidRecord(f"a comment has 1 to {MAX_COMMENT:,} characters, this one {len(said):,}")
        there = record.sidecar.get(COMMENTS, [])
        if not isinstance(there, list):
            raise InvalidRecord(f"its file has something else under {COMMENTS!r}; rename that first")
        return {**record.sidecar, COMMENTS: [*there, {"who": who, "at": int(at), "text": said}]}

    return written


def with_flag(unfit: bool | None) -> Written:
    """Say whether a coin is unfit for the screen; None: what program and word list say counts."""

    def written(record: Record) -> dict[str, Any]:
        others = {key: value for key, value in record.sidecar.items() if key != UNFIT}
        return others if unfit is None else {**others, UNFIT: unfit}

    return written


def _tagged(record: Record, tags: Sequence[str], taxonomy: Callable[[], Taxonomy]) -> dict[str, Any]:
    names = list(dict.fromkeys(tag.strip() for tag in _listed(tags)))
    return {**record.sidecar, "tags": names, "tags_categories": taxonomy().categories(names)}


def _check_facets(caption: Mapping[Any, Any]) -> None:
    """Raises InvalidRecord if one of these is no facet of a caption, such as a misspelt one."""
    if unknown := [str(name) for name in caption if name not in CAPTION_FACETS]:
        raise InvalidRecord(
            f"{', '.join(unknown)} is no facet of a caption; these are: {', '.join(CAPTION_FACETS)}"
        )


def _check_tags(tags: Iterable[str]) -> None:
    if any(not tag.strip() for tag in tags):
        raise InvalidRecord("a tag is empty")


def _listed(tags: Sequence[str]) -> Sequence[str]:
    if isinstance(tags, str):  # whose letters would count as tags
        raise InvalidRecord(f"tags must be a list of texts, not the text {tags!r}")
    return tags


_TEXTS = ("tags", *(f"caption.{facet}" for facet in CAPTION_FACETS))  # what import-captions takes
_OWN = {
    *("token_address", "tags_categories", "caption", "tier"),
    *(HOLDS, FILLED_IN, IMPORT_TIME, GIVEN_DATE, ORIGINAL),
}
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
