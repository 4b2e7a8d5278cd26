"""Texts, and names in zips, in encodings that nothing states."""

from pathlib import Path

import pytest

from store.importing.encodings import read, spoken
from tests.store.importing.files import import_folder, png


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        *((name, "gbk") for name in ("狗狗币.png", "新建文件夹/图片.png", "狗coin.png", "一只狗", "小狗")),
        *((name, "cp932") for name in ("犬コイン.png", "写真フォルダ/犬.png", "犬coin.png")),
        *((name, "cp437") for name in ("café crème.png", "Lösung für Äpfel.png", "Grüße.png")),
        ("青蛙幣圖片.png", "big5"),
        ("개구리 코인.png", "cp949"),
        ("Монета.png", "cp866"),
        ("Лягушка.png", "cp1251"),
        ("Собака", "cp1251"),
        ("币 🐸.png", "utf-8"),
        ("śnieg.png", "cp852"),
        *(("żółw.png\nłódź.png\nmrówka.png", page) for page in ("cp852", "cp1250")),
        *(("kočka.png\nžába.png\nželva.png", page) for page in ("cp852", "cp1250")),
        *(("πεταλούδα.png", page) for page in ("cp737", "cp1253")),
        *(("kurbağa.png\nyeşil köpek.png", page) for page in ("cp857", "cp1254")),
        *(("cão.png\ncoração/maçã.png", page) for page in ("cp850", "cp1252")),
        *((name, "cp1252") for name in ("café crème.png", "Lösung für Äpfel.png", "Grüße.png")),
        *(("צפרדע.png", page) for page in ("cp862", "cp1255")),
        *(("كلب أخضر كبير.png", page) for page in ("cp720", "cp1256")),
        ("แมวสีเขียว.png", "cp874"),
    ],
)
def test_a_name_is_read_in_the_code_page_that_people_write_it_in(name: str, encoding: str) -> None:
    raw = name.encode(encoding)
    assert raw.decode(spoken(raw, are_names=True)) == name


@pytest.mark.parametrize(
    ("text", "encoding", "title"),
    [
        ("狗狗币", "gbk", "GBK"),
        ("file_name,text\n1.png,一只绿色的青蛙\n", "gbk", "GBK"),
        ("緑のカエル", "cp932", "Shift-JIS"),
        ("柴犬", "cp932", "Shift-JIS"),
        ("緑のカエルがテーブルに", "euc-jp", "EUC-JP"),
        ("青蛙,綠色,月亮", "big5", "Big5"),
        ("개구리가 책상 위에 앉아 있다", "cp949", "EUC-KR"),
        ("лягушка, зелёная", "cp1251", "Windows-1251"),
        ("лягушка", "koi8-r", "KOI8-R"),
        ("une grenouille à la plage, un cœur", "cp1252", "Windows-1252"),
        ("żaba na liściu", "cp1250", "Windows-1250"),
        ("Bär, grün, Käse, Schlagwörter", "cp1252", "Windows-1252"),
        ("yeşil kurbağa", "cp1254", "Windows-1254"),
        ("βάτραχος", "cp1253", "Windows-1253"),
        ("a frog, é", "utf-16", "UTF-16"),
        ("a frog, é", "utf-8-sig", ""),
    ],
)
def test_a_text_is_read_in_the_encoding_that_its_letters_speak_for(
    text: str, encoding: str, title: str
) -> None:
    assert read(text.encode(encoding)) == (text, title)


def test_the_encoding_of_a_caption_is_said_with_its_coin(tmp_path: Path) -> None:
    files = {
        "a.png": png(),
        "a.txt": "一只青蛙坐在桌子上。".encode("gbk"),
        "b.png": png("blue"),
        "b.txt": b"\0\1\2\xff\xfe\0\xd8",
    }
    coins, refused = import_folder(tmp_path, files)
    assert not refused
    assert coins[0].sidecar["caption"] == {"entity": "一只青蛙坐在桌子上。"}
    assert coins[0].remarks == ("“a.txt” is read as GBK, since it is not UTF-8",)
    assert "“b.txt” is left out" in coins[1].remarks[0]
