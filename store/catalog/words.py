"""The words of records and texts: which records a query's words belong to, other spellings, emoji, languages.

    word_shares    relevance of records to a query's words: BM25 over name, ticker, description, captions,
                   tags and the text in the picture
    corrections    for misspelt words, from the words of the library itself
    in_words       emoji replaced by their Unicode names, because text models ignore 🐸 and captions do not
                   contain it
    written_in     the language of a coin's name, description and captions, as far as their letters tell
    script_of      the language of a text that is not in Latin letters
    words_in       those of a question's words that a text has
    cjk_pairs      the words of Chinese, Japanese and Korean text, which has no spaces between them

A record's share is its BM25 divided by that of the library's best record, so between 0 and 1; a word also
counts in its singular and plural. Only the best `MOST` records have a share, all others 0. Words of nearly
every record distinguish none and would be slow to rank, so they are left out.

Latin letters serve many languages, so those texts are one group: those without letters of any other.
"""

import json
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

_FIRST = 0x2190  # below are © and ™, which belong to names


def in_words(text: str) -> str:
    """The text with every emoji replaced by its name: "frog" for 🐸; unless nothing else would be left."""
    if text.isascii():
        return text
    words = " ".join("".join(map(_spoken, text)).split())
    return words or text


def _spoken(character: str) -> str:
    if character in "\u200d\ufe0e\ufe0f\u20e3":  # what joins emoji, and how they are drawn
        return ""
    if ord(character) < _FIRST or unicodedata.category(character) not in ("So", "Sk"):
        return character
    if "\U0001f3fb" <= character <= "\U0001f3ff":  # the colour of a skin
        return ""
    name = unicodedata.name(character, "").lower().removesuffix(" face").removesuffix(" symbol")
    if name.startswith("regional indicator symbol letter "):  # two of them are a flag
        return name[-1]
    return f" {name} "


MOST = 1_000  # records with a share: few enough to be among the candidates with any weights
_WEIGHTS = (
    "10, 10, 1, 1, 5, 1"  # name, ticker, description, captions, tags, picture; measured on the golden queries
)
_WORDS = 16  # of a question that are looked for
_FEW = 2_000  # records that may always have a word …
_MANY = 20_000  # … and that may never: ranking them takes 50 ms
_FUNCTION_WORDS = """
    a about above all also am an and any are as at be because been being below between both but by can could
    did do does doing down during each few for from further had has have having he her here hers him his how
    i if in into is it its just me more most my no nor not of off on once only or other our out over own same
    she should so some such than that the their them then there these they this those through to too under
    until up very was we were what when where which while who whom why will with would you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True, slots=True, eq=False)
class WordShares:
    """The word shares of the library's records for one query."""

    shares: Mapping[str, float]  # by address, 0 to 1, best first
    words: tuple[str, ...] = ()  # the words that were looked for


