"""The terms that tell what a coin is about: its tags, and the words of its captions."""

import re

from store.records import Record

_WORD = re.compile(r"[^\W\d_]{3,}")
_EMPTY = frozenset(  # what drafting models say of any coin; English stop words come from scikit-learn
    {"meme", "memes", "coin", "coins", "token", "tokens", "crypto"}
    | {"picture", "image", "shows", "showing", "features", "depicts", "style"}
)


def terms_of(record: Record) -> dict[str, int]:
    """Each term once, with the number 1; case does not count."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # scikit-learn takes a second to import

    words = _WORD.findall(" ".join(record.caption.values()).casefold())
    found = dict.fromkeys(sorted(set(words) - ENGLISH_STOP_WORDS - _EMPTY), 1)
    return found | dict.fromkeys((tag.casefold() for tag in record.tags), 1)


def alike(one: str, other: str) -> bool:
    """Whether two terms are forms of one word, such as frog, frogs and frog king."""
    return one in other or other in one or (len(one) > 4 and one[:5] == other[:5])
