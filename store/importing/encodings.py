"""The encodings of texts and of names in zips: stated by a mark, or told by what people write in them.

    read        the text of a file, and its encoding if that is not UTF-8
    named       the entries of a zip with their names
    code_page   the encoding of names, or of words, that people write in one language

Without the flag for UTF-8, a zip's names are meant to be in code page 437, as DOS had it; Windows and macOS
write the code page of their own language. All such names of an archive are looked at together. In texts,
Western letters stand alone between ASCII and those of other scripts stand in rows.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator
from zipfile import ZipInfo

from store.errors import BadSource

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TITLES = {
    "cp1252": "Windows-1252", "cp1250": "Windows-1250", "cp1251": "Windows-1251", "cp1254": "Windows-1254",
    "cp932": "Shift-JIS", "euc_jp": "EUC-JP", "cp949": "EUC-KR", "gb2312": "GBK", "gb18030": "GBK",
    "big5": "Big5", "koi8_r": "KOI8-R", "utf-16": "UTF-16", "utf-32": "UTF-32",
}  # fmt: skip
_IS_UTF8 = 0x800  # the flag of an entry
_MOST = 0.9  # of the letters
_MUCH = 0.75
_SHARE = 0.5  # of all letters: where these have others, code page 437 has accented ones
_ENDING = re.compile(rb"\.\w{1,5}$", re.MULTILINE)
_PARTS = re.compile(rb"[\s,;\"']+")
_SPACED = re.compile(rb"[\x80-\xff] [\x80-\xff]")
_HIGH = re.compile(rb"[\x80-\xff]+")
_JUDGED = 200_000  # bytes of a text
# Of Hangul syllables (Unicode 3.12): vowels of one in fifty at most, and what nearly all end in.
_RARE_VOWELS = frozenset((3, 7, 9, 10, 11, 14, 15, 16, 19))
_FINALS = frozenset((0, 1, 4, 8, 16, 17, 19, 20, 21))
_SIGNS = "“”„‘’‚–—…•€°·«»©®™§´×½\u00a0"
# Letters of languages that share an encoding; an encoding that gives others is not it.
_WESTERN = {
    "cp1252": "àâäáãåæçèéêëìíîïñòóôöõøùúûüÿßÀÂÄÁÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖÕØÙÚÛÜ¡¿ºª" + _SIGNS,
    "cp1254": "âçğıîöşüûÂÇĞİÎÖŞÜÛ" + _SIGNS,
    "cp1250": "ąćęłńóśźżáčďéěíňřšťúůýžäöüőűăâîşţĄĆĘŁŃÓŚŹŻÁČĎÉĚÍŇŘŠŤÚŮÝŽÄÖÜŐŰĂÂÎŞŢß" + _SIGNS,
}


def read(content: bytes) -> tuple[str, str]:
    """The text of a file, and the name of its encoding; "" for UTF-8. Raises BadSource if it is no text."""
    marked = next((name for mark, name in _MARKS if content.startswith(mark)), "")
    # Without a mark, zero bytes among the first four give UTF-16 and UTF-32 away.
    encoding = marked or json.detect_encoding(content[:4])
    try:
        return content.decode(encoding), _title(encoding)
    except UnicodeDecodeError as error:
        for guess in () if marked or b"\0" in content else (_spoken(content), "gb18030", "cp1252"):
            try:
                return content.decode(guess), _title(guess)
            except UnicodeDecodeError:
                continue
        raise BadSource("it is not text in an encoding that is known; save it as “UTF-8”") from error


def _title(encoding: str) -> str:
    plain = re.sub("-[lb]e$", "", encoding)
    return "" if plain.startswith("utf-8") else _TITLES.get(plain, plain)


def _spoken(content: bytes) -> str:
    """The encoding that the letters of a text speak for."""
    begin = content[:_JUDGED]
    rows = _HIGH.findall(begin)
    words = b"\n".join(part for part in _PARTS.split(begin) if not part.isascii())
    if 2 * sum(len(row) == 1 for row in rows) < len(rows):
        if _SPACED.search(begin) and _is_korean(words):  # Chinese has no spaces
            return "cp949"
        page = code_page(words, pages=_SPOKEN)
        if page != "cp437":
            return page
    elif (kana := code_page(words, pages=_SPOKEN[:1])) != "cp437":
        return kana
    for encoding, letters in _WESTERN.items():
        text = words.decode(encoding, "replace").replace("œu", "").replace("œi", "")
        if all(sign.isascii() or sign in letters for sign in text):
            return encoding
    from charset_normalizer import from_bytes

    best = from_bytes(begin).best()
    return best.encoding if best else "cp1252"


def named(entries: Iterable[ZipInfo]) -> Iterator[tuple[ZipInfo, str]]:
    """Each entry with its name."""
    entries = list(entries)
    unsaid = [one.filename.encode("cp437") for one in entries if not one.flag_bits & _IS_UTF8]
    encoding = code_page(_ENDING.sub(b"", b"\n".join(raw for raw in unsaid if not raw.isascii())))
    for one in entries:
        is_said = bool(one.flag_bits & _IS_UTF8)
        try:
            yield one, one.filename if is_said else one.filename.encode("cp437").decode(encoding)
        except UnicodeDecodeError:
            yield one, one.filename


_Pages = tuple[tuple[str, Callable[[str], bool]], ...]


def code_page(names: bytes, *, pages: _Pages = ()) -> str:
    """The code page of these names, one in each line; "cp437" where none is told."""
    for encoding, fits in pages or _PAGES:
        try:
            text = names.decode(encoding)
        except UnicodeDecodeError:
            continue
        letters = [sign for sign in text if not sign.isascii()]
        if fits in (_is_cyrillic, _is_han) and len(letters) < _SHARE * sum(map(str.isalpha, text)):
            continue
        if letters and sum(map(fits, letters)) >= _MOST * len(letters):
            return encoding
        if encoding in ("cp932", "euc_jp") and any(map(_is_kana, letters)):
            return encoding
    return "cp437"


def _is_kana(sign: str) -> bool:
    return "\u3041" <= sign <= "\u30fe"


def _is_common_hangul(sign: str) -> bool:
    place = ord(sign) - 0xAC00
    return 0 <= place < 11_172 and place // 28 % 21 not in _RARE_VOWELS and place % 28 in _FINALS


def _is_korean(words: bytes) -> bool:
    letters = [sign for sign in words.decode("cp949", "replace") if not sign.isascii()]
    return sum(map(_is_common_hangul, letters)) >= _MUCH * len(letters)


def _is_cyrillic(sign: str) -> bool:
    return "\u0400" <= sign <= "\u045f"


def _is_small_cyrillic(sign: str) -> bool:
    return "\u0430" <= sign <= "\u044f"


def _is_greek(sign: str) -> bool:
    return "\u0386" <= sign <= "\u03ce"


def _is_han(sign: str) -> bool:
    return "\u4e00" <= sign <= "\u9fff" or sign in "（）【】《》，。、！？：；“”·—"


def _is_plain_han(sign: str) -> bool:
    """Whether it is one of the 3,755 frequent ones of GB 2312, or a sign between them."""
    return _is_han(sign) and (sign < "\u4e00" or sign.encode("gb2312", "replace")[0] < 0xD8)


_PAGES: _Pages = (
    ("utf_8", lambda _: True),
    ("cp932", _is_kana),
    ("cp866", _is_cyrillic),
    ("cp949", _is_common_hangul),
    ("gb2312", _is_plain_han),
    ("cp1251", _is_cyrillic),
    ("gb2312", _is_han),
    ("big5", _is_han),
    ("gb18030", _is_han),
    ("cp932", _is_han),
)
_SPOKEN: _Pages = (
    ("cp932", _is_kana),
    ("euc_jp", _is_kana),
    ("cp949", _is_common_hangul),
    ("gb2312", _is_plain_han),
    ("cp1251", _is_small_cyrillic),
    ("koi8_r", _is_small_cyrillic),
    ("cp1253", _is_greek),
    ("cp932", _is_han),
    ("big5", _is_han),
    ("gb18030", _is_han),
)
