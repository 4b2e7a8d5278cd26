"""Tags of what was chosen in a grid: a dialog to add and remove them, with suggestions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from components import jobs, state, wording
from components.decisions import carry_out
from components.grid import Entry, Handler
from components.grid.ledger import AT_ONCE
from store import tagging
from store.errors import MemedexError
from store.library import Library
from store.records import MAX_TAG

_ADD, _REMOVE = "memedex.tags.add", "memedex.tags.remove"
_LOOKED_AT = 500  # coins whose tags are counted for what can be removed


def open_for(addresses: Sequence[str]) -> None:
    """Have the page's dialog ask about these on its next run."""
    st.session_state[state.DIALOG] = addresses
    for key in (_ADD, _REMOVE):
        st.session_state.pop(key, None)


def _open(entry: Entry) -> None:
    open_for(entry.addresses)


WAYS: Mapping[str, Handler] = {"tags": _open}


def dialog(library: Library) -> None:
    """The dialog, when somebody asked for it; call it after the grid."""
    if st.session_state.get(state.DIALOG) and library.can_write:
        st.dialog("Tags", on_dismiss=_close)(_draw)(library, st.session_state[state.DIALOG])


def _draw(library: Library, addresses: Sequence[str]) -> None:
    if not state.has_dialog():  # a button here has just closed it
        st.rerun()
    st.caption(_about(library, addresses))
    known = tagging.known(library)
    added = st.multiselect(
        "Add", known, key=_ADD, accept_new_options=True, placeholder="choose or type a tag",
        help="The most used first, then what the taxonomy knows. A new one is simply typed.",
    )  # fmt: skip
    for tag in added:
        _hint(library, tag, known)
    removable = _tags_of(library, addresses)
    removed = st.multiselect(
        "Remove", list(removable), key=_REMOVE, disabled=not removable,
        format_func=lambda tag: f"{tag} · {removable.get(tag, 0):,}", placeholder="tags they have",
    )  # fmt: skip
    wrong = [tag for tag in added if "," in tag or len(tag.strip()) > MAX_TAG]
    if wrong:
        st.caption(f":orange[A tag has at most {MAX_TAG} signs and no comma.]")
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button("Cancel", key="memedex.tags.cancel", on_click=_close)
        st.button(
            "Apply", key="memedex.tags.apply", type="primary", disabled=not (added or removed) or bool(wrong),
            on_click=_apply, args=(library, addresses),
        )  # fmt: skip


def _apply(library: Library, addresses: Sequence[str]) -> None:
    add = [tag.strip() for tag in st.session_state.get(_ADD, [])]
    remove = list(st.session_state.get(_REMOVE, []))
    _close()
    if len(addresses) > AT_ONCE:
        name = f"Tag {len(addresses):,} coins"
        jobs.start(library.jobs, "tags", addresses, name=name, options={"add": add, "remove": remove})
        return
    decide = partial(library.edit_tags, addresses, add=add, remove=remove)
    carry_out(decide, said="Tagged", icon=":material/label:")


def _close() -> None:
    st.session_state.pop(state.DIALOG, None)


def _about(library: Library, addresses: Sequence[str]) -> str:
    if len(addresses) > 1:
        return wording.counted(len(addresses), "coin")
    try:
        return wording.plain(library.get(addresses[0]).name)
    except MemedexError as error:
        return wording.plain(str(error))


def _hint(library: Library, tag: str, known: Sequence[str]) -> None:
    """What category it will bring, and for a new one whether another was meant."""
    words = [f"{wording.plain(tag)} belongs to {wording.plain(library.taxonomy.category(tag))}"]
    if tag not in known and (near := tagging.alike(tag, known)):
        words.append(f"did you mean {', '.join(wording.plain(other) for other in near)}?")
    st.caption(" · ".join(words))


def _tags_of(library: Library, addresses: Sequence[str]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for address in addresses[:_LOOKED_AT]:
        try:
            counts.update(library.get(address).tags)
        except MemedexError:  # gone since
            continue
    return dict(counts.most_common())
