"""Keeps what is being typed: each pause hands it to the server, and Ctrl-S saves.

A text area tells the server nothing before it loses the focus; a browser that ends before that would take the words
with it. Streamlit commits a text area on Ctrl-Enter, so that is what a pause sends.
"""

import streamlit as st

_PAUSE_MS = 900

_JS = (
    """
const PAUSE = %d;
const commit = (area) => area.dispatchEvent(
  new KeyboardEvent("keydown", { key: "Enter", code: "Enter", ctrlKey: true, bubbles: true, cancelable: true })
);

export default function ({ data, parentElement }) {
  const own = parentElement;
  own.memedex?.();
  const form = () => document.querySelector(`.st-key-${data.form}`);
  const isOurs = (area) => area instanceof HTMLTextAreaElement && form()?.contains(area);
  let timer = 0;

  const typed = (event) => {
    if (!isOurs(event.target)) return;
    clearTimeout(timer);
    timer = setTimeout(() => commit(event.target), PAUSE);
  };
  const pressed = (event) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey || !form()) return;
    event.preventDefault();  // the browser would offer to save the page
    event.stopImmediatePropagation();
    if (isOurs(document.activeElement)) commit(document.activeElement);
    clearTimeout(timer);
    setTimeout(() => document.querySelector(`.st-key-${data.save} button:not([disabled])`)?.click(), 0);
  };
  document.addEventListener("input", typed, true);
  document.addEventListener("keydown", pressed, true);
  own.memedex = () => {
    clearTimeout(timer);
    document.removeEventListener("input", typed, true);
    document.removeEventListener("keydown", pressed, true);
  };
  return own.memedex;
}
"""
    % _PAUSE_MS
)

_KEEPER = st.components.v2.component("memedex_keeper", js=_JS, html="<span hidden></span>")


def keep(*, form: str, save: str) -> None:
    """Watch the text areas in the container with the key `form`; Ctrl-S presses the button with the key `save`."""
    _KEEPER(data={"form": form, "save": save}, key=f"{form}-keeper", height=1)
