"""Tags in one table, with their coins and categories: renamed, merged, removed and put into categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import streamlit as st

from components.shell import format
from components.shell.page import forms, job_bar, places, tables
from components.shell.page.forms import Button, Field
from store import Filter, Library, MemedexError, Taxonomy
from store.catalog import filter_syntax
from store.records import MAX_TAG
from store.tasks import tags

_NAMED = 6  # changes that are named; of more, how many
_OTHER = "other"  # the category of tags that the taxonomy does not have

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Changes:
    """What was done in the table: old names to new ones, "" if deleted, and the taxonomy afterwards."""

    names: Mapping[str, str]
    entries: Mapping[str, str]


def table(library: Library) -> None:
    """Every tag with its coins and category, to be edited by those who may change the library."""
    try:
        taxonomy = library.taxonomy
    except MemedexError as error:
        st.error("The taxonomy cannot be read. Mend the file, or put a copy back:", icon=":material/error:")
        st.text(str(error))
        return
    counts = library.tag_counts(Filter())
    rows = rows_of(counts, taxonomy)
    columns = {
        "tag": st.column_config.TextColumn("Tag", required=True, max_chars=MAX_TAG),
        "coins": st.column_config.LinkColumn("Coins", display_text=r"#([\d,]+)$", disabled=True),
        "category": st.column_config.TextColumn("Category", required=True, max_chars=64),
    }
    if not library.can_write:
        tables.show(rows, height=600, alt="Tags, the coins of each, and its category", columns=columns)
        return
    st.caption(
        "Type another name to rename a tag, or the name of another tag to merge both. Tick rows and press "
        "*Delete* to remove their tags from all coins. A new row gives a tag a category before coins have it."
    )
    version = sha256(repr(rows).encode()).hexdigest()[:12]  # saved or undone, the table is reset
    key = f"memedex.tags.{version}"
    st.data_editor(
        rows, key=key, num_rows="dynamic", hide_index=True, height=600, column_config=columns, width=760
    )
    _save(library, taxonomy, rows, st.session_state.get(key) or {}, counts)
    _behind(library, taxonomy)


def rows_of(counts: Mapping[str, int], taxonomy: Taxonomy) -> list[Row]:
    """The tags that coins have, the most frequent first, then the rest of the taxonomy."""
    used = {tag.casefold() for tag in counts}
    rest = [tag for tag in taxonomy.tags if tag.casefold() not in used]
    return [
        {"tag": tag, "coins": _link(tag, counts.get(tag, 0)), "category": taxonomy.category(tag)}
        for tag in (*counts, *rest)
    ]


def _link(tag: str, count: int) -> str:
    """The address of a tag's coins; the number that the table shows stands at its end."""
    line = filter_syntax.written(Filter(tags=(tag,)))
    return f"{places.address(places.all_coins(line))}#{count:,}" if count else ""


def changes(rows: Sequence[Row], state: Mapping[str, Any], taxonomy: Taxonomy) -> Changes:
    """What the editor's state changes. Raises InvalidRecord if a name cannot be that of a tag."""
    edited = {rows[int(number)]["tag"]: new for number, new in (state.get("edited_rows") or {}).items()}
    names = tags.checked_names({tag: new["tag"] or "" for tag, new in edited.items() if "tag" in new})
    names |= {rows[number]["tag"]: "" for number in state.get("deleted_rows") or ()}
    entries = tags.entries_after(taxonomy, names)
    given = {names.get(tag, tag): new["category"] for tag, new in edited.items() if "category" in new}
    added = state.get("added_rows") or ()
    given |= {new["tag"]: new["category"] for new in added if new.get("tag") and new.get("category")}
    for tag, category in given.items():
        name = " ".join(tag.split()).casefold()
        entries[name] = (category or "").strip()
        if entries[name] in ("", _OTHER):
            del entries[name]
    return Changes(names, entries)


