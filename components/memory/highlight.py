"""Texts of the memory as HTML: escaped, with the question's words marked."""

import re
from html import escape

_WORD = re.compile(r"\w+")
_IDLE_WORDS = (
    "a an the of in on at to for and or is are was were be do does did it this that what which who when "
    "where how why with from by as i we you he she they my our has have"
)
_IDLE = frozenset(_IDLE_WORDS.split())
_SIGHT = 260  # characters that a card shows at least
_STEM = 4  # letters from which endings do not matter

STYLE = """<style>
.mdx-text{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.9rem;line-height:1.45;margin:0}
.mdx-text mark{background:color-mix(in srgb,var(--st-primary-color,#6d72f6) 32%,transparent);
  color:inherit;border-radius:3px;padding:0 1px}
.mdx-around{opacity:.75;font-size:.82rem;white-space:pre-wrap;overflow-wrap:anywhere;margin:0}
.mdx-head{display:flex;gap:.5rem;align-items:baseline;font-size:.8rem;margin-bottom:.3rem}
.mdx-head b{flex:none;font-variant-numeric:tabular-nums;font-size:.95rem}
.mdx-head span{opacity:.65;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.mdx-head .why{margin-left:auto;opacity:.9;flex:none;max-width:65%}
[class*=st-key-card-] a[href*="entry="]{background:none;padding:.1rem}
[class*=st-key-card-] a[href*="entry="]:hover{background:color-mix(in srgb,currentColor 12%,transparent)}
[class*=st-key-card-] a[href*="entry="] p{position:absolute;width:1px;height:1px;overflow:hidden;
  clip-path:inset(50%)}
.mdx-bar{height:3px;border-radius:2px;background:color-mix(in srgb,currentColor 12%,transparent);
  margin-bottom:.45rem}
.mdx-bar i{display:block;height:100%;border-radius:2px;background:var(--st-primary-color,#6d72f6)}
.mdx-miss{opacity:.8}
.mdx-miss .mdx-bar i{background:currentColor}
.mdx-cut{display:-webkit-box;-webkit-line-clamp:7;-webkit-box-orient:vertical;overflow:hidden}
.mdx-miss .mdx-cut{-webkit-line-clamp:3}
</style>"""


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
