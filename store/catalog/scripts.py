"""The languages of a coin's name, description and captions, as far as their letters tell.

Latin letters serve many languages, so those texts are one group: those without letters of any other.
"""

from collections.abc import Mapping

_TEXT = "(SELECT name || char(10) || description || char(10) || caption FROM words WHERE rowid = r.id)"
_KANA = "ぁ-ヿ"
_LETTERS: Mapping[str, str] = {  # ranges of SQLite's GLOB
    "chinese": "㐀-䶿一-鿿", "japanese": _KANA, "korean": "가-힣", "cyrillic": "Ѐ-ӿ", "arabic": "؀-ۿ",
    "thai": "ก-๛", "hebrew": "א-ת", "greek": "Ͱ-Ͽ", "devanagari": "ऀ-ॿ",
}  # fmt: skip
LATIN = "latin"
LANGUAGES = (LATIN, *_LETTERS)  # the values of `language:`


def condition(language: str) -> tuple[str, list[str]]:
    """SQL for rows `r` of records whose texts have letters of this language, one of LANGUAGES."""
    if language == LATIN:
        return f"{_TEXT} NOT GLOB ?", [_glob("".join(_LETTERS.values()))]
    if language == "chinese":  # Japanese is written with the same signs
        return f"{_TEXT} GLOB ? AND {_TEXT} NOT GLOB ?", [_glob(_LETTERS[language]), _glob(_KANA)]
    return f"{_TEXT} GLOB ?", [_glob(_LETTERS[language])]


def _glob(letters: str) -> str:
    return f"*[{letters}]*"
