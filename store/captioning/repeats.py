"""Find texts that share most of their words, without comparing all pairs.

Prefix filtering (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007): with the words of each text
ordered from the rarest to the most frequent, two texts that share at least a part t of their words have one
in common among the first |x| - ⌈t·|x|⌉ + 1 of each.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from typing import TypeVar

ALIKE = 0.8  # of all the words of two texts, what both have (Jaccard)
# Protect from thousands of texts made from one template:
_TRIED = 60  # texts with the same rare word that are looked at
_COMPARED = 8  # texts one is compared with word by word

Key = TypeVar("Key", bound=Hashable)


def words(text: str) -> frozenset[str]:
    """The set of words of a text, lower-cased."""
    return frozenset(re.findall(r"\w+", text.casefold()))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard similarity of two sets of words, from 0 to 1."""
    return len(one & other) / len(one | other) if one and other else 0.0


def repeats(texts: Mapping[Key, frozenset[str]]) -> dict[Key, tuple[Key, float]]:
    """For each text that nearly repeats another: which one, and their similarity."""
    found: dict[Key, tuple[Key, float]] = {}
    same: dict[frozenset[str], list[Key]] = defaultdict(list)
    for key, own in texts.items():
        if own:
            same[own].append(key)
    for keys in same.values():
        for key, other in zip(keys, [*keys[1:], keys[0]], strict=True):
            if key != other:
                found[key] = (other, 1.0)
    frequency = Counter(word for own in same for word in own)
    holders: dict[str, list[frozenset[str]]] = defaultdict(list)
    for own in sorted(same, key=len):
        rarest = sorted(own, key=lambda word: (frequency[word], word))
        prefix = rarest[: len(own) - math.ceil(ALIKE * len(own)) + 1]
        if best := _best(own, prefix, holders):
            share, alike = best
            for this, that in ((own, alike), (alike, own)):
                for key in same[this]:
                    if found.get(key, (key, 0.0))[1] < share:
                        found[key] = (same[that][0], share)
        for word in prefix:
            holders[word].append(own)
    return found


def _best(
    own: frozenset[str], prefix: list[str], holders: Mapping[str, list[frozenset[str]]]
) -> tuple[float, frozenset[str]] | None:
    """The most similar text among those that share the most rare words."""
    shared = Counter(
        other
        for word in prefix
        for other in holders.get(word, ())[-_TRIED:]
        if len(other) >= ALIKE * len(own)  # those that come earlier are no longer
    )
    for other, _ in shared.most_common(_COMPARED):
        if (share := overlap(own, other)) >= ALIKE:
            return share, other
    return None
