"""Entries as HTML: lists of them, and their texts, escaped, with the question's words marked."""

import re
from collections.abc import Iterable
from html import escape

import streamlit as st

from components.memory import entry_link
from components.memory.kinds import KINDS, place_of
from store.memory.values import Row

_WORD = re.compile(r"\w+")
_IDLE_WORDS = (
    "a an the of in on at to for and or is are was were be do does did it this that what which who when "
    "where how why with from by as i we you he she they my our has have"
)
_IDLE = frozenset(_IDLE_WORDS.split())
_SIGHT = 260  # characters that a card shows at least
_STEM = 4  # letters from which endings do not matter

STYLE = """<style>
.mdx-hits{display:grid;gap:.5rem}
.mdx-hits>*{padding:.1rem .75rem .35rem;border-left:3px solid color-mix(in srgb,currentColor 16%,transparent)}
.mdx-hits>.mdx-strong{padding:.6rem .75rem;border:1px solid color-mix(in srgb,currentColor 14%,transparent);
  border-left-width:3px;border-radius:8px}
.mdx-hits>.mdx-told{border-left-color:var(--st-primary-color,#6d72f6)}
.mdx-text{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.9rem;line-height:1.45;margin:0}
.mdx-text mark{background:color-mix(in srgb,var(--st-primary-color,#6d72f6) 32%,transparent);
  color:inherit;border-radius:3px;padding:0 1px}
.mdx-around{opacity:.75;font-size:.82rem;white-space:pre-wrap;overflow-wrap:anywhere;margin:0}
summary.mdx-around{width:fit-content;margin-top:.3rem;cursor:pointer}
.mdx-head{display:flex;flex-wrap:wrap;gap:.1rem .6rem;align-items:center;font-size:.82rem;margin-bottom:.2rem}
.mdx-place{flex:1 1 8rem;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.mdx-place a{color:inherit!important;text-decoration:none;opacity:.8}
.mdx-place a:hover{opacity:1;text-decoration:underline}
.mdx-head .why{margin-left:auto;opacity:.75}
.mdx-fit{display:inline-flex;align-items:center;gap:.4rem;white-space:nowrap}
.mdx-fit b{font-weight:600;font-variant-numeric:tabular-nums}
.mdx-bar{width:3rem;height:4px;border-radius:2px;background:color-mix(in srgb,currentColor 16%,transparent)}
.mdx-bar i{display:block;height:100%;border-radius:2px;background:var(--st-primary-color,#6d72f6)}
:is(.mdx-weak,.mdx-miss) .mdx-bar i{background:currentColor;opacity:.6}
:is(.mdx-weak,.mdx-miss) b{font-weight:400}
.mdx-miss{opacity:.8}
.mdx-cut{display:-webkit-box;-webkit-line-clamp:7;-webkit-box-orient:vertical;overflow:hidden}
:is(.mdx-weak,.mdx-miss) .mdx-cut{-webkit-line-clamp:2}
.mdx-sizes{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;font-size:.82rem;margin-bottom:.5rem}
.mdx-over b,p.mdx-over{color:light-dark(#a34a05,#f0a35a)}
p.mdx-over{font-size:.82rem;margin:0 0 .5rem}
.mdx-over .mdx-bar i{background:currentColor}
.mdx-prompt{padding:.75rem;border-radius:8px;background:var(--st-code-background-color,#8881);
  font:.82rem/1.5 var(--st-code-font,monospace);white-space:pre-wrap;overflow-wrap:anywhere}
.mdx-lit{color:inherit!important;text-decoration:none;border-radius:3px;
  background:color-mix(in srgb,var(--st-primary-color,#6d72f6) 20%,transparent)}
.mdx-lit:hover{background:color-mix(in srgb,var(--st-primary-color,#6d72f6) 36%,transparent)}
.mdx-read{display:grid;gap:.7rem;max-width:48rem}
.mdx-read h2{margin:.6rem 0 0;padding:0;font-size:1.05rem}
.mdx-read small a{color:inherit!important;text-decoration:none}
.mdx-read small a:hover{text-decoration:underline}
.mdx-read small{opacity:.75}
.mdx-read .mdx-text{font-size:1rem;line-height:1.55}
:is(.mdx-user,.mdx-model){max-width:85%;padding:.4rem .8rem .55rem;border-radius:12px}
.mdx-user{justify-self:end;background:color-mix(in srgb,var(--st-primary-color,#6d72f6) 16%,transparent)}
.mdx-model{justify-self:start;background:color-mix(in srgb,currentColor 7%,transparent)}
.mdx-aside{display:flex;flex-wrap:wrap;gap:.1rem .6rem;font-size:.82rem;opacity:.8}
.mdx-aside a{color:inherit!important;text-decoration:none}
.mdx-aside details{flex:1 1 10rem}
.mdx-aside .mdx-text{font:.82rem/1.5 var(--st-code-font,monospace)}
</style>"""


def listed(lines: Iterable[str]) -> bool:
    """Draw entries, each made by `line`, if there are any, and whether there are; the page has `STYLE`."""
    if text := "".join(lines):
        st.html(f'<div class="mdx-hits" role="list">{text}</div>')
    return bool(text)


def line(
    kind: str, row: Row, text: str, *, lead: str, question: str = "", note: str = "", look: str = "",
    more: str = "", is_entry: bool = True,
) -> str:  # fmt: skip
    """An entry with what is to say of it (`lead`, HTML), its place, which opens it, and `more` (HTML)."""
    place = escape(f"{KINDS[kind].label} · {place_of(kind, row)}")
    if is_entry:
        address = escape(entry_link.address(kind, row["id"]))
        place = f'<a class="memedex-link" target="_self" href="{address}" title="Open: {place}">{place}</a>'
    return (
        f'<div role="listitem" class="{look}"><div class="mdx-head">{lead}<span class="mdx-place">{place}'
        f'</span><span class="why">{note}</span></div>'
        f'<p class="mdx-text mdx-cut">{highlight(text, question)}</p>{more}</div>'
    )


def highlight(text: str, question: str) -> str:
    """The text as HTML with every word of the question marked, in all its forms."""
    stems = _stems(question)

    def mark(found: re.Match[str]) -> str:
        return f"\0{found[0]}\1" if _stem(found[0].lower()) in stems else found[0]

    cleaned = text.replace("\0", "").replace("\1", "")
    found = _WORD.sub(mark, cleaned) if stems else cleaned
    return escape(found).replace("\0", "<mark>").replace("\1", "</mark>")


def excerpt(text: str, question: str) -> str:
    """The text from the line or sentence that has most words of the question."""
    stems = _stems(question)
    places = [found.start() for found in _WORD.finditer(text) if _stem(found[0].lower()) in stems]
    best = max(places, key=lambda at: (sum(at <= other < at + _SIGHT for other in places), -at), default=0)
    if best < _SIGHT:
        return text
    start = max(text.rfind("\n", 0, best), text.rfind(". ", 0, best) + 1, best - _SIGHT)
    return f"… {text[start:].lstrip()}"


def _stems(question: str) -> set[str]:
    words = {found.lower() for found in _WORD.findall(question)}
    return {_stem(word) for word in words - _IDLE}


def _stem(word: str) -> str:
    """The part of a word that its forms share: "frogs", "frog"; "liquidated", "liquidation"."""
    for ending in ("ations", "ation", "ing", "ies", "ed", "es", "e", "s", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word
