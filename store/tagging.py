"""Tags of many records: added, removed, renamed, merged; and categories that follow the taxonomy."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING
from uuid import uuid4

from store.errors import InvalidRecord
from store.filter import Filter
from store.jobs import Item, Kind, Result, Shift, told
from store.outcome import Outcome
from store.progress import Progress
from store.records import MAX_TAG
from store.taxonomy import Taxonomy

if TYPE_CHECKING:
    from store.library import Library
    from store.reading import Reader

_BATCH = 64  # records of one operation
_ALIKE = 0.6  # how near by name a tag has to be to be meant, of 1


def rename(
    library: "Library", names: Mapping[str, str], *, progress: Progress | None = None, who: str = ""
) -> Outcome:
    """Give tags another name on every record, also in the trash; a name that is there already is merged with.

    One decision; the taxonomy follows. InvalidRecord where a new name is no tag.
    """
    names, decision = checked_names(names), uuid4().hex
    library.edit_taxonomy(
        entries_after(library.taxonomy, names), verb="rename tag", decision=decision, who=who
    )
    return library.edit_tags(
        carrying(library, names), rename=names, progress=progress, decision=decision, who=who
    )


def change_taxonomy(
    library: "Library", entries: Mapping[str, str], *, progress: Progress | None = None, who: str = ""
) -> Outcome:
    """Make these the known tags and their categories; the records' categories follow, as one decision."""
    decision = uuid4().hex
    library.edit_taxonomy(entries, decision=decision, who=who)
    affected = straying(library, library.taxonomy)
    return library.edit_tags(affected, progress=progress, decision=decision, who=who)


def in_background(shift: Shift) -> None:
    """Options: `add`, `remove`, `rename` as of `Library.edit_tags`; `taxonomy`: its new entries.

    Its items are the records; undo takes back all that was done by then.
    """
    library: Library = shift.library
    options, job = shift.job.options, shift.job
    edits = {name: options[name] for name in ("add", "remove", "rename") if name in options}
    if "taxonomy" in options:
        verb = "rename tag" if "rename" in options else "taxonomy"
        library.edit_taxonomy(options["taxonomy"], verb=verb, decision=job.decision, who=job.who)

    def do(items: Sequence[Item]) -> list[Result]:
        keys = [item.key for item in items]
        return told(items, library.edit_tags(keys, **edits, decision=job.decision, who=job.who))

    shift.progress.what = "tags"
    shift.each(do, batch=_BATCH)


KIND = Kind("tags", in_background)


def checked_names(names: Mapping[str, str]) -> dict[str, str]:
    """Old names to new ones, without spaces around and without those that stay; InvalidRecord."""
    found = {old: " ".join(new.split()) for old, new in names.items()}
    for old, new in found.items():
        if not new or "," in new or len(new) > MAX_TAG:
            raise InvalidRecord(
                f"{old!r} cannot be called {new!r}: a tag has 1 to {MAX_TAG} signs and no comma"
            )
    return {old: new for old, new in found.items() if old != new}


def entries_after(taxonomy: Taxonomy, names: Mapping[str, str]) -> dict[str, str]:
    """The taxonomy's entries once these tags have other names; a name that has a category keeps it."""
    entries = taxonomy.entries
    for old, new in names.items():
        category = entries.pop(old.strip().casefold(), None)
        if category is not None:
            entries.setdefault(new.casefold(), category)
    return entries


def carrying(reader: "Reader", tags: Iterable[str]) -> list[str]:
    """The records of any tier, trash included, that have one of these tags."""
    found: dict[str, None] = {}
    for tag in tags:
        found |= dict.fromkeys(reader.addresses(Filter(tags=(tag,))))
    return list(found)


def straying(reader: "Reader", taxonomy: Taxonomy) -> list[str]:
    """The records whose categories are not those that this taxonomy gives to their tags."""
    with reader.catalog.reading() as db:
        rows = db.execute(
            "SELECT r.address, l.labels FROM (SELECT record, group_concat(kind || label, char(31)) AS labels "
            "FROM labels GROUP BY record) l JOIN records r ON r.id = l.record ORDER BY l.record"
        ).fetchall()
    strays: dict[str, bool] = {}  # of so many records most have the same labels as others
    for labels in {row["labels"] for row in rows}:
        each = labels.split("\x1f")
        tags, categories = (
            {label.removeprefix(kind) for label in each if label.startswith(kind)}
            for kind in ("tag", "category")
        )
        strays[labels] = categories != set(taxonomy.categories(tags))
    return [row["address"] for row in rows if strays[row["labels"]]]


def known(reader: "Reader") -> list[str]:
    """Every tag one may want: the most used first, then what else the taxonomy knows."""
    return list(dict.fromkeys([*reader.tag_counts(Filter()), *reader.taxonomy.tags]))


def alike(tag: str, among: Iterable[str]) -> list[str]:
    """The tags nearest to this one by name, the nearest first; itself, in whatever case, is none of them."""
    by_name = {other.casefold(): other for other in among}
    by_name.pop(tag.casefold(), None)
    return [by_name[name] for name in get_close_matches(tag.casefold(), by_name, n=3, cutoff=_ALIKE)]
