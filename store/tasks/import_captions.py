"""Import captions: preview the changes, then write them in the background as one decision."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from store.catalog.filters import Filter
from store.errors import BadPicture, BadSource, InvalidRecord
from store.jobs import Item, Job, JobContext, JobKind, Result, results_of
from store.outcome import NotTaken, Refusal, not_taken_notes
from store.records import Facet, Record, made_up_address, validate
from store.writing.edits import compared, completed

if TYPE_CHECKING:
    from store.importing.captions import ImportedCaption  # with Pillow behind it, which a list does without
    from store.library import Library
    from store.reading.reader import Reader

_NAMED = 3  # coins that are named where several are meant
_BATCH = 64  # records of one operation: library records are embedded again


@dataclass(frozen=True, slots=True)
class CaptionChange:
    """What would be written to one record: captions and tags that differ, other fields that it lacks."""

    record: Record
    caption: dict[Facet, str]
    tags: list[str] | None
    others: dict[str, Any] = field(default_factory=dict)  # fields that the record lacks


@dataclass(slots=True)
class Preview:
    """The changes that an import would make."""

    changes: list[CaptionChange] = field(default_factory=list)
    same: int = 0  # records that say it already
    refused: list[Refusal] = field(default_factory=list)
    not_taken: list[NotTaken] = field(default_factory=list)  # its fields other than captions and tags

    @property
    def notes(self) -> list[str]:
        """What is not taken, a sentence for each field and reason."""
        return not_taken_notes(self.not_taken)


def preview(reader: "Reader", arrived: "Iterable[ImportedCaption | Refusal]") -> Preview:
    """Compare imported captions with the library; of two for one record the later counts."""
    shown = Preview()
    captions: dict[str, ImportedCaption] = {}
    for one in arrived:
        if isinstance(one, Refusal):
            shown.refused.append(one)
            continue
        try:
            address = _whose(reader, one)
        except (BadSource, BadPicture, InvalidRecord, LookupError) as error:
            shown.refused.append(Refusal(one.item, str(error)))
            continue
        if address in captions:
            before = captions[address]
            one = replace(
                one,
                caption=before.caption | one.caption,
                tags=before.tags if one.tags is None else one.tags,
                others=before.others | one.others,
            )
        captions[address] = one
    for address, one in captions.items():
        try:
            _compare(reader, reader.get(address), one, shown)
        except (InvalidRecord, LookupError) as error:
            shown.refused.append(Refusal(one.item, str(error)))
    return shown


def start(
    library: "Library", changes: Sequence[CaptionChange], *, actor: str = "", decision: str | None = None
) -> Job:
    """Write the changes in the background; undo reverses all. Raises InvalidRecord for none."""
    if not changes:
        raise InvalidRecord("nothing would change")
    return library.jobs.start(
        "captions",
        [
            (
                change.record.address,
                {
                    "caption": change.caption,
                    "tags": change.tags,
                    "others": change.others,
                    "revision": change.record.revision,
                },
            )
            for change in changes
        ],
        name=f"Import captions of {len(changes):,} coins"
        if len(changes) > 1
        else f"Import the caption of {changes[0].record.name}",
        actor=actor,
        decision=decision,
    )


def _whose(reader: "Reader", one: "ImportedCaption") -> str:
    """The address of the coin: the one that is named, else that of the coin with its picture, or its name."""
    if one.address and ((known := reader.spelling_of(one.address)) or not (one.picture or one.name)):
        return known or one.address
    content = one.picture() if one.picture else b""
    if content and (known := reader.spelling_of(made_up_address(content))):
        return known
    alike: list[str] = []
    if content:
        from store.disk.images import stored_hashes  # Pillow comes along

        alike = [address for known in stored_hashes(content) for address in reader.with_picture(known)]
    if not alike and one.name and not one.address:
        found = reader.exact_matches([one.name], Filter(), limit=_NAMED + 1)
        alike = [record.address for record in found if record.name.casefold() == one.name.casefold()]
    if len(alike) > 1:
        which = "its picture" if content else f"the name “{one.name}”"
        raise BadSource(f"several coins have {which} ({', '.join(alike[:_NAMED])}); name one by its address")
    if not alike:
        raise BadSource("no coin has the address, the picture or the name that it says; import it first")
    return alike[0]


def _compare(reader: "Reader", record: Record, one: "ImportedCaption", shown: Preview) -> None:
    if record.tier == "trash":
        raise InvalidRecord(f"{record.name} is rejected; restore it first")
    completion = compared(record, one.others, earlier=lambda: reader.sidecars_of(record.address))
    shown.not_taken += completion.not_taken
    others = completion.fields
    caption = {
        facet: text
        for facet, text in one.caption.items()
        # As it is written: space around it alone is no other text, "" is other than not written.
        if facet not in record.caption or record.caption[facet].strip() != text.strip()
    }
    tags = None if one.tags is None or one.tags == record.tags else one.tags
    if not caption and tags is None and not others:
        shown.same += 1
        return
    sidecar = completed(record.sidecar, others) | {"tags": record.tags if tags is None else tags}
    sidecar["caption"] = {**(record.sidecar.get("caption") or {}), **caption}
    validate(sidecar, tier=record.tier)
    shown.changes.append(CaptionChange(record, caption, tags, others))


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
