"""A record's sidecar after each verb that edits it. Raises InvalidRecord for an edit that is not allowed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from store.captions.caption_text import Replacement
from store.errors import InvalidRecord
from store.records import CAPTION_FACETS, MAX_FACET, PICTURE_TEXT, UNFIT, Facet, Record
from store.tags.taxonomy import Taxonomy
from store.writing.completion import completed

Written = Callable[[Record], dict[str, Any]]
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
    """Rename, add and remove tags; categories follow."""

    def written(record: Record) -> dict[str, Any]:
        _check_tags([*_listed(add), *_listed(remove), *names])
        tags = [names.get(tag, tag) for tag in record.tags]
        return _tagged(record, [tag for tag in [*tags, *add] if tag not in remove], taxonomy)

    return written


def with_picture_text(text: str | None) -> Written:
    """Correct the text in the picture; None: what a program reads counts again."""

    def written(record: Record) -> dict[str, Any]:
        if text is not None and len(text) > MAX_FACET:
            raise InvalidRecord(f"the text has {len(text):,} characters, at most {MAX_FACET:,} are allowed")
        others = {key: value for key, value in record.sidecar.items() if key != PICTURE_TEXT}
        return others if text is None else {**others, PICTURE_TEXT: text.strip()}

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