NO_WORDS = WordShares({})


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that carry its meaning, lower-cased, each once."""
    found = dict.fromkeys(re.findall(r"\w+", in_words(text).lower()))
    return tuple(word for word in found if word not in FUNCTION_WORDS)[:_WORDS]


def forms(word: str) -> list[str]:
    """Singular and plural of an English word (Harman 1991, S-stemmer, and its inverse)."""
    base = word
    if len(word) > 4 and word.endswith("ies"):
        base = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us")):
        base = word[:-1]
    plurals = [base + "s", base + "es"] + ([base[:-1] + "ies"] if base.endswith("y") else [])
    return list(dict.fromkeys([word, base, *plurals]))


def question_words(question: str) -> tuple[str, ...]:
    """The telling words of a question; of Chinese, Japanese and Korean the pairs of neighbouring signs."""
    return (*telling_words(question), *cjk_pairs(question))


def telling_words(question: str) -> tuple[str, ...]:
    """Its content words between signs; all words if none tells more than another, as in "Who" or "May I"."""
    rest = without_cjk(question)
    every = dict.fromkeys(re.findall(r"\w+", rest.lower()))
    return content_words(rest) or (() if cjk_runs(question) else tuple(every)[:_WORDS])


def words_in(
    text: str, words: Sequence[str], *, variants: Callable[[str], Iterable[str]] = forms
) -> tuple[str, ...]:
    """Those of these words that a text has, with or without accents, in the singular or the plural.

    `variants` gives another choice of what counts as the same word.
    """
    has = set(re.findall(r"\w+", _plain(text)))
    return tuple(
        word
        for word in words
        if (not has.isdisjoint(alike) if (alike := _as_compared(word, variants)) else word in text)
    )


@lru_cache(maxsize=256)  # a question's words are looked for in hundreds of texts
def _as_compared(word: str, variants: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """The forms that count as this word; none for signs that may be anywhere in a run."""
    return frozenset() if cjk_runs(word) else frozenset(map(_plain, variants(word)))


def _plain(text: str) -> str:
    """A text in lower case without accents, as full text compares it."""
    whole = unicodedata.normalize("NFKD", text.lower())
    return whole if whole.isascii() else "".join(sign for sign in whole if not unicodedata.combining(sign))


_SIGNS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_RUN = re.compile(f"[{_SIGNS}々〆ー]+")
_BROKEN = re.compile(f"(?<=[{_SIGNS}、，])[ \t]*\n[ \t]*(?=[{_SIGNS}])")
_PAIRS = 24  # of a question that are looked for


def cjk_runs(text: str) -> list[str]:
    """The runs of Chinese, Japanese and Korean characters in a text."""
    return _RUN.findall(text)


def cjk_pairs(text: str) -> tuple[str, ...]:
    """Each run's pairs of neighbouring characters, each once; a run of one character as it is.

    Most of its words have two: an index of trigrams would miss them.
    """
    found = (run[at : at + 2] for run in cjk_runs(text) for at in range(max(1, len(run) - 1)))
    return tuple(dict.fromkeys(found))[:_PAIRS]


def without_cjk(text: str) -> str:
    """The rest of a text."""
    return _RUN.sub(" ", text)


def join_cjk_lines(text: str) -> str:
    """The text with lines joined where one ends within a sentence in these languages, without a space."""
    return _BROKEN.sub("", text)


def word_shares(db: sqlite3.Connection, text: str) -> WordShares:
    """The shares of the library's records for the words of a text."""
    words = content_words(text)
    (total,) = db.execute("SELECT count(*) FROM records").fetchone()
    most = min(max(_FEW, total // 10), _MANY)
    telling = {word: number for word in words if (number := records_with(db, forms(word))) <= most}
    if not telling:
        return WordShares({}, words)
    either = any_of(telling)
    rows = _best_records(db, either, ranked=2 * MOST)
    if len(rows) < MOST and sum(telling.values()) > 2 * MOST:
        rows = _best_records(db, either, ranked=-1)  # what is not in the library had the better places
    best = rows[0][1] if rows else 0.0
    return WordShares({address: score / best for address, score in rows}, words)


def _best_records(db: sqlite3.Connection, either: str, *, ranked: int) -> list[tuple[str, float]]:
    """The best library records with their BM25, among the first `ranked` of any tier; -1 ranks all."""
    first = best_rows("words", weights=_WEIGHTS)
    rows = db.execute(  # looking up each record would take longer than ranking all
        f"SELECT r.address, w.score FROM ({first}) w CROSS JOIN records r ON r.id = w.rowid "
        "WHERE r.tier = 'library' ORDER BY w.score DESC, r.address LIMIT ?",
        [either, ranked, MOST],
    )
    return [(row[0], row[1]) for row in rows]


def any_of(words: Iterable[str]) -> str:
    """An FTS5 query for texts that have one of these words, in the singular or the plural."""
    return " OR ".join(f'"{form}"' for word in words for form in forms(word))


def best_rows(index: str, *, weights: str = "1", among: str = "TRUE") -> str:
    """SQL: the rows of a full-text index that fit a query best, `rowid` and BM25 as `score`, best first.

    Its values are the query, those of `among`, and how many rows. Not by FTS5's own `rank`, which sorts all
    rows before the limit.
    """
    return (
        f"SELECT rowid, -bm25({index}, {weights}) AS score FROM {index} WHERE {index} MATCH ? AND {among} "
        "ORDER BY score DESC, rowid LIMIT ?"
    )


def records_with(db: sqlite3.Connection, terms: Iterable[str]) -> int:
    """An upper bound of the number of records, in any tier, that have one of these words."""
    found = (db.execute("SELECT doc FROM vocabulary WHERE term = ?", [term]).fetchone() for term in terms)
    return sum(row[0] for row in found if row)


_LONGEST = 40  # letters; a pasted word of thousands has gigabytes of near ones
_SHORTEST = 3  # letters; below, everything is near to everything
_FEW_LETTERS = 5  # up to which another letter mostly makes another word: "sport" is no slip for "short"
_LONG = 7  # letters from which two slips are likely
_TYPED = "abcdefghijklmnopqrstuvwxyz0123456789"


def corrections(db: sqlite3.Connection, text: str) -> dict[str, str]:
    """For each word that occurs in no record, the nearest word of the library, if one is near.

    Near means one edit (Damerau 1964: insertion, deletion, substitution, transposition), two for words of
    seven letters or more. The first letter must match or be transposed with the second. Substitution counts
    from six letters on. A word of more than 40 letters stays as it is.
    """
    found = {}
    for word in content_words(text):
        is_a_word = _SHORTEST <= len(word) <= _LONGEST and word.isalpha()
        if not is_a_word or records_with(db, forms(word)) or _begins(db, word):
            continue
        near = _nearest(db, word)
        if near:
            found[word] = near
    return found


def _begins(db: sqlite3.Connection, word: str) -> bool:
    """Whether the library has a word with this prefix: the person may still be typing."""
    row = db.execute(
        "SELECT 1 FROM vocabulary WHERE term >= ? AND term < ? LIMIT 1", [word, word + "\U0010ffff"]
    ).fetchone()
    return row is not None


def _nearest(db: sqlite3.Connection, word: str) -> str | None:
    rows = db.execute(
        "SELECT term FROM vocabulary WHERE term IN (SELECT value FROM json_each(?)) ORDER BY doc DESC, term",
        [json.dumps(sorted(set(_one_slip(word))))],
    ).fetchall()
    if not rows and len(word) >= _LONG:
        same_start = db.execute(
            "SELECT term FROM vocabulary WHERE term >= ? AND term < ? AND abs(length(term) - ?) <= 2 "
            "ORDER BY doc DESC, term",
            [word[:2], word[:2] + "\U0010ffff", len(word)],
        )
        rows = [row for row in same_start if distance(word, row[0]) <= 2]
    # Typing errors: exchanged letters first, then the most frequent word.
    by_exchange = [row[0] for row in rows if sorted(row[0]) == sorted(word)]
    candidates = [*by_exchange, *(row[0] for row in rows)]
    return next((term for term in candidates if len(term) >= _SHORTEST and _is_in_library(db, term)), None)


def _is_in_library(db: sqlite3.Connection, term: str) -> bool:
    row = db.execute(
        "SELECT 1 FROM words CROSS JOIN records r ON r.id = words.rowid "
        "WHERE words MATCH ? AND r.tier = 'library' LIMIT 1",
        [f'"{term}"'],
    ).fetchone()
    return row is not None


def _one_slip(word: str) -> Iterator[str]:
    first, rest = word[0], word[1:]
    yield word[1] + first + word[2:]
    for at in range(len(rest) + 1):
        head, tail = first + rest[:at], rest[at:]
        yield from (head + letter + tail for letter in _TYPED)
        if tail:
            yield head + tail[1:]
        if tail and len(word) > _FEW_LETTERS:
            yield from (head + letter + tail[1:] for letter in _TYPED)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


def distance(one: str, other: str) -> int:
    """The optimal string alignment distance of two words."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            best = min(rows[-1][j] + 1, row[j - 1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


_TEXT = "(name || char(10) || description || char(10) || caption)"
_NOT_ASCII = f"length(CAST({_TEXT} AS BLOB)) > length({_TEXT})"  # a tenth of the time of GLOB
_KANA = "ぁ-ヿ"
_SCRIPTS: Mapping[str, str] = {  # ranges of SQLite's GLOB
    "chinese": "㐀-䶿一-鿿", "japanese": _KANA, "korean": "가-힣", "cyrillic": "Ѐ-ӿ", "arabic": "؀-ۿ",
    "thai": "ก-๛", "hebrew": "א-ת", "greek": "Ͱ-Ͽ", "devanagari": "ऀ-ॿ",
}  # fmt: skip
LATIN = "latin"
LANGUAGES = (LATIN, *_SCRIPTS)  # the values of `language:`


def written_in(language: str) -> tuple[str, list[str]]:
    """A select of the records whose texts have letters of this language; of LATIN: of any other."""
    others = "".join(_SCRIPTS.values())
    letters, without = [_glob(_SCRIPTS.get(language, others))], ""
    if language == "chinese":  # Japanese is written with the same signs
        letters, without = [*letters, _glob(_KANA)], f" AND {_TEXT} NOT GLOB ?"
    return f"rowid FROM words WHERE {_NOT_ASCII} AND {_TEXT} GLOB ?{without}", letters


def _glob(letters: str) -> str:
    return f"*[{letters}]*"


_BY_SCRIPT = {  # the first word of a letter's name in Unicode → the language, or the script
    "CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean",
    "CYRILLIC": "Cyrillic script", "ARABIC": "Arabic script", "THAI": "Thai", "HEBREW": "Hebrew",
    "GREEK": "Greek", "DEVANAGARI": "Devanagari script",
}  # fmt: skip
_SHARE = 0.2  # of a text's letters that make it one of another language
_LETTERS = 2_000  # that are looked at


def script_of(text: str) -> str:
    """The language, or script, of a text that is not in Latin letters; "" of others."""
    if text.isascii():
        return ""
    letters = [letter for letter in text[: 2 * _LETTERS] if letter.isalpha()][:_LETTERS]
    found = Counter(
        language
        for letter in letters
        if letter > "\u036f" and (language := _BY_SCRIPT.get(unicodedata.name(letter, "").split(" ")[0]))
    )
    if not found or found.total() < _SHARE * len(letters):
        return ""
    return "Japanese" if found["Japanese"] > 0.1 * found.total() else found.most_common(1)[0][0]
