"""The encodings of texts and of names in zips: stated by a mark, or told by what people write in them.

    read     the text of a file, and its encoding if that is not UTF-8
    named    the entries of a zip with their names
    spoken   the encoding in which a text is most likely something that people write

Without the flag for UTF-8, a zip's names are in a code page of DOS or Windows. Of the encodings that fit the
bytes, the one counts whose letters are the most likely in a language of the table. All names of an archive
are looked at together.
"""

import codecs
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice, pairwise
from math import log
from operator import itemgetter
from typing import NamedTuple
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
    "cp932": "Shift-JIS", "euc_jp": "EUC-JP", "cp949": "EUC-KR", "gb2312": "GBK", "gb18030": "GBK",
    "big5": "Big5", "koi8_r": "KOI8-R", "utf-16": "UTF-16", "utf-32": "UTF-32",
}  # fmt: skip
_IS_UTF8 = 0x800  # the flag of an entry
_PARTS = re.compile(rb"[\s,;\"'./]+")
_JUDGED = 200_000  # bytes of a text, …
_WORDS = 2_000  # … and of its words that are not ASCII


class _Language(NamedTuple):
    """Letters beyond ASCII, the frequent ones first, and their share of all that is written in them."""

    letters: str
    share: float
    dos: str  # encodings in which only names of files are
    others: str
    rarity: float = 0.0  # as a logarithm: of two readings that are equally likely, the other one counts


_LANGUAGES = (
    *(_Language(letters, share, "cp850", "cp1252", rarity) for letters, share, rarity in (
        ("éèàêçâîôûùëïœü", .035, -3), ("üäößé", .023, -3), ("óíáñéúü", .028, -3), ("ãçéáóêíõúâôàü", .04, -3),
        ("àèòçéíóúüï", .025, -3), ("àèùìòé", .012, -3), ("ëïéèöü", .01, -3), ("äåöéøæšž", .04, -3),
        ("øåæéöä", .03, -3), ("ðáíþóæöéúý", .09, 4),
    )),
    _Language("łęąóśżćńź", .07, "cp852", "cp1250"),
    _Language("íáěéýčžšřůúňťďóľôäĺŕ", .11, "cp852", "cp1250"),
    _Language("áéöóőüíúű", .11, "cp852", "cp1250"),
    _Language("čšžćđ", .03, "cp852", "cp1250"),
    _Language("ăşîâţ", .05, "cp852", "cp1250"),
    _Language("ıüşçğöİâîû", .11, "cp857", "cp1254"),
    _Language("āīšēėųūžčņķļģąįę", .08, "cp775", "cp1257", 1),
    _Language("äõöü", .05, "cp775", "cp1257", 1),
    _Language("αοιετνσρκςπυλμηωγάίδόχέθβφξήζύώψϊϋ", 1, "cp737 cp869", "cp1253"),
    _Language("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", 1, "cp866", "cp1251 koi8_r"),
    _Language("оанивіетрсклудмпзявьбгийчшхщцжґєїюф", 1, "cp866", "cp1251"),
    _Language("יוהלארתבשמנםקפדחטעןגזצסךכףץ", 1, "cp862", "cp1255"),
    _Language("اليمنرتوبةدعسفهكحقجشصطخضغثذزئءأإآؤى", 1, "cp720", "cp1256"),
    _Language("านรอกเงมย่ลวดท้สต์ะปบคไหจแพ็ชขใโผซศธษณฐภฟถญฉฝฎฏๆ๊๋ึำืิีัูุ", 1, "", "cp874", 3),
)  # fmt: skip
_SIGNS = "“”„‘’‚–—…•€°·«»©®™§´×½¡¿ºª\u00a0"
_NEVER, _FOREIGN, _CAPITAL, _JUMP = log(1e-7), log(3e-5), 2.0, 4.0
_MIXED, _MIXED_HAN = 7.0, 1.0  # two scripts in one word, which is usual in Chinese and Japanese alone
# Of Chinese and Japanese signs: the encoding in whose first byte the frequent ones come first, where these
# end, how likely one of them is, and one of the others. Chinese names are the most frequent of all.
_HAN = {
    "gb2312": ("gb2312", 0xD8, 3e-4, 3e-6),
    "gb18030": ("gb2312", 0xD8, 3e-4, 3e-6),
    "big5": ("big5", 0xC9, 1.5e-4, 4e-7),
    "cp932": ("euc_jp", 0xD0, 8e-5, 1.5e-6),
    "euc_jp": ("euc_jp", 0xD0, 8e-5, 1.5e-6),
    "cp949": ("cp949", 0, 0, 1e-6),
}
_HAN_SIGNS = "（）【】《》，。、！？：；“”·—・「」"
# Of Hangul syllables (Unicode 3.12): vowels of one in fifty at most, and what nearly all end in.
_RARE_VOWELS = frozenset((3, 7, 9, 10, 11, 14, 15, 16, 19))
_FINALS = frozenset((0, 1, 4, 8, 16, 17, 19, 20, 21))


