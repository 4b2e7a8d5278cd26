"""The names of a zip's entries, also those whose encoding no entry states.

Without the flag for UTF-8, a name is meant to be in code page 437, as DOS had it; Windows and macOS write the
code page of their own language. All such names of an archive are looked at together: one is taken if they are
what people write in it, and code page 437 where none is.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from zipfile import ZipInfo

_IS_UTF8 = 0x800  # the flag of an entry
_MOST = 0.9  # of the letters
_SHARE = 0.5  # of all letters: where these have others, code page 437 has accented ones
_ENDING = re.compile(rb"\.\w{1,5}$", re.MULTILINE)
# Of Hangul syllables (Unicode 3.12): vowels of one in fifty at most, and what nearly all end in.
_RARE_VOWELS = frozenset((3, 7, 9, 10, 11, 14, 15, 16, 19))
_FINALS = frozenset((0, 1, 4, 8, 16, 17, 19, 20, 21))


def named(entries: Iterable[ZipInfo]) -> Iterator[tuple[ZipInfo, str]]:
    """Each entry with its name."""
    entries = list(entries)
    unsaid = [one.filename.encode("cp437") for one in entries if not one.flag_bits & _IS_UTF8]
    encoding = code_page(b"\n".join(raw for raw in unsaid if not raw.isascii()))
    for one in entries:
        is_said = bool(one.flag_bits & _IS_UTF8)
        try:
            yield one, one.filename if is_said else one.filename.encode("cp437").decode(encoding)
        except UnicodeDecodeError:
            yield one, one.filename


def code_page(names: bytes) -> str:
    """The code page of these names, one in each line."""
    names = _ENDING.sub(b"", names)
    for encoding, fits in _PAGES:
        try:
            text = names.decode(encoding)
        except UnicodeDecodeError:
            continue
        letters = [sign for sign in text if not sign.isascii()]
        if fits in (_is_cyrillic, _is_han) and len(letters) < _SHARE * sum(map(str.isalpha, text)):
            continue
        if letters and sum(map(fits, letters)) >= _MOST * len(letters):
            return encoding
        if encoding == "cp932" and any(map(_is_kana, letters)):
            return encoding
    return "cp437"


def _is_kana(sign: str) -> bool:
    return "\u3041" <= sign <= "\u30fe"


def _is_common_hangul(sign: str) -> bool:
    place = ord(sign) - 0xAC00
    return 0 <= place < 11_172 and place // 28 % 21 not in _RARE_VOWELS and place % 28 in _FINALS


def _is_cyrillic(sign: str) -> bool:
    return "\u0400" <= sign <= "\u045f"


def _is_han(sign: str) -> bool:
    return "\u4e00" <= sign <= "\u9fff" or sign in "（）【】《》，。、！？：；“”·—"


_PAGES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("utf_8", lambda _: True),
    ("cp932", _is_kana),
    ("cp866", _is_cyrillic),
    ("cp949", _is_common_hangul),
    ("gb2312", _is_han),
    ("cp1251", _is_cyrillic),
    ("big5", _is_han),
    ("gb18030", _is_han),
    ("cp932", _is_han),
)
