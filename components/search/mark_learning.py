"""Learning from marks, at a click: a button, then its result, taken or dismissed."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from components.shell import format
from store.evaluation import marks

T = TypeVar("T")


def is_open(key: str, *, about: str, label: str, icon: str, tip: str) -> bool:
    """Whether the person asked to learn about this; the button to ask, if not."""
    if st.session_state.get(key) == about:
        return True
    st.button(label, icon=icon, type="tertiary", help=tip, on_click=_ask, args=(key, about))
    return False


def once(key: str, about: object, compute: Callable[[], T]) -> T:
    """What the last run of this session found if it was about the same: it takes a second."""
    before, known = st.session_state.get(f"{key}.found", (None, None))
    if before == about:
        return known  # type: ignore[no-any-return]  # only this function writes there
    with st.spinner("Learning from marks …"):
        found = compute()
    st.session_state[f"{key}.found"] = about, found
    return found


def describe(gain: marks.Gain) -> str:
    """The gain in one sentence without its end: "34 marks: nDCG 0.77 → 0.83 …"."""
    return (
        f"{format.counted(gain.marks, 'mark')}: nDCG {gain.before:.2f} → {gain.after:.2f}, "
        f"leave-one-out, gain ± {gain.error:.2f}"
    )


def refused(key: str, reason: str) -> None:
    """Why nothing can be learned."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"{reason[0].upper()}{reason[1:]}.", width="stretch")
        dismiss(key)


def dismiss(key: str) -> None:
    """The button that closes the offer."""
    st.button("Dismiss", key=f"{key}.dismiss", on_click=close, args=(key,))


def close(key: str) -> None:
    """Close the offer, in a callback."""
    _ask(key, None)


def _ask(key: str, about: str | None) -> None:
    st.session_state[key] = about
