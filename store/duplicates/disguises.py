"""Where two names differ, and which of their characters only imitate others."""

import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher

from store.catalog.confusables import plain, read_as

_UNSEEN = "▯"  # stands where there is a sign that shows nothing


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a name as it is shown."""

    text: str
    differs: bool = False  # from the other name
    note: str = ""  # of a sign in disguise: what it is, and what it is taken for


def compared(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Both names in pieces; case is ignored."""
    matcher = SequenceMatcher(None, _folded(one), _folded(other), autojunk=False)
    mine, theirs = [], []
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            mine.append(Piece(one[i:j]))
            theirs.append(Piece(other[k:m]))
        else:
            same = "".join(map(read_as, one[i:j])) == "".join(map(read_as, other[k:m]))
            mine += [_piece(sign, reads_the_same=same) for sign in one[i:j]]
            theirs += [_piece(sign, reads_the_same=same) for sign in other[k:m]]
    return mine, theirs


def _piece(sign: str, *, reads_the_same: bool) -> Piece:
    like = read_as(sign)
    if not plain(sign) and not sign.isspace():
        return Piece(_UNSEEN, True, f"{_name(sign)}, which nobody sees")
    # A digit stands for a letter where the other name has that letter; a letter of another script always.
    in_disguise = reads_the_same and not sign.isalpha() if sign.isascii() else True
    if not in_disguise or not like.strip() or like == sign.casefold():
        return Piece(sign, True)
    return Piece(sign, True, f"{_name(sign)}, read as {like}")


def _folded(text: str) -> list[str]:
    return [sign.casefold() for sign in text]


def _name(sign: str) -> str:
    return unicodedata.name(sign, f"U+{ord(sign):04X}").lower()