def _save(
    library: Library,
    taxonomy: Taxonomy,
    rows: Sequence[Row],
    state: Mapping[str, Any],
    counts: Mapping[str, int],
) -> None:
    """What would change, on how many coins, and the button that does it."""
    found, fault = Changes({}, taxonomy.entries), ""
    affected: list[str] = []
    try:
        found = changes(rows, state, taxonomy)
        after = Taxonomy.parsed(found.entries, path=library.layout.own_taxonomy)
    except MemedexError as error:
        fault = str(error)
    is_changed = not fault and bool(found.names or found.entries != taxonomy.entries)
    if is_changed:
        affected = [*dict.fromkeys([*tags.carrying(library, found.names), *tags.straying(library, after)])]
        coins = format.counted(len(affected), "coin")
        summary = (
            f"{difference(taxonomy.entries, found, counts)} · {coins} in all tiers; one undo reverses it"
        )
        st.caption(summary)
    elif fault:
        st.caption(f":orange[{format.plain(fault, limit=200)}]")
    label = f"Save for {format.counted(len(affected), 'coin')}" if affected else "Save"
    forms.show(
        "save-tags", library, _start(library, found, affected),
        button=Button(label, icon="save", kind="primary", disabled=not is_changed),
    )  # fmt: skip


def difference(before: Mapping[str, str], found: Changes, counts: Mapping[str, int]) -> str:
    """The changes as Markdown: names, then categories; of many the first."""
    said, new_names = [], [*found.names.values()]
    for old, new in found.names.items():
        if not new:
            said.append(f"{format.plain(old)} removed")
            continue
        merged = " (merged)" if new in counts or new_names.count(new) > 1 else ""
        said.append(f"{format.plain(old)} → {format.plain(new)}{merged}")
    renamed = {old.casefold() for old in found.names} | {new.casefold() for new in found.names.values()}
    for tag in dict.fromkeys([*found.entries, *before]):
        was, now = before.get(tag, _OTHER), found.entries.get(tag, _OTHER)
        if was != now and not (tag in renamed and _OTHER in (was, now)):
            said.append(f"{format.plain(tag)}: {format.plain(now)}")
    shown = ", ".join(said[:_NAMED])
    return shown if len(said) <= _NAMED else f"{shown} and {len(said) - _NAMED:,} more"


def _behind(library: Library, taxonomy: Taxonomy) -> None:
    """Coins whose categories are outdated, after an edit by hand or one that was stopped."""
    behind = tags.straying(library, taxonomy)
    if behind and not library.jobs.keys_under_way("tags"):
        st.warning(
            f"{format.counted(len(behind), 'coin')} have outdated categories.", icon=":material/sync_problem:"
        )
        forms.show(
            "follow-taxonomy", library, _start(library, Changes({}, taxonomy.entries), behind),
            button=Button("Update categories"),
        )  # fmt: skip


def _start(library: Library, found: Changes, affected: list[str]) -> forms.Send:
    options: dict[str, Any] = {"taxonomy": dict(found.entries)}
    name = "Edit the taxonomy"
    if found.names:
        options["rename"] = dict(found.names)
        old, new = next(iter(found.names.items()))
        one = f"Rename {old} to {new}" if new else f"Remove the tag {old}"
        name = one if len(found.names) == 1 else f"Change {format.counted(len(found.names), 'tag')}"
    return job_bar.starting(partial(library.jobs.start, "tags", affected, name=name, options=options))


def unfit_words(library: Library) -> None:
    """Both lists with the number of coins that are flagged, and a form for those who may change them."""
    st.header("Unfit for the screen", anchor=False)
    coins = format.counted(library.count(Filter(unfit="yes")), "coin")
    st.page_link(**places.all_coins("unfit:yes"), label=f"{coins} flagged")
    st.caption(
        "A coin is flagged for nudity in its picture, or for a word of the list in its name, ticker, "
        "description or picture. Safe mode blurs the pictures of flagged coins."
    )
    words = library.unfit.words()
    if not library.can_write:
        st.text(f"Added: {', '.join(words.added) or 'none'}\nRemoved: {', '.join(words.removed) or 'none'}")
        return

    def save(values: Mapping[str, Any]) -> str:
        lists = {name: str(values.get(name) or "").splitlines() for name in ("added", "removed")}
        library.unfit.edit_words(**lists)
        return f"Saved. {format.counted(library.count(Filter(unfit='yes')), 'coin')} flagged now."

    forms.show(
        "unfit-words",
        library,
        save,
        fields=[
            Field(
                "added",
                "Words that flag as well",
                "text",
                "\n".join(words.added),
                help="One word or phrase a line.",
            ),
            Field("removed", "Words of the shipped list that do not count", "text", "\n".join(words.removed)),
        ],
        button=Button("Save", icon="save", kind="primary"),
    )
