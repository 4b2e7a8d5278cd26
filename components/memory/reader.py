"""The entries of a kind as text to read: a session as a conversation, a paper in the order of its pages."""

import re
from collections.abc import Iterable, Sequence
from html import escape

import streamlit as st

from components.memory import entry_link
from components.memory.kinds import TYPES, place_of, text_of
from components.memory.markup import highlight
from store.memory.values import ReadMessage, Row, pages_of

_LONGEST = 20_000  # characters of one entry; its drawer has all of it
_LINE = 80  # characters of what is folded
_EXCHANGE = re.compile(r"User: (.*?)\nAI: (.*)", re.DOTALL)
_WRAPPED = re.compile(r"(?<=\S)\n(?=[a-z])")  # a sentence that goes on in the next line of its file
_GROUPS = {"world_lore": "world_id", "session_memory": "session_id", "documents": "source",
           "transcript_vectors": "session_id"}  # fmt: skip
_SPEAKERS = {"user_query": "user", "assistant_response": "model"}  # the rest of a transcript is folded


def show(kind: str, rows: Sequence[Row], *, words: str) -> None:
    """These entries in their order, these words marked; each opens by the link above it."""
    parts, group = [], ""
    for row in rows:
        if (own := str(row.get(_GROUPS.get(kind, ""), ""))) != group:
            parts.append(f"<h2>{escape(own)}</h2>")
            group = own
        parts += _entry(kind, row, words)
    st.html(f'<div class="mdx-read">{"".join(parts)}</div>')


def conversation(messages: Sequence[ReadMessage], *, title: str) -> None:
    """One session as a person reads it: what was said, and folded between it what tools and thoughts say."""
    parts = [f"<h2>{escape(title)}</h2>"]
    for message in messages:
        at = f" · {message.ts[:16].replace('T', ' ')}" if message.ts else ""
        at += f" · {message.model}" if message.model else ""
        for number, (kind, text) in enumerate(message.parts):
            label = escape(f"{TYPES.get(kind, kind)}{'' if number else at}")
            shown = escape(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …")
            if speaker := _SPEAKERS.get(kind):
                parts.append(_said(speaker, label, shown))
            else:
                line = escape(" ".join(text[:_LINE].split()))
                parts.append(
                    f'<div class="mdx-aside"><details><summary>{label} · {line}</summary>'
                    f'<p class="mdx-text">{shown}</p></details></div>'
                )
    st.html(f'<div class="mdx-read">{"".join(parts)}</div>')


def _entry(kind: str, row: Row, words: str) -> Iterable[str]:
    text = text_of(kind, row)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
    if kind == "session_memory" and (said := _EXCHANGE.fullmatch(text)):
        yield _said("user", _link(kind, row, "User"), highlight(said[1], words))
        yield _said("model", "AI", highlight(said[2], words))
    elif kind == "transcript_vectors":
        number = f" · {row['chunk_index'] + 1} of {row['total_chunks']}" if row["total_chunks"] > 1 else ""
        said_as = str(row["content_type"])
        link = _link(kind, row, TYPES.get(said_as, said_as) + number)
        if speaker := _SPEAKERS.get(said_as):
            yield _said(speaker, link, highlight(text, words))
        else:
            is_open = " open" if words else ""
            body = f'<summary>show</summary><p class="mdx-text">{highlight(text, words)}</p>'
            yield f'<div class="mdx-aside">{link}<details{is_open}>{body}</details></div>'
    else:
        text = _WRAPPED.sub(" ", text)
        yield _said("text", _link(kind, row, _label(kind, row)), highlight(text, words))


def _label(kind: str, row: Row) -> str:
    """The part of its place that the heading above an entry does not say."""
    if kind == "documents":
        return " · ".join(filter(None, [pages_of(row), row["section"]]))
    return str(row["lore_id"]) if kind == "world_lore" else place_of(kind, row)


def _link(kind: str, row: Row, label: str) -> str:
    address = escape(entry_link.address(kind, row["id"]))
    return f'<a class="memedex-link" target="_self" href="{address}" title="Open">{escape(label)}</a>'


def _said(speaker: str, label: str, text: str) -> str:
    return f'<div class="mdx-{speaker}"><small>{label}</small><p class="mdx-text">{text}</p></div>'