def read(content: bytes) -> tuple[str, str]:
    """The text of a file, and the name of its encoding; "" for UTF-8. Raises BadSource if it is no text."""
    marked = next((name for mark, name in _MARKS if content.startswith(mark)), "")
    # Without a mark, zero bytes among the first four give UTF-16 and UTF-32 away.
    encoding = marked or json.detect_encoding(content[:4])
    try:
        return content.decode(encoding), _title(encoding)
    except UnicodeDecodeError as error:
        for guess in () if marked or b"\0" in content else (spoken(content), "gb18030", "cp1252"):
            try:
                return content.decode(guess), _title(guess)
            except UnicodeDecodeError:
                continue
        raise BadSource("it is not text in an encoding that is known; save it as “UTF-8”") from error


def _title(encoding: str) -> str:
    plain = re.sub("-[lb]e$", "", encoding)
    return "" if plain.startswith("utf-8") else _TITLES.get(plain, re.sub("^cp(?=125)", "Windows-", plain))


def named(entries: Iterable[ZipInfo]) -> Iterator[tuple[ZipInfo, str]]:
    """Each entry with its name."""
    entries = list(entries)
    unsaid = [one.filename.encode("cp437") for one in entries if not one.flag_bits & _IS_UTF8]
    encoding = spoken(b"\n".join(raw for raw in unsaid if not raw.isascii()), are_names=True)
    for one in entries:
        is_said = bool(one.flag_bits & _IS_UTF8)
        try:
            yield one, one.filename if is_said else one.filename.encode("cp437").decode(encoding)
        except UnicodeDecodeError:
            yield one, one.filename


def spoken(content: bytes, *, are_names: bool = False) -> str:
    """The encoding that the letters of a text, or of names of files, one a line, speak for."""
    parts = (part for part in _PARTS.split(content[:_JUDGED]) if not part.isascii())
    words = b"\n".join(islice(parts, _WORDS))
    if are_names and _decoded(words, "utf_8"):
        return "utf_8"
    readings = [
        *(
            (_western(text, language), encoding)
            for language in _LANGUAGES
            for encoding in [*(language.dos.split() if are_names else ()), *language.others.split()]
            if (text := _decoded(words, encoding))
        ),
        *((_eastern(text, one), one) for one in _HAN if (text := _decoded(words, one))),
    ]
    best = max(readings, key=itemgetter(0), default=(0.0, "cp437"))[1]
    return "cp1252" if _decoded(words, best) == _decoded(words, "cp1252") else best


def _decoded(words: bytes, encoding: str) -> str:
    """The text; "" if the bytes are none in this encoding."""
    try:
        return words.decode(encoding)
    except UnicodeDecodeError:
        return ""


def _western(text: str, language: _Language) -> float:
    """How likely a language of letters is to be written so, as a logarithm."""
    likely = _letters(language)
    is_latin = language.share < 1
    ascii_letters = sum(map(str.isalpha, filter(str.isascii, text))) if is_latin else 0
    return (
        sum(likely.get(sign, _NEVER) for sign in text if not sign.isascii())
        + ascii_letters * log(1 - language.share * is_latin)
        - _odd_pairs(text, mixed=0 if is_latin else _MIXED)
        - language.rarity
    )


@cache
def _letters(language: _Language) -> dict[str, float]:
    """How likely each letter is, as a logarithm: by its place in the row, half as much for a capital …"""
    others = "".join(one.letters for one in _LANGUAGES if one.others == language.others)
    found = dict.fromkeys(_SIGNS + others + others.upper(), _FOREIGN)
    weights = [(place + 2) ** -1.3 for place in range(len(language.letters))]
    for letter, weight in zip(language.letters, weights, strict=True):
        likely = max(log(language.share * weight / sum(weights)), _FOREIGN)
        found |= {letter.upper(): likely - _CAPITAL, letter: likely}
    return found


def _eastern(text: str, encoding: str) -> float:
    """How likely Chinese, Japanese or Korean is to be written so, as a logarithm."""
    signs = sum(log(_east(sign, encoding)) for sign in text if not sign.isascii())
    return signs - _odd_pairs(text, mixed=_MIXED_HAN)


def _east(sign: str, encoding: str) -> float:
    by, end, frequent, rare = _HAN[encoding]
    if sign in _HAN_SIGNS or (by == "euc_jp" and "\u3041" <= sign <= "\u30fe"):
        return 4e-3
    place = ord(sign) - 0xAC00
    if encoding == "cp949" and 0 <= place < 11_172:
        is_common = place // 28 % 21 not in _RARE_VOWELS and place % 28 in _FINALS
        return 7e-4 if is_common else 2e-5
    lead = sign.encode(by, "replace")[0]
    return frequent if "\u4e00" <= sign <= "\u9fff" and 0x80 <= lead < end else rare if lead >= 0x80 else 1e-7


def _odd_pairs(text: str, *, mixed: float) -> float:
    """What letters next to each other cost that are hardly so: a capital in a word, two scripts in one."""
    cost = 0.0
    for one, other in pairwise(text):
        if (one + other).isascii() or not (_is_letter(one) and _is_letter(other)):
            continue
        cost += _JUMP * (one.islower() and other.isupper())
        cost += mixed * (one.isascii() != other.isascii())
    return cost


def _is_letter(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LM"  # vowels of Thai are marks
