"""An export in the background: a zip among the library's exports, begun anew after the end of the program."""

import re
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from store.captions.joined import JOINED
from store.errors import BadSource, InvalidRecord, ReadOnly, UnknownRecord
from store.exporting.formats import FORMATS, check, export
from store.exporting.places import HALF
from store.jobs import Done, Job, Kind, Refused, Shift
from store.layout import Layout
from store.records import Record

if TYPE_CHECKING:
    from store.library import Library
    from store.reading import Reader

KEPT = 5  # zips; an older one goes when a new one is done
AT_ONCE = 2_000  # coins that are put into a zip while somebody waits
_OURS = re.compile(rf"(?:{'|'.join(FORMATS)})-\d{{8}}-\d{{6}}-(\d+)\.zip")


def start(
    library: "Library",
    addresses: Sequence[str],
    *,
    format: str,  # noqa: A002  as the command line calls it
    texts: str = JOINED,
    who: str = "",
) -> Job:
    """Write these records to a zip in the background; where it will lie is told by `destination`.

    BadSource for a format that is not one of FORMATS; InvalidRecord where there is nothing to export.
    """
    check(format, texts)
    if not addresses:
        raise InvalidRecord("there is nothing to export: choose coins first")
    coins = "1 coin" if len(addresses) == 1 else f"{len(addresses):,} coins"
    return library.jobs.start(
        "export",
        addresses,
        name=f"Export {coins} as {format}",
        options={"format": format, "texts": texts, "at": time.strftime("%Y%m%d-%H%M%S")},
        who=who,
    )


def destination(layout: Layout, job: Job) -> Path:
    """Where this job's zip lies once it is done."""
    return layout.exports / f"{job.options['format']}-{job.options['at']}-{job.id}.zip"


def remove(library: "Library", job: Job) -> None:
    """Take this job's zip away; the coins in it stay as they are. ReadOnly for whoever may only look."""
    if not library.can_write:
        raise ReadOnly("whoever may only look at this library removes no exports")
    destination(library.layout, job).unlink(missing_ok=True)


def zipped(
    library: "Reader",
    addresses: Sequence[str],
    *,
    format: str,  # noqa: A002  as the command line calls it
    texts: str = JOINED,
) -> bytes:
    """A zip of a few records at once, of which nothing stays here, so that it is for everybody.

    What was removed meanwhile is left out. BadSource for more than AT_ONCE.
    """
    if len(addresses) > AT_ONCE:
        raise BadSource(f"at most {AT_ONCE:,} coins are put into a zip at once")
    with TemporaryDirectory() as folder:
        place = Path(folder) / "export.zip"
        export(
            _records(library, addresses, {}), library.picture, destination=place, format=format, texts=texts
        )
        return place.read_bytes()


def _export(shift: Shift) -> None:
    """Half a zip cannot be gone on with, so every run of the job writes all of it."""
    library: Library = shift.library
    job, place = shift.job, destination(shift.library.layout, shift.job)
    for left in library.layout.exports.glob(f"{HALF}*"):  # of a run that was killed
        shutil.rmtree(left, ignore_errors=True)
    place.unlink(missing_ok=True)
    items = library.jobs.items(job.id, limit=-1)
    reasons: dict[str, str] = {}
    shift.progress.what = "pictures and captions"
    exported = export(
        _records(library, [item.key for item in items], reasons),
        library.picture,
        destination=place,
        format=job.options["format"],
        texts=job.options["texts"],
        progress=shift.progress,
    )
    if shift.is_stopping:
        place.unlink(missing_ok=True)
        return
    reasons |= {refusal.item: refusal.reason for refusal in exported.refused}
    shift.settle([Refused(one, reasons[one.key]) if one.key in reasons else Done(one) for one in items])
    _tidy(library.layout)


def _tidy(layout: Layout) -> None:
    """Only the last zips stay, of those that still have the name they were given here."""
    ours = {int(name[1]): path for path in layout.exports.iterdir() if (name := _OURS.fullmatch(path.name))}
    for number in sorted(ours, reverse=True)[KEPT:]:
        ours[number].unlink(missing_ok=True)


def _records(library: "Reader", addresses: Sequence[str], reasons: dict[str, str]) -> Iterator[Record]:
    for address in addresses:
        try:
            yield library.get(address)
        except UnknownRecord as error:
            reasons[address] = str(error)


KIND = Kind("export", _export, queue="export")
