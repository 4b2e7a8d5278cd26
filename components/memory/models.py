"""Which model embeds each kind of the text memory, and how to change it."""

from collections.abc import Callable

import streamlit as st

from components.memory.kinds import KINDS, counted
from components.overview import model_choice
from components.shell import format
from components.shell.page import job_bar
from components.shell.page.forms import Button
from components.shell.session import resources
from store import Memory, Progress
from store.memory.values import LOCAL, OFFLINE_TEXT, memory_settings

_KNOWN = (OFFLINE_TEXT, LOCAL, "litellm:text-embedding-ada-002")


def show(memory: Memory) -> None:
    """A kind, another model for it, and a button.

    The old vectors are used until the new ones are complete.
    """
    with st.expander("Change a model", icon=":material/model_training:"):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            kind = st.selectbox(
                "Kind", list(KINDS), key="memory-model-kind", format_func=lambda name: KINDS[name].label
            )
            entries = memory.entries(kind)
            names = dict.fromkeys((*_KNOWN, memory_settings().embedder_of(kind)))
            names.pop(entries.model, None)
            name = (
                st.selectbox("Change to", list(names), key="memory-model-name", accept_new_options=True) or ""
            )
            why_not = model_choice.missing(name, offered=names)
            is_locked = bool(why_not) or name == entries.model or job_bar.is_busy(resources.jobs())
            job_bar.button(
                "memory-model", resources.library(), f"Embed {KINDS[kind].label.lower()} with {name}",
                _work(memory, kind, name), after_run=True,
                button=Button("Embed them with it", icon="model_training", disabled=is_locked),
            )  # fmt: skip
        if why_not:
            st.caption(f"Not available here: {format.plain(why_not, limit=400)}")
        else:
            st.caption(
                f"{counted(kind, entries.count())} by {format.plain(entries.model)} now. New vectors wait "
                "alongside the old ones until all are there; interrupted, it goes on the next time."
            )


def _work(memory: Memory, kind: str, name: str) -> Callable[[Progress], bool]:
    def embed(progress: Progress) -> bool:
        progress.what, progress.total = "embedding", memory.entries(kind).count()
        return memory.reembed([kind], name, progress=progress)

    return embed
