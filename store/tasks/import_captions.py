"""Import captions: preview the changes, then write them in the background as one decision."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from store.errors import InvalidRecord
from store.jobs import Item, Job, JobContext, JobKind, Result, results_of
from store.outcome import Refusal
from store.records import Facet, Record, validate

if TYPE_CHECKING:
    from store.importing.captions import ImportedCaption  # with Pillow behind it, which a list does without
    from store.library import Library
    from store.reading.reader import Reader

_BATCH = 64  # records of one operation: library records are embedded again


@dataclass(frozen=True, slots=True)
class CaptionChange:
    """What would be written to one record; only differences."""

    record: Record
    caption: dict[Facet, str]
    tags: list[str] | None


@dataclass(slots=True)
class Preview:
    """What an import would change."""

    changes: list[CaptionChange] = field(default_factory=list)
    same: int = 0  # records that say it already
    refused: list[Refusal] = field(default_factory=list)


def preview(reader: "Reader", arrived: "Iterable[ImportedCaption | Refusal]") -> Preview:
    """Compare imported captions with the library; of two for one record the later counts."""
    shown = Preview()
    captions: dict[str, ImportedCaption] = {}
    for one in arrived:
        if isinstance(one, Refusal):
            shown.refused.append(one)
        elif one.address in captions:
            before = captions[one.address]
            tags = before.tags if one.tags is None else one.tags
            captions[one.address] = replace(one, caption=before.caption | one.caption, tags=tags)
        else:
            captions[one.address] = one
    for one in captions.values():
        try:
            _compare(reader, one, shown)
        except (InvalidRecord, LookupError) as error:
            shown.refused.append(Refusal(one.item, str(error)))
    return shown


def start(library: "Library", changes: Sequence[CaptionChange], *, actor: str = "") -> Job:
    """Write the changes in the background; undo reverses all of them.

    Raises InvalidRecord if there are none.
    """
    if not changes:
        raise InvalidRecord("nothing would change")
    return library.jobs.start(
        "captions",
        [
            (
                change.record.address,
                {"caption": change.caption, "tags": change.tags, "revision": change.record.revision},
            )
            for change in changes
        ],
        name=f"Import captions of {len(changes):,} coins"
        if len(changes) > 1
        else f"Import the caption of {changes[0].record.name}",
        actor=actor,
    )


def _compare(reader: "Reader", one: "ImportedCaption", shown: Preview) -> None:
    record = reader.get(reader.spelling_of(one.address) or one.address)
    if record.tier == "trash":
        raise InvalidRecord(f"{record.name} is rejected; restore it first")
    caption = {
        facet: text
        for facet, text in one.caption.items()
        # As it is written: space around it alone is no other text, "" is other than not written.
        if facet not in record.caption or record.caption[facet].strip() != text.strip()
    }
    tags = None if one.tags is None or one.tags == record.tags else one.tags
    if not caption and tags is None:
        shown.same += 1
        return
    sidecar: dict[str, Any] = {**record.sidecar, "tags": record.tags if tags is None else tags}
    sidecar["caption"] = {**(record.sidecar.get("caption") or {}), **caption}
    validate(sidecar, tier=record.tier)
    shown.changes.append(CaptionChange(record, caption, tags))


def _import(context: "JobContext[Library]") -> None:
    library = context.library

    def do(items: Sequence[Item]) -> list[Result]:
        outcome = library.import_captions(
            {item.key: item.payload for item in items}, decision=context.job.decision, actor=context.job.actor
        )
        return results_of(items, outcome)

    context.progress.what = "captions"
    context.each(do, batch=_BATCH)


KIND = JobKind("captions", _import)
