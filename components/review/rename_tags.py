"""Every tag with its number of coins, and renaming tags everywhere."""

from functools import partial
from pathlib import Path

import streamlit as st

from components.grid import assets
from components.shell import format, javascript
from components.shell.page import forms, job_bar, tables
from components.shell.page.forms import Button
from components.shell.session import session
from store import Filter, Job, Library
from store.records import MAX_TAG
from store.tasks import tags

_HERE = Path(__file__).resolve().parent
_picker = st.components.v2.component(
    "memedex.tag-picker",
    html='<div class="memedex-tag-picker"></div>\n',
    css=(_HERE / "tag_picker.css").read_text("utf-8") + assets.style("tags"),
    js=javascript.component(_HERE / "js" / "tag_picker.js"),
)
_ROUND, _NAME = "memedex.rename.round", "memedex.rename.to"  # each rename begins with an empty field
_IS_DONE = "memedex.rename.done"
_SHOWN = 1_000


def show(library: Library) -> None:
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
        "rename-tags", library, job_bar.starting(partial(_start, library, chosen, name)),
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


def _start(library: Library, chosen: list[str], name: str, *, decision: str) -> Job:
    names = tags.checked_names(dict.fromkeys(chosen, name))
    entries = tags.entries_after(library.taxonomy, names)
    return library.jobs.start(
        "tags",
        tags.carrying(library, names),
        name=f"Rename {', '.join(names)} to {name}",
        options={"rename": names, "taxonomy": entries},
        decision=decision,
    )
