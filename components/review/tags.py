"""Tags everywhere: renamed, merged, their categories, and the words that make a coin unfit for the screen."""

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import streamlit as st

from components.grid import assets
from components.shell import format, javascript
from components.shell.page import forms, job_bar, places, tables
from components.shell.page.forms import Button, Field
from components.shell.session import session
from store import Filter, Job, Library, MemedexError, Taxonomy
from store.records import MAX_TAG
from store.tasks import tags

_NAMED = 6  # changes that are named; of more, how many
_ASSETS = Path(__file__).resolve().parent
_picker = st.components.v2.component(
    "memedex.tag-picker",
    html='<div class="memedex-tag-picker"></div>\n',
    css=(_ASSETS / "tag_picker.css").read_text("utf-8") + assets.style("tags"),
    js=javascript.component(_ASSETS / "js" / "tag_picker.js"),
)
_ROUND, _NAME = "memedex.rename.round", "memedex.rename.to"  # each rename begins with an empty field
_IS_DONE = "memedex.rename.done"
_SHOWN = 1_000


def taxonomy_editor(library: Library) -> None:
    """The taxonomy, with an editor for those who may change the library."""
    st.header("Taxonomy", anchor=False)
    try:
        taxonomy = library.taxonomy
    except MemedexError as error:
        st.error("The taxonomy cannot be read. Mend the file, or put a copy back:", icon=":material/error:")
        st.text(str(error))
        return
    st.caption("Each tag’s category comes from this table. Unknown tags belong to `other`.")
    rows = [{"tag": tag, "category": category} for tag, category in taxonomy.entries.items()]
    if not library.can_write:
        tables.show(rows, height=420, alt="Known tags and their categories")
        return
    version = sha256(repr(rows).encode()).hexdigest()[:12]  # saved or undone, the table is reset
    edited = st.data_editor(
        rows,
        key=f"memedex.taxonomy.{version}",
        num_rows="dynamic",
        hide_index=True,
        height=420,
        column_config={
            "tag": st.column_config.TextColumn("tag", required=True, max_chars=64),
            "category": st.column_config.TextColumn("category", required=True, max_chars=64),
        },
    )
    _save(library, taxonomy, _entries(edited))
    _behind(library, taxonomy)


def _entries(edited: list[dict[str, Any]]) -> dict[str, str]:
    pairs = [(str(row.get("tag") or "").strip(), str(row.get("category") or "").strip()) for row in edited]
    return {tag.casefold(): category for tag, category in pairs if tag or category}


def _save(library: Library, taxonomy: Taxonomy, entries: Mapping[str, str]) -> None:
    """The differences, and how many coins get other categories by them."""
    before, summary, fault = taxonomy.entries, "Nothing is changed yet.", ""
    affected: list[str] = []
    if entries != before:
        try:
            after = Taxonomy.parsed(entries, path=library.layout.own_taxonomy)
        except MemedexError as error:
            fault = str(error)
        else:
            affected = tags.straying(library, after)
            coins = format.counted(len(affected), "coin")
            summary = f"{_difference(before, entries)} · {coins} get other categories"
    st.caption(f":orange[{format.plain(fault, limit=200)}]" if fault else summary)
    is_valid = entries != before and not fault
    forms.show(
        "save-taxonomy", library, _start(library, entries, affected),
        button=Button("Save taxonomy", icon="save", kind="primary", disabled=not is_valid),
    )  # fmt: skip


def _difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    changes = [f"+ {tag}: {category}" for tag, category in after.items() if tag not in before]
    changes += [
        f"{tag}: {before[tag]} → {category}"
        for tag, category in after.items()
        if before.get(tag, category) != category
    ]
    changes += [f"− {tag}" for tag in before if tag not in after]
    named = ", ".join(format.plain(change) for change in changes[:_NAMED])
    return named if len(changes) <= _NAMED else f"{named} and {len(changes) - _NAMED:,} more"


def _behind(library: Library, taxonomy: Taxonomy) -> None:
    """Coins whose categories are outdated, after an edit by hand or one that was stopped."""
    behind = tags.straying(library, taxonomy)
    if behind and not library.jobs.keys_under_way("tags"):
        st.warning(
            f"{format.counted(len(behind), 'coin')} have outdated categories.",
            icon=":material/sync_problem:",
        )
        forms.show(
            "follow-taxonomy", library, _start(library, taxonomy.entries, behind),
            button=Button("Update categories"),
        )  # fmt: skip


