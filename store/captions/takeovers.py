"""Captions from outside: what would change is shown first, then written in the background as one decision."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from store.errors import InvalidRecord
from store.importing.candidate import Refusal
from store.jobs import Item, Job, Kind, Result, Shift, told
from store.records import Facet, Record, validate

if TYPE_CHECKING:
    from store.importing.captions import Arrived  # with Pillow behind it, which a list does without
    from store.library import Library
    from store.reading import Reader

_BATCH = 64  # records of one operation: what is in the library is embedded anew


@dataclass(frozen=True, slots=True)
class Takeover:
    """What would be written into one record; only what differs."""

    record: Record
    caption: dict[Facet, str]
    tags: list[str] | None


@dataclass(slots=True)
class Preview:
    """What taking these in would change, before anything is."""

    changes: list[Takeover] = field(default_factory=list)
    same: int = 0  # records that say it already
    refused: list[Refusal] = field(default_factory=list)


def preview(reader: "Reader", arrived: "Iterable[Arrived | Refusal]") -> Preview:
    """Compare what arrived with what the library says; of two for one record the later counts."""
    shown = Preview()
    wanted: dict[str, Arrived] = {}
    for one in arrived:
        if isinstance(one, Refusal):
            shown.refused.append(one)
        elif one.address in wanted:
            before = wanted[one.address]
            tags = before.tags if one.tags is None else one.tags
            wanted[one.address] = replace(one, caption=before.caption | one.caption, tags=tags)
        else:
            wanted[one.address] = one
    for one in wanted.values():
        try:
            _compare(reader, one, shown)
        except (InvalidRecord, LookupError) as error:
            shown.refused.append(Refusal(one.item, str(error)))
    return shown


def start(library: "Library", changes: Sequence[Takeover], *, who: str = "") -> Job:
    """Write them in the background; undo takes all of it back."""
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
        name=f"Take in captions of {len(changes):,} coins" if len(changes) > 1 else
        f"Take in the caption of {changes[0].record.name}",
        who=who,
    )  # fmt: skip


def _compare(reader: "Reader", one: "Arrived", shown: Preview) -> None:
    record = reader.get(reader.spelling_of(one.address) or one.address)
    if record.tier == "trash":
        raise InvalidRecord(f"{record.name} is in the trash; restore it first")
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
    shown.changes.append(Takeover(record, caption, tags))


def _take_in(shift: Shift) -> None:
    library: Library = shift.library

    def do(items: Sequence[Item]) -> list[Result]:
        outcome = library.take_in_captions(
            {item.key: item.payload for item in items}, decision=shift.job.decision, who=shift.job.who
        )
        return told(items, outcome)

    shift.progress.what = "captions"
    shift.each(do, batch=_BATCH)


KIND = Kind("captions", _take_in)
