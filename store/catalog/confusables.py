"""Names and tickers that look or read like another coin's.

    spelling                          a name and ticker normalised, to be compared
    store_spelling, delete_spelling   keep the rows by which records are compared in step with the records
    compared_names                    where two names differ, and which characters only imitate others

Which characters look alike is Unicode's list (TS #39), with a few more.
"""

import re
import sqlite3
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

SCHEME = "names v1"  # a new scheme recomputes every spelling

# A digit for a letter, as people write it. No two digits for the same letter: 6 and 9 stay two numbers.
_FOLDS = str.maketrans("012345789$€£¥@|i", "olzeastbgselyall")
# Written in Latin letters otherwise than confusables have it, or not decomposed by Unicode.
_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ħ": "h", "ł": "l", "ı": "i"})
_PLACES = {1, *range(200, 241)}  # combining classes: through the letter, and around it
_DIGITS_AMONG_LETTERS = re.compile(r"(?<=[a-z])\d+(?=[a-z])")
_REPEATED = re.compile(r"([a-z])\1+")


@dataclass(frozen=True, slots=True)
class Spelling:
    """A name and ticker normalised: equal texts read the same, equal skeletons look the same."""

    name: str
    name_skeleton: str
    ticker: str
    ticker_skeleton: str


def spelling(name: str, ticker: str) -> Spelling:
    """Normalise a coin's name and ticker for comparison; "" matches nothing."""
    plain_name, plain_ticker = plain(name), plain(ticker.strip().lstrip("$"))
    # m00n is moon before repeated letters become one; at the end of a name, 1 and 11 stay two numbers.
    word = _DIGITS_AMONG_LETTERS.sub(lambda found: found[0].translate(_FOLDS), _latin(plain_name))
    once = _REPEATED.sub(r"\1", word)
    return Spelling(
        plain_name, _folded(once) or plain_name, plain_ticker, _folded(_latin(plain_ticker)) or plain_ticker
    )


def read_as(character: str) -> str:
    """The plain letters that a character resembles; "" for an invisible one."""
    return _latin(plain(character)).translate(_FOLDS)


def plain(text: str) -> str:
    """Normalise case, width, form (NFKC) and spaces, and remove invisible characters."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(character for character in text if not _is_unseen(character)).split())


def _latin(text: str) -> str:
    """Replace what looks like a Latin letter by that letter, and remove accents."""
    looks = _looks()
    latin = "".join(looks.get(character, character) for character in text.translate(_LETTERS))
    letters = (character for character in unicodedata.normalize("NFKD", latin) if not _is_accent(character))
    return "".join(letters).casefold()


def _folded(text: str) -> str:
    """Replace digits by the letters they resemble, and drop separators; "" if no letter or digit is left."""
    characters = (
        character for character in text.translate(_FOLDS) if unicodedata.category(character)[0] in "LNM"
    )
    return "".join(characters).replace("rn", "m")


def _is_unseen(character: str) -> bool:
    if character.isspace():
        return False
    is_variation = "\ufe00" <= character <= "\ufe0f"
    return is_variation or _is_accent(character) or unicodedata.category(character) in ("Cf", "Cc")


def _is_accent(character: str) -> bool:
    """Whether a combining character is above, below or through a letter; Indic vowels have other classes."""
    return unicodedata.combining(character) in _PLACES


@cache
def _looks() -> dict[str, str]:
    """Non-ASCII characters and the ASCII letters or digits that they resemble (Unicode TS #39)."""
    from confusable_homoglyphs.confusables import confusables_data

    found: dict[str, str] = {}
    for character, others in confusables_data.items():
        if len(character) == 1 and not character.isascii():
            alike = [other["c"] for other in others if other["c"].isascii() and other["c"].isalnum()]
            if alike:
                found[character] = min(alike, key=lambda text: (len(text), text.lower(), text))
    # Casefolding comes first and turns capitals into small letters that look like something else.
    for character, like in list(found.items()):
        small = character.casefold()
        if len(small) == 1 and small not in found and not small.isascii():
            found[small] = like
    return found


_SHARING = (  # records compared with one's former spelling
    "SELECT s.record FROM spellings s WHERE s.image_hash = :image_hash",
    "SELECT s.record FROM lookalikes l JOIN spellings s ON s.image_hash = l.other "
    "WHERE l.picture = :image_hash",
    "SELECT s.record FROM spellings s WHERE s.name_skeleton = :name_skeleton AND :name <> ''",
    "SELECT s.record FROM spellings s WHERE s.ticker_skeleton = :ticker_skeleton AND :ticker <> ''",
)


def store_spelling(db: sqlite3.Connection, number: int, *, name: str, ticker: str, image_hash: str) -> None:
    """Store what the record with this row number is compared by; a changed one is examined later."""
    spelt = spelling(name, ticker)
    new = (number, image_hash, spelt.name, spelt.name_skeleton, spelt.ticker, spelt.ticker_skeleton)
    old = db.execute("SELECT * FROM spellings WHERE record = ?", [number]).fetchone()
    if old and tuple(old) == new:
        return
    if old:
        delete_spelling(db, number)
    db.execute("INSERT INTO spellings VALUES (?, ?, ?, ?, ?, ?)", new)
    db.execute("INSERT OR IGNORE INTO unexamined VALUES (?)", [number])


def delete_spelling(db: sqlite3.Connection, number: int) -> None:
    """Remove the record's rows; records that looked like it are examined again."""
    old = db.execute("SELECT * FROM spellings WHERE record = ?", [number]).fetchone()
    if old is None:
        return
    for sharing in _SHARING:
        db.execute(f"INSERT OR IGNORE INTO unexamined {sharing}", dict(old))
    for table in ("spellings", "suspicions", "unexamined"):
        db.execute(f"DELETE FROM {table} WHERE record = ?", [number])


_UNSEEN = "▯"  # shown for an invisible character


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a name as it is shown."""

    text: str
    differs: bool = False  # from the other name
    note: str = ""  # of a sign in disguise: what it is, and what it is taken for


def compared_names(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Both names in pieces; case is ignored."""
    matcher = SequenceMatcher(None, _folded_signs(one), _folded_signs(other), autojunk=False)
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
        return Piece(_UNSEEN, True, f"{_sign_name(sign)}, invisible")
    # A digit imitates a letter where the other name has that letter; a letter of another script always does.
    in_disguise = reads_the_same and not sign.isalpha() if sign.isascii() else True
    if not in_disguise or not like.strip() or like == sign.casefold():
        return Piece(sign, True)
    return Piece(sign, True, f"{_sign_name(sign)}, read as {like}")


def _folded_signs(text: str) -> list[str]:
    return [sign.casefold() for sign in text]


def _sign_name(sign: str) -> str:
    return unicodedata.name(sign, f"U+{ord(sign):04X}").lower()
