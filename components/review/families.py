"""The family of a coin, a ticker or a name: who was first, and how each other came from it."""

import json
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from components.grid.actions import KEEP, verbs
from components.grid.cards import Mark
from components.grid.grid import show_cards, tools_place
from components.review.verbs import ELSEWHERE
from components.shell import format
from components.shell.page import address, places
from components.shell.page.streamlit_style import BAR
from components.shell.session import presenter
from store import Library, MemedexError, Record
from store.rules import families

ASKED = "family"  # the field, and its parameter in the address
KEY = "relatives"  # of the cards


def show(library: Library, *, lead: Callable[[], object]) -> None:
    """The tree of what the field asks for, with the verbs of all coins; `lead` begins its row."""
    with st.container(key=BAR, horizontal=True, vertical_alignment="center", gap="small"):
        lead()
        asked = st.text_input(
            "Family of", **address.kept(ASKED), icon=":material/family_history:", width=420,
            placeholder="an address, a ticker or a name", label_visibility="collapsed",
        )  # fmt: skip
        place = st.container(width="content")
        tools_place()
    asked = presenter.revealed((asked or "").strip())
    if not asked:
        _invite(library)
        return
    try:
        found = families.family(library, asked)
    except MemedexError as error:
        st.info(f"{format.capital(format.plain(str(error), limit=200))}.", icon=":material/search_off:")
        return
    with place, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if found.folded:
            link = places.address(places.all_coins(f"family:{found.first.address}"))
            st.markdown(f"[All {found.count:,}]({link})", width="content")
        st.download_button(
            "Download", json.dumps(families.table(found), ensure_ascii=False, indent=2), "family.json",
            "application/json", icon=":material/download:", type="tertiary", on_click="ignore",
            help="The tree as JSON",
        )  # fmt: skip
    tree = found.tree
    there = {one.address: one for one in library.records([branch.member.address for branch in tree])}
    tree = [branch for branch in tree if branch.member.address in there]
    members = {branch.member.address: branch.member for branch in tree}

    def mark(record: Record) -> Mark:
        one = members[record.address]
        said = f"{families.day(one.created_at)} · {one.standing}"
        more = found.folded.get(one.address, 0)
        return {"label": f"{said} · {more:,} more below" if more else said, "tone": record.tier}

    hidden = sum(found.folded.values())
    show_cards(
        KEY, library, [there[branch.member.address] for branch in tree],
        actions=[KEEP, *(replace(one, leaves=False) for one in verbs())] if len(tree) > 1 else verbs(),
        handlers=ELSEWHERE, mark=mark, order=f"family {asked}", branches=tree,
        counted=f"{format.counted(found.count, 'coin')}, {hidden:,} of them below others" if hidden else "",
    )  # fmt: skip


def _invite(library: Library) -> None:
    """What the empty field is for, and the families that were copied most."""
    examples = families.most_copied(library, most=6)
    said = "Who was first, and what was copied how: name a coin"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"{said}, or see what was copied most:" if examples else f"{said}.", width="content")
        for first, count in examples:
            st.button(
                f"{format.plain(first.name, limit=40)} · {format.counted(count, 'coin')}",
                key=f"family-{first.address}", on_click=_put, args=(first.address,),
            )  # fmt: skip


def _put(address: str) -> None:
    st.session_state[ASKED] = address