def _start(library: Library, entries: Mapping[str, str], affected: list[str]) -> forms.Send:
    options = {"taxonomy": dict(entries)}
    start = partial(library.jobs.start, "tags", affected, name="Edit the taxonomy", options=options)
    return job_bar.starting(start)


def renaming(library: Library) -> None:
    """Rename or merge, and the list of tags."""
    counts = library.tag_counts(Filter())
    if library.can_write and counts:
        st.header("Rename or merge", anchor=False)
        _rename(library, counts)
    st.header("In use", anchor=False)
    if not counts:
        st.caption("No coin has a tag yet. Tags, above any grid, gives its coins some.")
        return
    rows = [
        {"tag": tag, "coins": count, "category": library.taxonomy.category(tag)}
        for tag, count in list(counts.items())[:_SHOWN]
    ]
    tables.show(
        rows, height=420, alt="Tags, how many coins have each, and its category",
        columns={
            "coins": st.column_config.ProgressColumn(
                format="localized", min_value=0, max_value=max(counts.values()), color="primary"
            )
        },
    )  # fmt: skip


def _rename(library: Library, counts: dict[str, int]) -> None:
    if st.session_state.pop(_IS_DONE, False):
        st.session_state[_ROUND] += 1
        st.session_state[_NAME] = ""
    chosen = _pick(library, counts)
    name = " ".join(
        (
            st.text_input("Their new name", key=_NAME, max_chars=MAX_TAG, live=True, persist_state="session")
            or ""
        ).split()
    )
    affected = tags.carrying(library, [tag for tag in chosen if tag != name])
    st.caption(_preview(library, chosen, name, len(affected), counts))
    label = f"Rename on {format.counted(len(affected), 'coin')}" if affected and name else "Rename"
    if forms.show(
        "rename-tags", library, job_bar.starting(partial(_start_renaming, library, chosen, name)),
        button=Button(label, kind="primary", disabled=not (affected and name)),
    ):  # fmt: skip
        st.session_state[_IS_DONE] = True  # the next one begins with empty fields
        st.rerun()


def _pick(library: Library, counts: dict[str, int]) -> list[str]:
    """The selected tags that are in use; none before a selection."""
    key = f"memedex.rename.tags.{st.session_state.setdefault(_ROUND, 0)}"
    sent = session.sent(key).get("tags")
    chosen = [tag for tag in sent if isinstance(tag, str) and tag in counts] if isinstance(sent, list) else []
    known = [(tag, library.taxonomy.category(tag), count) for tag, count in counts.items()]
    st.caption("Tags")
    _picker(
        key=key,
        data={"known": known, "chosen": chosen, "longest": MAX_TAG},
        on_tags_change=lambda: None,
    )
    return chosen


def _preview(library: Library, chosen: list[str], name: str, affected: int, counts: dict[str, int]) -> str:
    if not (chosen and name):
        return "In all tiers, rejected coins included; one undo reverses it."
    old = ", ".join(f"**{format.plain(tag)}**" for tag in chosen)
    lines = [
        f"{old} → **{format.plain(name)}**",
        f"{format.counted(affected, 'coin')} in all tiers, rejected coins included",
    ]
    if name in counts and name not in chosen:
        lines.append(f"{format.plain(name)} is in use on {counts[name]:,}: merged with it")
    elif near := tags.alike(name, counts):
        lines.append(f"much like {', '.join(format.plain(tag) for tag in near)}")
    entries = tags.entries_after(library.taxonomy, dict.fromkeys(chosen, name))
    lines.append(f"category {format.plain(entries.get(name.casefold(), 'other'))}")
    return " · ".join(lines)


def _start_renaming(library: Library, chosen: list[str], name: str, *, decision: str) -> Job:
    names = tags.checked_names(dict.fromkeys(chosen, name))
    entries = tags.entries_after(library.taxonomy, names)
    return library.jobs.start(
        "tags",
        tags.carrying(library, names),
        name=f"Rename {', '.join(names)} to {name}",
        options={"rename": names, "taxonomy": entries},
        decision=decision,
    )


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
