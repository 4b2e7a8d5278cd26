"""Which languages a text model reads, as far as their writing tells."""

import unicodedata
from collections import Counter

from store.embedding.universal_sentence import NAME as MULTILINGUAL

_ENGLISH = ("sentence-transformers:all-MiniLM-L6-v2", "offline")
_BY_SCRIPT = {  # the first word of a letter's name in Unicode → the language, or the script
    "CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean",
    "CYRILLIC": "Cyrillic script", "ARABIC": "Arabic script", "THAI": "Thai", "HEBREW": "Hebrew",
    "GREEK": "Greek", "DEVANAGARI": "Devanagari script",
}  # fmt: skip
_READ = {  # by models that do not read English alone
    MULTILINGUAL: {"Chinese", "Japanese", "Korean", "Cyrillic script", "Arabic script", "Thai"},
}
_SHARE = 0.2  # of a text's letters that make it one of another language
_LETTERS = 2_000  # that are looked at


def unread_language(text: str, model: str) -> str:
    """The language of this text, if this model is known not to read it; "" otherwise.

    Nothing is known of models other than MiniLM, `offline` and the multilingual one.
    """
    known = set[str]() if model in _ENGLISH else _READ.get(model)
    if known is None or text.isascii():
        return ""
    letters = [letter for letter in text[: 2 * _LETTERS] if letter.isalpha()][:_LETTERS]
    found = Counter(
        language
        for letter in letters
        if letter > "\u036f" and (language := _BY_SCRIPT.get(unicodedata.name(letter, "").split(" ")[0]))
    )
    if not found or found.total() < _SHARE * len(letters):
        return ""
    language = "Japanese" if found["Japanese"] > 0.1 * found.total() else found.most_common(1)[0][0]
    return "" if language in known else language


def not_read(text: str, model: str) -> str:
    """The sentence that says so, with the remedy; "" where the model reads the text, as far as is known."""
    language = unread_language(text, model)
    remedy = "" if model == MULTILINGUAL or language not in _READ[MULTILINGUAL] else (
        f"; {MULTILINGUAL} does (python -m store memory model {MULTILINGUAL})"
    )  # fmt: skip
    name = model.rpartition(":")[2]
    return f"{name} does not read {language}: words are found, meaning is not{remedy}" if language else ""
