"""The job "export": a zip among the library's exports, written again from the start after a restart."""

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from store.captions.caption_text import JOINED
from store.disk.layout import Layout
from store.errors import BadSource, InvalidRecord, UnknownRecord
from store.exporting import token_list
from store.exporting.formats import FORMATS, check, export, remove_leftovers
from store.jobs import ItemDone, ItemRefused, Job, JobContext, JobKind
from store.records import Record

if TYPE_CHECKING:
    from store.library import Library
    from store.reading.reader import Reader

KEPT = 5  # zips; an older one goes when a new one is done
AT_ONCE = 2_000  # coins that are put into a zip while the user waits
_OURS = re.compile(rf"(?:{'|'.join(FORMATS)})-\d{{8}}-\d{{6}}-(\d+)\.zip")


def start(
    library: "Library",
    addresses: Sequence[str],
    *,
    format: str,
    texts: str = JOINED,
    actor: str = "",
    decision: str | None = None,
) -> Job:
    """Write these records to a zip in the background. Raises BadSource or InvalidRecord."""
    check(format, texts)
    if not addresses:
        raise InvalidRecord("there is nothing to export: choose coins first")
    coins = "1 coin" if len(addresses) == 1 else f"{len(addresses):,} coins"
    return library.jobs.start(
        "export",
        addresses,
        name=f"Export {coins} as {format}",
        options={"format": format, "texts": texts, "at": time.strftime("%Y%m%d-%H%M%S")},
        actor=actor,
        decision=decision,
    )


def destination(layout: Layout, job: Job) -> Path:
    """The path of this job's zip once it is done."""
    return layout.exports / f"{job.options['format']}-{job.options['at']}-{job.id}.zip"


def remove(library: "Library", job: Job) -> None:
    """Delete this job's zip; its coins stay. Raises ReadOnly for a viewer."""
    library.catalog.check_writable()
    destination(library.layout, job).unlink(missing_ok=True)


def zipped(library: "Reader", addresses: Sequence[str], *, format: str, texts: str = JOINED) -> bytes:
    """A zip of at most AT_ONCE records as bytes; stores nothing. Raises BadSource for more."""
    if len(addresses) > AT_ONCE:
        raise BadSource(f"at most {AT_ONCE:,} coins are put into a zip at once")
    with TemporaryDirectory() as folder:
        place = Path(folder) / "export.zip"
        export(
            _records(library, addresses, {}),
            library.picture,
            destination=place,
            format=format,
            texts=texts,
            vectors_of=library.stored_vectors,
            previous=earlier_list(library.layout) if format == "tokenlist" else None,
        )
        return place.read_bytes()


def _export(context: "JobContext[Library]") -> None:
    """Write the whole zip in every run, because half a zip cannot be continued."""
    library = context.library
    job, place = context.job, destination(context.library.layout, context.job)
    remove_leftovers(library.layout.exports)
    place.unlink(missing_ok=True)
    items = library.jobs.items(job.id, limit=-1)
    reasons: dict[str, str] = {}
    context.progress.what = "pictures and captions"
    exported = export(
        _records(library, [item.key for item in items], reasons),
        library.picture,
        destination=place,
        format=job.options["format"],
        texts=job.options["texts"],
        vectors_of=library.stored_vectors,
        previous=earlier_list(library.layout) if job.options["format"] == "tokenlist" else None,
        progress=context.progress,
    )
    if context.is_stopping:
        place.unlink(missing_ok=True)
        return
    reasons |= {refusal.item: refusal.reason for refusal in exported.refused}
    context.record(
        [ItemRefused(one, reasons[one.key]) if one.key in reasons else ItemDone(one) for one in items]
    )
    _tidy(library.layout)


def earlier_list(layout: Layout) -> dict[str, Any] | None:
    """The token list of the newest zip that is kept; None if there is none."""
    for path in sorted(layout.exports.glob("tokenlist-*.zip"), key=lambda path: path.name, reverse=True):
        with suppress(OSError, KeyError, ValueError, BadZipFile), ZipFile(path) as archive:
            return dict(json.loads(archive.read(token_list.FILE)))
    return None


def _tidy(layout: Layout) -> None:
    """Delete all but the last zips, if they still have the name that they were given here."""
    ours = {int(name[1]): path for path in layout.exports.iterdir() if (name := _OURS.fullmatch(path.name))}
    for number in sorted(ours, reverse=True)[KEPT:]:
        ours[number].unlink(missing_ok=True)


def _records(library: "Reader", addresses: Sequence[str], reasons: dict[str, str]) -> Iterator[Record]:
    for address in addresses:
        try:
            yield library.get(address)
        except UnknownRecord as error:
            reasons[address] = str(error)


KIND = JobKind("export", _export, queue="export")
