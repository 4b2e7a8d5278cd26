"""Waves above the cards of Review: many coins of one family that came together, settled by one button."""

from functools import partial
from itertools import islice

import streamlit as st

from components.shell import format
from components.shell.page import forms, job_bar, local_time, places, thumbnails
from components.shell.page.forms import Button
from components.shell.session import safe_mode
from store import Library, LruCache
from store.rules import waves

_SHOWN = 3
_found: LruCache[tuple[str, int], list[waves.Wave]] = LruCache(4)  # until coins were compared again


def show(library: Library) -> None:
    """A line for each of the largest waves, with the button that rejects its coins."""
    key = (library.id, library.derived)
    found = _found.get(key)
    if found is None:
        found = _found[key] = waves.find(library)
    left = (waves.still_waiting(library, wave) for wave in found)
    for wave in islice((wave for wave in left if len(wave.coins) >= waves.LEAST), _SHOWN):
        _line(library, wave)


def _line(library: Library, wave: waves.Wave) -> None:
    name = format.plain(safe_mode.shown_name(library, wave.of, wave.name), limit=40)
    since = local_time.text(wave.since, "%H:%M on %-d %b")
    key = f"wave-{wave.of}-{wave.since:.0f}"  # a family may have several
    with st.container(key=key, border=True, horizontal=True, vertical_alignment="center", gap="small"):
        thumbnails.row(library, wave.coins)
        st.markdown(f"**{len(wave.coins):,} coins like {name}** since {since}", width="content")
        st.space("stretch")
        look = places.waiting(f"family:{wave.of}")
        st.page_link(**look, label="Look, with exceptions", icon=":material/visibility:")
        if library.can_write:
            forms.show(
                key, library, job_bar.starting(partial(waves.settle, library, wave)),
                button=Button(f"Reject {len(wave.coins):,}", icon="block", kind="primary"),
            )  # fmt: skip
