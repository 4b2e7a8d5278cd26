"""The job "tags": add, remove, rename and merge tags of many records; categories follow the taxonomy."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING
from uuid import uuid4

from store.catalog.filters import Filter
from store.errors import InvalidRecord
from store.jobs import Item, JobContext, JobKind, Result, results_of
from store.outcome import Outcome
from store.progress import Progress
from store.records import MAX_TAG
from store.tags.taxonomy import Taxonomy
from store.writing.edits import tag_verb
from store.writing.transitions import EMBEDDED

if TYPE_CHECKING:
    from store.library import Library
    from store.reading.reader import Reader

_ALIKE = 0.6  # how near by name a tag has to be to be meant, of 1


def rename(
    library: "Library", names: Mapping[str, str], *, progress: Progress | None = None, actor: str = ""
) -> Outcome:
    """Rename tags on every record, in the trash as well; a name that exists is merged with.

    One decision; the taxonomy follows. Raises InvalidRecord if a new name is not a valid tag.
    """
    names, decision = checked_names(names), uuid4().hex
    library.edit_taxonomy(
        entries_after(library.taxonomy, names), verb="rename tag", decision=decision, actor=actor
    )
    return library.edit_tags(
        carrying(library, names), rename=names, progress=progress, decision=decision, actor=actor
    )


def change_taxonomy(
    library: "Library", entries: Mapping[str, str], *, progress: Progress | None = None, actor: str = ""
) -> Outcome:
    """Replace the known tags and their categories; the records' categories follow, as one decision."""
    decision = uuid4().hex
    library.edit_taxonomy(entries, decision=decision, actor=actor)
    affected = straying(library, library.taxonomy)
    return library.edit_tags(affected, progress=progress, decision=decision, actor=actor)


def in_background(context: "JobContext[Library]") -> None:
    """Options: `add`, `remove`, `rename` as in `Library.edit_tags`, and the new `taxonomy`."""
    library = context.library
    options, job = context.job.options, context.job
    edits = {name: options[name] for name in ("add", "remove", "rename") if name in options}
    if "taxonomy" in options:
        verb = tag_verb(options["rename"]) if "rename" in options else "taxonomy"
        library.edit_taxonomy(options["taxonomy"], verb=verb, decision=job.decision, actor=job.actor)

    def do(items: Sequence[Item]) -> list[Result]:
        keys = [item.key for item in items]
        return results_of(items, library.edit_tags(keys, **edits, decision=job.decision, actor=job.actor))

    context.progress.what = "tags"
    context.each(do, batch=EMBEDDED)


KIND = JobKind("tags", in_background)


def checked_names(names: Mapping[str, str]) -> dict[str, str]:
    """Old names to new ones, stripped, without unchanged ones. Raises InvalidRecord for a bad one."""
    found = {old: " ".join(new.split()) for old, new in names.items()}
    for old, new in found.items():
        if not new or "," in new or len(new) > MAX_TAG:
            raise InvalidRecord(
                f"{old!r} cannot be called {new!r}: a tag has 1 to {MAX_TAG} characters and no comma"
            )
    return {old: new for old, new in found.items() if old != new}


def entries_after(taxonomy: Taxonomy, names: Mapping[str, str]) -> dict[str, str]:
    """The taxonomy's entries after the renaming; a name that has a category keeps it, "" has none."""
    entries = taxonomy.entries
    for old, new in names.items():
        category = entries.pop(old.strip().casefold(), None)
        if category is not None and new:
            entries.setdefault(new.casefold(), category)
    return entries


def carrying(reader: "Reader", tags: Iterable[str]) -> list[str]:
    """Records of any tier, trash included, that have one of these tags."""
    found: dict[str, None] = {}
    for tag in tags:
        found |= dict.fromkeys(reader.addresses(Filter(tags=(tag,))))
    return list(found)


def straying(reader: "Reader", taxonomy: Taxonomy) -> list[str]:
    """Records whose categories differ from those that this taxonomy gives to their tags."""
    rows = reader.catalog.rows(
        "SELECT r.address, l.labels FROM (SELECT record, group_concat(kind || label, char(31)) AS labels "
        "FROM labels GROUP BY record) l JOIN records r ON r.id = l.record ORDER BY l.record"
    )
    strays: dict[str, bool] = {}  # of so many records most have the same labels as others
    for labels in {row["labels"] for row in rows}:
        each = labels.split("\x1f")
        tags, categories = (
            {label.removeprefix(kind) for label in each if label.startswith(kind)}
            for kind in ("tag", "category")
        )
        strays[labels] = categories != set(taxonomy.categories(tags))
    return [row["address"] for row in rows if strays[row["labels"]]]


def removed_in_part(reader: "Reader", tags: Sequence[str]) -> list[str]:
    """Those of these tags without a category of which a record has one still: an edit was interrupted."""
    if not tags:
        return []
    strays, names = set(straying(reader, reader.taxonomy)), known(reader)
    return [
        tag
        for tag in tags
        if not strays.isdisjoint(carrying(reader, [one for one in names if one.casefold() == tag.casefold()]))
    ]


def known(reader: "Reader") -> list[str]:
    """All tags: the most used first, then the rest of the taxonomy."""
    return list(dict.fromkeys([*reader.tag_counts(Filter()), *reader.taxonomy.tags]))


def alike(tag: str, among: Iterable[str]) -> list[str]:
    """The tags with the most similar names, nearest first, without the tag itself in any case."""
    by_name = {other.casefold(): other for other in among}
    by_name.pop(tag.casefold(), None)
    return [by_name[name] for name in get_close_matches(tag.casefold(), by_name, n=3, cutoff=_ALIKE)]
